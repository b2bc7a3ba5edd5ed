"""The command `catbox`, also `python -m catbox_train`."""

import importlib.util
import sys
from pathlib import Path

#: What the command needs beyond the core distribution: import name -> the extra that brings it.
NEEDED = {"typer": "train", "rich": "train", "yaml": "train", "matplotlib": "train", "torch": "agents"}

#: Numba reads it in the working directory, whose owner may be a stranger, and it may name a folder of pickles to load.
NUMBA_SETTINGS = ".numba_config.yaml"


def main() -> None:
    """Run the command line, or say which extra is missing: the wheel installs without them."""
    if Path(NUMBA_SETTINGS).exists():
        print(
            f"catbox: {Path(NUMBA_SETTINGS).absolute()} holds settings of Numba, which can make it run any code: move "
            "it away (environment variables such as NUMBA_CACHE_DIR do the same), or stand in another folder",
            file=sys.stderr,
        )
        sys.exit(2)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"catbox: this command needs {', '.join(missing)}, which the core installation leaves out.\n"
            'Install the extra "train":  pip install "catbox-env[train]"'
        )
    from catbox_train.cli import main as run

    run()


if __name__ == "__main__":
    main()
