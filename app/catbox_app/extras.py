"""What a command needs beyond the core installation."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence


def require(command: str, packages: Sequence[str], extra: str) -> None:
    """Raise ``ValueError``, with what to install, unless all ``packages`` can be imported."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        # Here: `main` looks at the settings of Numba before it loads Numba.
        from catbox_env.core.versions import install_line

        raise ValueError(
            f"{command} needs {', '.join(missing)}, which this installation leaves out.\n{install_line(extra)}"
        )
