"""Other processes of Python."""

from __future__ import annotations

import sys


def python_command(program: str, *arguments: str) -> list[str]:
    """The command that runs ``program`` in a new interpreter, which imports what this one would.

    With -P, the working directory is no place to import from, unless it is one for this process.
    """
    path = [place for place in sys.path if isinstance(place, str)]  # as imports do
    return [sys.executable, "-P", "-c", f"import sys\nsys.path = {path}\n{program}", *arguments]
