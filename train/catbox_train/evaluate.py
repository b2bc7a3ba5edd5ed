"""`catbox evaluate`: the arena with a progress bar, a table, and files."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from catbox_agents import Result, evaluate
from catbox_env.core.game import Game


def run(
    game: Game,
    agents: Sequence[str],
    num_deals: int,
    seed: int,
    json_path: Path | None,
    csv_path: Path | None,
) -> Result:
    """Compare ``agents``, print the table and write the files that were asked for.

    Raises ValueError for what the arena refuses, and before anything is played for a path that cannot be written.
    """
    for path in (json_path, csv_path):
        if path is not None:
            check_writable(path)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("games", total=num_deals * game.num_players)
        result = evaluate(
            game,
            agents,
            num_deals,
            seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    Console().print(table(result))
    if json_path is not None:
        write_text(json_path, json.dumps(result.as_dict(), indent=2) + "\n")
    if csv_path is not None:
        write_text(csv_path, as_csv(result))
    return result


def table(result: Result) -> Table:
    """The result to look at."""
    title = (
        f"{result.game}, {result.deals} deals x {result.games // result.deals} rotations, seed {result.seed}"
    )
    shown = Table(title=title, caption="margin: own score minus the others', with its 95 % interval")
    shown.add_column("agent", overflow="fold")
    figures = list(result.standings[0].figures)
    for name in ("seats", "score", "margin", "win share", *(name.replace("_", " ") for name in figures)):
        shown.add_column(name, justify="right")
    for standing in result.standings:
        shown.add_row(
            standing.name,
            str(standing.seats),
            f"{standing.score:.2f}",
            f"{standing.margin:+.2f} ± {standing.margin_ci95:.2f}",
            f"{standing.win_share:.3f}",
            *(f"{standing.figures[name]:.3f}" for name in figures),
        )
    return shown


def as_csv(result: Result) -> str:
    """One line for each agent, under a line of names."""
    rows = result.rows()
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def check_writable(path: Path) -> None:
    """Raise ValueError unless a file can be written at ``path``; found out by beginning one beside it."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file in it")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write {path}: {error.strerror}; give a file in a folder that exists and is yours"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Put ``text`` at ``path``, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
