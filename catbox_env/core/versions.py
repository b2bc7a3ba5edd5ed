"""Releases of other packages that catbox is tested with."""

from __future__ import annotations

import re
import warnings
from functools import cache
from importlib.metadata import version


@cache  # once in a process
def warn_untested(package: str, low: str, below: str) -> None:
    """Warn if the installed release of ``package`` is not one from ``low`` up to, but not including, ``below``."""
    found = version(package)
    if not _numbers(low) <= _numbers(found) < _numbers(below):
        warnings.warn(
            f"{package} {found}: catbox is tested with {package} >= {low}, < {below}; with other releases it may fail",
            stacklevel=2,
        )


def _numbers(release: str) -> list[int]:
    """The leading numbers of a release: ``[2, 0, 2]`` for ``"2.0.2rc1"``."""
    found = re.match(r"\d+(\.\d+)*", release)
    return [int(number) for number in found[0].split(".")] if found else []
