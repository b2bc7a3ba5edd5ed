"""The command `catbox`, also `python -m catbox_app`."""

import sys
from pathlib import Path

from catbox_app.output import require

#: Numba reads this file in the working directory, which may be untrusted; it can name a folder of pickles to load.
NUMBA_SETTINGS = ".numba_config.yaml"


def main() -> None:
    """Run the command line, or say which extra is missing: the wheel installs without them."""
    if Path(NUMBA_SETTINGS).exists():
        print(
            f"catbox: {Path(NUMBA_SETTINGS).absolute()} holds settings of Numba, which can make it run any code: move "
            "it away (use environment variables such as NUMBA_CACHE_DIR), or start catbox in another folder",
            file=sys.stderr,
        )
        sys.exit(2)
    try:
        require("the command", ["typer", "rich"], "cli")
    except ValueError as error:
        sys.exit(f"catbox: {error}")
    try:
        from catbox_app.cli import main as run  # takes a second

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
