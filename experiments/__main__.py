"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from rich.console import Console

from catbox_env.core.checks import suggestion
from catbox_train.memory import keep_freed_memory
from experiments import __doc__ as description
from experiments.results import ROOT, Folders
from experiments.runner import run_studies
from experiments.speeds import measure_speeds
from experiments.study import read_study, runs_of, study_names
from experiments.zoo import make_zoo, zoo_settings

#: The exit code that shells report after Ctrl-C.
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0, 1 after an error, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    folders = Folders(options.root)
    try:
        keep_freed_memory()  # as `catbox train` does
        _do(options.command, list(dict.fromkeys(options.names)), folders, Console())
    except KeyboardInterrupt:
        print("Stopped. The same command resumes from here.", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    return 0


def _do(command: str, names: Sequence[str], folders: Folders, console: Console) -> None:
    """Train ``names``."""
    if command == "zoo":
        _check_names(names, zoo_settings(folders))
        make_zoo(names, folders, console)
    else:
        _check_names(names, study_names(folders.studies))
        studies = {name: runs_of(name, read_study(name, folders.studies)) for name in names}
        (run_studies if command == "run" else measure_speeds)(studies, folders, console)


def _check_names(names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(
                f"unknown name {name!r}{suggestion(name, list(known))}; expected one of {', '.join(sorted(known))}"
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to use (default: this one)")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what, number in (
        ("run", "train the runs of studies that have no result yet", "+"),
        ("speeds", "measure how fast the variants of studies learn, on an idle machine", "+"),
        ("zoo", "train and measure agents of the zoo that are not yet, by default all", "*"),
    ):
        command = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
        command.add_argument("names", nargs=number, metavar="NAME")
    return parser


if __name__ == "__main__":
    sys.exit(main())
