"""Files that a command writes: refused before anything is played, not after."""

from __future__ import annotations

import tempfile
from pathlib import Path


def check_writable(path: Path) -> None:
    """Raise ValueError unless a file can be written at ``path``; found out by beginning one beside it."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file in it")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write {path}: {error.strerror}; give a file in a folder that exists and is yours"
        ) from None


def check_new(path: Path | None) -> None:
    """Raise ValueError unless a file can be written at ``path`` and there is none yet; None: nothing is written."""
    if path is None:
        return
    if path.exists():
        raise ValueError(f"{path} is there already, and a game would take its place: give another name")
    check_writable(path)
