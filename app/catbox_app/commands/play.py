"""`catbox play` and `catbox watch`: one game at the terminal."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from catbox_agents.specs import default_agent
from catbox_app import terminal
from catbox_app.options import DEFAULT_GAME, GameId, Players, Rounds, RuleOptions, Seed, build_game


def play(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Your opponents; the last one fills the seats that are left. Default: heuristic, where there is one."
        ),
    ] = None,
    seat: Annotated[int, typer.Option("--seat", help="Where you sit, from 0.")] = 0,
    seed: Seed = None,
    game: GameId = DEFAULT_GAME,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Play against agents at the terminal. Type help at the prompt.

    [bold]Examples[/]

    catbox play --players 3

    catbox play heuristic random --players 4 --rounds match --seed 7
    """
    played = build_game(game, players, rounds, rule)
    terminal.play(played, agents or [default_agent(played.id)], seat, seed, Console())


def watch(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Who plays; the last one fills the seats that are left. Default: heuristic, where there is one."
        ),
    ] = None,
    delay: Annotated[
        float, typer.Option("--delay", min=0, max=3600, help="Seconds between two moves.")
    ] = 0.0,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each move.")] = False,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Show the reasons for each move, for agents that give them.")
    ] = False,
    seed: Seed = None,
    game: GameId = DEFAULT_GAME,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Watch agents play, move by move, with every hand open.

    [bold]Examples[/]

    catbox watch --players 5 --delay 1

    catbox watch runs/standard heuristic --players 3 --step --reasons
    """
    game_object = build_game(game, players, rounds, rule)
    terminal.watch(
        game_object, agents or [default_agent(game_object.id)], seed, Console(), delay, step, reasons
    )
