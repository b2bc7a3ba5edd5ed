"""Messages about missing libraries: what to install."""

from __future__ import annotations

import importlib.util


def install_line(*extras: str) -> str:
    """How to install ``extras`` of catbox: ``Install the extra "train":  pip install "catbox-env[train]"``."""
    listed = " and ".join(f'"{extra}"' for extra in extras)
    return (
        f'Install the extra{"s" * (len(extras) > 1)} {listed}:  pip install "catbox-env[{",".join(extras)}]"'
    )


def missing_extra(error: ModuleNotFoundError, user: str, *extras: str) -> ModuleNotFoundError:
    """Like `missing_package`, for a package that ``extras`` install."""
    return missing_package(error, user, install_line(*extras))


def missing_package(error: ModuleNotFoundError, user: str, remedy: str) -> ModuleNotFoundError:
    """The error that says which package ``user`` needs, and what to do about it.

    Raises ``error`` itself if the package is installed but lacks a module.
    """
    package = (error.name or "").partition(".")[0]
    if not package or importlib.util.find_spec(package) is not None:
        raise error
    return ModuleNotFoundError(f"{user} needs {package}, which is not installed. {remedy}", name=package)
