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
from experiments.study import STUDIES, read_study, runs_of, study_names
from experiments.zoo import make_zoo
from experiments.zoo_pages import check_pages, write_pages

#: What a shell reports of a program that Ctrl-C ended.
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0, 1 after an error or where the page is out of date, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    console = Console()
    try:
        if options.command == "report":
            return _report(options)
        names = list(dict.fromkeys(options.names))
        if options.command == "zoo":
            keep_freed_memory()
            make_zoo(names, options.runs, options.results, console)
            return 0
        if options.command == "leaderboard":
            play_leaderboard(names, options.runs, options.results, console)
            return 0
        studies = {name: runs_of(name, read_study(name, options.studies)) for name in names}
        keep_freed_memory()  # as `catbox train` does
        if options.command == "speeds":
            measure_speeds([run for runs in studies.values() for run in runs], options.results, console)
            return 0
        folders = Folders(options.runs, options.results)
        if options.command == "fields":
            for name in names:
                play_fields(name, read_study(name, options.studies), studies[name], folders, console)
            return 0
        elsewhere = run_studies(studies, folders, console)
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    if elsewhere:
        print(f"Left to other processes, which had begun them: {elsewhere}.")
    every = "All other runs" if elsewhere else "All runs"
    print(f"{every} of {', '.join(names)} have results. The page:  python -m experiments report")
    return 0


def _report(options: argparse.Namespace) -> int:
    if not options.check:
        written = write_report(options.studies, options.results, options.page)
        for path in [*written, *write_pages(options.results, _leaderboard(options))]:
            print(f"wrote {path}")
        return 0
    outdated = check_report(options.studies, options.results, options.page)
    outdated += check_pages(options.results, _leaderboard(options))
    for path in outdated:
        print(f"{path} is out of date: run  python -m experiments report", file=sys.stderr)
    return 1 if outdated else 0


def _leaderboard(options: argparse.Namespace) -> Path:
    return Path(options.page).with_name("leaderboard.md")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="run | fields | speeds | zoo | leaderboard | report"
    )
    run = commands.add_parser("run", help="train the runs of studies that have no result yet")
    fields = commands.add_parser("fields", help="play the fields of studies whose runs are finished")
    speeds = commands.add_parser("speeds", help="measure how fast the variants of studies play and learn")
    for command in (run, fields, speeds):
        command.add_argument("names", nargs="+", metavar="NAME", help=f"any of {', '.join(study_names())}")
    for command in (run, fields):
        command.add_argument(
            "--runs",
            type=Path,
            default=ROOT / "runs" / "experiments",
            metavar="FOLDER",
            help="where the runs are trained (default: runs/experiments)",
        )
    makes_zoo = commands.add_parser("zoo", help="train the agents of the zoo, all or those named")
    leaderboard = commands.add_parser(
        "leaderboard", help="play the arenas of the leaderboard, all or those named"
    )
    for command, folder, what in (
        (makes_zoo, "zoo", "agents of experiments/zoo.yaml"),
        (leaderboard, "leaderboard", "arenas of experiments/leaderboard.yaml: PART/RULES, a part, or rules"),
    ):
        command.add_argument("names", nargs="*", metavar="NAME", help=what)
        command.add_argument(
            "--runs",
            type=Path,
            default=ROOT / "runs" / folder,
            metavar="FOLDER",
            help=f"where they are trained or played (default: runs/{folder})",
        )
    report = commands.add_parser(
        "report",
        help="make docs/experiments.md, docs/leaderboard.md and the cards of the zoo from the results",
    )
    report.add_argument("--check", action="store_true", help="write nothing, fail if it is out of date")
    report.add_argument(
        "--page",
        type=Path,
        default=ROOT / "docs" / "experiments.md",
        metavar="FILE",
        help="the page, with leaderboard.md and pictures/ beside it (default: docs/experiments.md)",
    )
    for command in (run, fields, speeds, report):
        command.add_argument(
            "--studies",
            type=Path,
            default=STUDIES,
            metavar="FOLDER",
            help="of the YAML files (default: experiments/studies)",
        )
    for command in (run, fields, speeds, makes_zoo, leaderboard, report):
        command.add_argument(
            "--results",
            type=Path,
            default=RESULTS,
            metavar="FOLDER",
            help="of the JSON lines (default: experiments/results)",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
