"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from catbox_train.memory import keep_freed_memory
from experiments import __doc__ as description
from experiments.fields import play_fields
from experiments.leaderboard import play_leaderboard
from experiments.report import check_report, write_report
from experiments.results import RESULTS
from experiments.runner import ROOT, Folders, run_studies
from experiments.speeds import measure_speeds
from experiments.study import STUDIES, Run, read_study, runs_of, study_names
from experiments.zoo import make_zoo
from experiments.zoo_pages import check_pages, write_pages

#: What a shell reports of a program that Ctrl-C ended.
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0, 1 after an error or where a page is out of date, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    if "names" in options:
        options.names = list(dict.fromkeys(options.names))
        keep_freed_memory()  # as `catbox train` does
    try:
        return int(options.do(options, Console()) or 0)
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1


def _runs(options: argparse.Namespace) -> dict[str, list[Run]]:
    """The runs of each study that is named."""
    return {name: runs_of(name, read_study(name, options.studies)) for name in options.names}


def _run(options: argparse.Namespace, console: Console) -> None:
    elsewhere = run_studies(_runs(options), Folders(options.runs, options.results), console)
    if elsewhere:
        print(f"Left to other processes, which had begun them: {elsewhere}.")
    every = "All other runs" if elsewhere else "All runs"
    print(f"{every} of {', '.join(options.names)} have results. The page:  python -m experiments report")


def _fields(options: argparse.Namespace, console: Console) -> None:
    folders = Folders(options.runs, options.results)
    for name, runs in _runs(options).items():
        play_fields(name, read_study(name, options.studies), runs, folders, console)


def _speeds(options: argparse.Namespace, console: Console) -> None:
    measure_speeds([run for runs in _runs(options).values() for run in runs], options.results, console)


def _zoo(options: argparse.Namespace, console: Console) -> None:
    make_zoo(options.names, options.runs, options.results, console)


def _leaderboard(options: argparse.Namespace, console: Console) -> None:
    play_leaderboard(options.names, options.runs, options.results, console)


def _report(options: argparse.Namespace, console: Console) -> int:
    studies = options.studies, options.results, options.page
    boards = options.results, Path(options.page).with_name("leaderboard.md")
    if not options.check:
        for path in [*write_report(*studies), *write_pages(*boards)]:
            print(f"wrote {path}")
        return 0
    outdated = [*check_report(*studies), *check_pages(*boards)]
    for path in outdated:
        print(f"{path} is out of date: run  python -m experiments report", file=sys.stderr)
    return 1 if outdated else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(
        required=True, metavar="run | fields | speeds | zoo | leaderboard | report"
    )
    studies = f"any of {', '.join(study_names())}"
    for name, do, what, names, least in (
        ("run", _run, "train the runs of studies that have no result yet", studies, "+"),
        ("fields", _fields, "play the fields of studies whose runs are finished", studies, "+"),
        ("speeds", _speeds, "measure how fast the variants of studies play and learn", studies, "+"),
        ("zoo", _zoo, "train the agents of the zoo", "agents of experiments/zoo.yaml; none: all", "*"),
        (
            "leaderboard",
            _leaderboard,
            "play the arenas of the leaderboard",
            "arenas of experiments/leaderboard.yaml: PART/RULES, a part, or rules; none: all",
            "*",
        ),
    ):
        command = commands.add_parser(name, help=what)
        command.set_defaults(do=do)
        command.add_argument("names", nargs=least, metavar="NAME", help=names)
        folder = "experiments" if least == "+" else name
        _add_folder(command, "--runs", ROOT / "runs" / folder, "where they are trained or played")
        _add_folder(command, "--results", RESULTS, "of the JSON lines")
        if least == "+":
            _add_folder(command, "--studies", STUDIES, "of the YAML files")
    report = commands.add_parser(
        "report", help="make the pages of docs/ and the cards of the zoo from the results"
    )
    report.set_defaults(do=_report)
    report.add_argument("--check", action="store_true", help="write nothing, fail if it is out of date")
    page = ROOT / "docs" / "experiments.md"
    _add_folder(report, "--page", page, "a file, with leaderboard.md and pictures/ beside it")
    _add_folder(report, "--results", RESULTS, "of the JSON lines")
    _add_folder(report, "--studies", STUDIES, "of the YAML files")
    return parser


def _add_folder(command: argparse.ArgumentParser, option: str, default: Path, what: str) -> None:
    where = default.relative_to(ROOT)
    command.add_argument(
        option, type=Path, default=default, metavar="PATH", help=f"{what} (default: {where})"
    )


if __name__ == "__main__":
    sys.exit(main())
