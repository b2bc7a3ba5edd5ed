"""`catbox arena`: every agent among copies of every other, with a progress bar, tables, and a folder of results."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import catbox_agents
from catbox_agents import DEAL_SETS, ArenaInterrupted
from catbox_app.options import (
    AGENTS,
    GameOptions,
    Processes,
    RayAddress,
    agents_argument,
    choice_option,
    choose_game,
)
from catbox_app.output import check_writable, games_progress, require

#: What the command needs: the extra "arena".
NEEDED = ("choix", "filelock", "matplotlib", "psutil")


def arena(
    game: GameOptions,
    agents: Annotated[list[str], agents_argument(f"Two or more of: {AGENTS}.")],
    deals: Annotated[
        int | None,
        typer.Option(
            "--deals",
            "-n",
            help="Deals per table, each played from every seat; with --until-ci, the maximum.",
            show_default="1000",
        ),
    ] = None,
    until_ci: Annotated[
        float | None,
        typer.Option(
            "--until-ci",
            metavar="POINTS",
            help="Play until every interval is at most ± this many points a game.",
        ),
    ] = None,
    deal_set: Annotated[
        str | None,
        choice_option(
            "--deal-set",
            DEAL_SETS,
            "training, selection, report or test: disjoint sets of deals. Keep report for what you report.",
            "selection",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of your own deals, instead of a deal set.")
    ] = None,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="NAME,NAME,...", help="Names of the agents, in their order."),
    ] = None,
    mixed: Annotated[bool, typer.Option("--mixed", help="Also play tables that mix all agents.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for results.json, results.md and matrix.png. A stopped arena resumes from it.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", help="Write every game to this new file, for catbox replay."),
    ] = None,
    move_time: Annotated[
        float | None,
        typer.Option(
            "--move-time", metavar="SECONDS", help="An agent that takes longer for a move ends the arena."
        ),
    ] = None,
    processes: Processes = None,
    ray_address: RayAddress = None,
) -> None:
    """Compare every agent with every other: one among copies of the other, in both directions.

    The result is a matrix of margins with 95 % intervals, ratings, and the game's statistics: see docs/arena.md.

    [bold]Examples[/]

    catbox arena heuristic random runs/standard --players 3 --deals 500

    catbox arena heuristic runs/a runs/b --names heuristic,a,b --deal-set report --until-ci 0.05 --output arenas/ab
    """
    require("catbox arena", NEEDED, "arena")
    from catbox_agents.arena.report import terminal_tables, title  # these need the extra arena
    from catbox_agents.system.machine import physical_cores

    if ray_address is None and processes is None:
        processes = physical_cores()
    check_writable(record)
    stopped, result = None, None
    try:
        with games_progress() as progress:
            result = catbox_agents.run_arena(
                choose_game(agents, game),
                agents,
                deals,
                until_ci=until_ci,
                deal_set=deal_set,
                seed=seed,
                names=None if names is None else [name.strip() for name in names.split(",")],
                mixed=mixed,
                processes=processes,
                move_time=move_time,
                output=output,
                record=record,
                progress=progress,
                ray_address=ray_address,
            )
    except ArenaInterrupted as interrupted:
        stopped, result = interrupted, interrupted.result
    console = Console()
    print_line = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    if result is not None:
        print_line(title(result))
        for table in terminal_tables(result, console.width):
            console.print(table)
            console.print()
        if until_ci is not None and result.widest > until_ci:
            print_line(
                f"After {result.deals:,} deals the widest interval is ± {result.widest:.3g} points a game, not "
                f"{until_ci:g}: raise -n",
                style="yellow",
            )
        if output is not None:
            print_line(f"Written to {output}")
    if stopped is not None:
        keep = "give --output FOLDER to keep finished games"
        again = keep if output is None else "run the same command to resume"
        typer.echo(f"catbox: {stopped}; {again}", err=True)
        raise typer.Exit(130)
