"""Other libraries: what to install where one is missing, and which releases catbox was tested with."""

from __future__ import annotations

import importlib.util
import re
import warnings
from importlib import metadata

_warned: set[str] = set()


def install_line(*extras: str) -> str:
    """What to type for the ``extras`` of catbox: ``Install the extra "train":  pip install "catbox-env[train]"``."""
    listed = " and ".join(f'"{extra}"' for extra in extras)
    return (
        f'Install the extra{"s" * (len(extras) > 1)} {listed}:  pip install "catbox-env[{",".join(extras)}]"'
    )


def missing_extra(error: ModuleNotFoundError, user: str, *extras: str) -> ModuleNotFoundError:
    """As `missing_package`, for a package that ``extras`` install."""
    return missing_package(error, user, install_line(*extras))


def missing_package(error: ModuleNotFoundError, user: str, remedy: str) -> ModuleNotFoundError:
    """The error that says which package ``user`` needs, and what to do about it.

    Raises ``error`` itself where its package is installed, and one of its modules was not found.
    """
    package = (error.name or "").partition(".")[0]
    if not package or importlib.util.find_spec(package) is not None:
        raise error
    return ModuleNotFoundError(f"{user} needs {package}, which is not installed. {remedy}", name=package)


def warn_untested(package: str, low: str, below: str) -> None:
    """Warn, once in a process, if the installed release of ``package`` is not from ``low`` up to, not including,
    ``below``.

    Releases are compared by the numbers that they begin with: "2.10.0rc1" counts as 2.10.0. Nothing is said of a
    package that is not installed.
    """
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        return
    if package in _warned or _numbers(low) <= _numbers(found) < _numbers(below):
        return
    _warned.add(package)
    warnings.warn(
        f"{package} {found} is installed; catbox was tested with {package} from {low} up to, not including, {below}. "
        f"If something goes wrong, install one of these:  pip install '{package}>={low},<{below}'",
        stacklevel=2,
    )


def _numbers(release: str) -> tuple[int, ...]:
    """The numbers that ``release`` begins with, without zeros at the end: 2.9 and 2.9.0 are the same release."""
    found = re.match(r"\d+(?:\.\d+)*", release)
    numbers = [int(number) for number in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
