"""`catbox evaluate`: the arena with a progress bar, a table, and a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import catbox_agents
from catbox_agents import EvaluationInterrupted, Result
from catbox_agents.arena.results import results_table
from catbox_agents.files import write_atomically
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
) -> None:
    """Compare agents on the same deals, from every seat.

    [bold]Examples[/]

    catbox evaluate heuristic random --players 5 --deals 1000

    catbox evaluate runs/standard heuristic --players 3 --json result.json
    """
    check_writable(json_path)
    chosen = choose_game(agents, game)
    stopped: EvaluationInterrupted | None = None
    result: Result | None = None
    try:
        with games_progress() as progress:
            result = catbox_agents.evaluate(chosen, agents, deals, seed, progress=progress)
    except EvaluationInterrupted as interrupted:
        stopped, result = interrupted, interrupted.result
    if result is not None:
        if json_path is not None:
            write_atomically(json_path, (json.dumps(result.as_dict(), indent=2) + "\n").encode())
        partial = f"partial: {result.deals} of {result.deals_planned}"
        finished = partial if result.deals < result.deals_planned else result.deals
        played = f"{finished} deals x {result.games // result.deals} rotations, seed {result.seed}"
        Console().print(results_table([result], f"{result.game}, {played}"))
    if stopped is not None:
        typer.echo(f"catbox: {stopped}", err=True)
        raise typer.Exit(130)
