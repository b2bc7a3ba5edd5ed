"""The command `catbox`, also `python -m catbox_train`."""

import importlib.util
import sys

#: What the command needs beyond the core distribution: import name -> the extra that brings it.
NEEDED = {"typer": "train", "rich": "train", "yaml": "train", "matplotlib": "train", "torch": "agents"}


def main() -> None:
    """Run the command line, or say which extra is missing: the wheel installs without them."""
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
