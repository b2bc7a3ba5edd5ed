"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from docs.generators import __doc__ as description
from docs.generators.files import outdated_files, write_files
from experiments.results import ROOT, Folders


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 1 after an error, or if a file is out of date; else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generators",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to use (default: this one)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    options = parser.parse_args(arguments)
    folders = Folders(options.root)
    try:
        if not options.check:
            for path in write_files(folders):
                print(f"wrote {path}")
            return 0
        outdated = outdated_files(folders)
    except (ValueError, OSError) as error:
        print(f"docs.generators: {error}", file=sys.stderr)
        return 1
    for path in outdated:
        print(f"{path} is out of date: run  python -m docs.generators", file=sys.stderr)
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
