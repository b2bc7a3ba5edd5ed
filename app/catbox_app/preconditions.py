"""What a command checks before it starts: packages beyond the core installation, and files that it will write."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from pathlib import Path


def require(command: str, packages: Sequence[str], extra: str) -> None:
    """Raise ``ValueError``, with what to install, unless all ``packages`` can be imported."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        # Here, because `main` checks the settings of Numba before it loads Numba.
        from catbox_env.core.extras import install_line

        raise ValueError(
            f"{command} needs {', '.join(missing)}, which this installation leaves out.\n{install_line(extra)}"
        )


def check_writable(path: Path) -> None:
    """Raise ValueError unless a file can be written at ``path``, tested with a temporary file beside it."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file in it")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write {path}: {error.strerror}; give a file in an existing folder that you may write to"
        ) from None


def check_new(path: Path | None) -> None:
    """Raise ValueError unless a file can be written at ``path`` and there is none yet; None: nothing is written."""
    if path is None:
        return
    if path.exists():
        raise ValueError(f"{path} already exists, and a game would replace it: give another name")
    check_writable(path)
