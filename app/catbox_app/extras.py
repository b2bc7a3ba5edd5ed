"""What a command needs beyond the core installation."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence


def require(command: str, packages: Sequence[str], extra: str) -> None:
    """Raise ``ValueError``, with what to install, unless all ``packages`` can be imported."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(
            f"{command} needs {', '.join(missing)}, which this installation leaves out.\n"
            f'Install the extra "{extra}":  pip install "catbox-env[{extra}]"'
        )
