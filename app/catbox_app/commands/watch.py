"""`catbox watch`: agents play a game at the terminal."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from catbox_agents.match import Match
from catbox_agents.specs import BEST, best_agent
from catbox_app.options import AGENTS, GameOptions, SaveGame, Seed, choose_game, complete_agent, fill
from catbox_app.preconditions import check_new
from catbox_app.rules import command_line
from catbox_app.terminal.watch import DELAY
from catbox_app.terminal.watch import watch as watch_at_terminal


def watch(
    game: GameOptions,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"The players: {AGENTS}. The last one fills the remaining seats. Default: best, the strongest "
            "bundled agent without search.",
            autocompletion=complete_agent,
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            "--delay",
            min=0,
            max=3600,
            help="Seconds between moves.",
            show_default=f"{DELAY} on a terminal, else 0",
        ),
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for a key before each move.")] = False,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Show the reasons for each move, for agents that give them.")
    ] = False,
    save: SaveGame = None,
    replay: Annotated[str | None, typer.Option("--replay", hidden=True)] = None,
    seed: Seed = None,
) -> None:
    """Watch agents play, move by move, with every hand open.

    On a terminal the position stays in place; elsewhere everything is plain text.

    [bold]Examples[/]

    catbox watch --players 5 --delay 1

    catbox watch runs/standard heuristic --step --reasons

    catbox watch easy hard --players 2 --save game.jsonl
    """
    if replay is not None:
        raise ValueError(f"--replay: a saved game is shown by  catbox replay {replay}")
    chosen = choose_game(agents or [BEST], game)
    check_new(save)
    match = Match(chosen, fill(agents or [best_agent(chosen)], chosen.num_players), seed)
    again = command_line("watch", agents or [], chosen, match.seed)
    watch_at_terminal(match, Console(), again, delay, step, reasons, save)
