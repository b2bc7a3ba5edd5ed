"""`catbox evaluate`: the arena with a progress bar, a table, and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import catbox_agents
from catbox_agents import EvaluationInterrupted, Result
from catbox_agents.arena.terminal_tables import results_table
from catbox_agents.features import facts
from catbox_agents.system.files import write_atomically
from catbox_app.options import AGENTS, GameOptions, agents_argument, choose_game
from catbox_app.output import check_writable, games_progress


def evaluate(
    game: GameOptions,
    agents: Annotated[
        list[str], agents_argument(f"Two or more of: {AGENTS}. The last one fills the remaining seats.")
    ],
    deals: Annotated[
        int, typer.Option("--deals", "-n", help="Deals, each played once per rotation of seats.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same result.")] = 0,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")] = None,
    csv_path: Annotated[
        Path | None, typer.Option("--csv", help="Write one line per agent to this file.")
    ] = None,
) -> None:
    """Compare agents on the same deals, from every seat.

    [bold]Examples[/]

    catbox evaluate heuristic random --players 5 --deals 1000

    catbox evaluate runs/standard heuristic --players 3 --json result.json
    """
    if json_path is not None and csv_path is not None and json_path.resolve() == csv_path.resolve():
        raise ValueError(f"--json and --csv are both {csv_path}: give each its own file")
    check_writable(json_path)
    check_writable(csv_path)
    chosen = choose_game(agents, game)
    stopped: EvaluationInterrupted | None = None
    result: Result | None = None
    try:
        with games_progress() as progress:
            result = catbox_agents.evaluate(chosen, agents, deals, seed, progress=progress)
    except EvaluationInterrupted as interrupted:
        stopped, result = interrupted, interrupted.result
    if result is not None:
        _write_and_show(result, facts(chosen).shares, json_path, csv_path)
    if stopped is not None:
        typer.echo(f"catbox: {stopped}", err=True)
        raise typer.Exit(130)


def _write_and_show(
    result: Result, shares: Mapping[str, str], json_path: Path | None, csv_path: Path | None
) -> None:
    """Write the files, then print the table and what follows from it."""
    if json_path is not None:
        write_atomically(json_path, (json.dumps(result.as_dict(), indent=2) + "\n").encode())
    if csv_path is not None:
        rows, text = result.rows(), io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(csv_path, text.getvalue().encode())
    deals = f"{result.deals}"
    if result.deals < result.deals_planned:
        deals = f"partial: {deals} of {result.deals_planned}"
    played = f"{deals} deals x {result.games // result.deals} rotations, seed {result.seed}"
    console = Console()
    console.print(results_table([result], f"{result.game}, {played}", shares), "")
    console.print(Text(_finding(result)), soft_wrap=not console.is_terminal)


def _finding(result: Result) -> str:
    """Whether the first agent is better than the others, in a sentence."""
    first, *others = result.standings
    against = others[0].name if len(others) == 1 else "the others"
    found = f"{abs(first.margin):.2f} ± {first.margin_ci95:.2f} points a game"
    if abs(first.margin) > first.margin_ci95:
        return f"{first.name} is {'ahead of' if first.margin > 0 else 'behind'} {against} by {found}."
    return f"No difference could be shown: {first.name} and {against} are {found} apart."
