"""`catbox play` and `catbox watch`: one game at the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from catbox_agents.arena.records import read_record
from catbox_agents.specs import best_agent
from catbox_app import terminal
from catbox_app.options import (
    DEFAULT_GAME,
    GAME_PANEL,
    GameId,
    Players,
    Rounds,
    RuleOptions,
    Seed,
    build_game,
    complete_game,
)


def play(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Your opponents; the last one fills the seats that are left. Default: the strongest that comes with "
            "catbox."
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
    terminal.play(played, agents or [best_agent(played)], seat, seed, Console())


def watch(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Who plays; the last one fills the seats that are left. Default: the strongest that comes with catbox."
        ),
    ] = None,
    delay: Annotated[
        float, typer.Option("--delay", min=0, max=3600, help="Seconds between two moves.")
    ] = 0.0,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each move.")] = False,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Show the reasons for each move, for agents that give them.")
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", help="Show a game of this file, which catbox arena --record wrote."),
    ] = None,
    seed: Seed = None,
    game: Annotated[
        str | None,
        typer.Option(
            "--game",
            help="Id of the game; with --replay, the number of the game in the file, from 1.",
            show_default=f"{DEFAULT_GAME}; with --replay 1",
            autocompletion=complete_game,
            rich_help_panel=GAME_PANEL,
        ),
    ] = None,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Watch agents play, move by move, with every hand open.

    [bold]Examples[/]

    catbox watch --players 5 --delay 1

    catbox watch runs/standard heuristic --players 3 --step --reasons

    catbox watch --replay games.jsonl --game 3
    """
    if replay is not None:
        given = {
            "agents": agents, "--reasons": reasons, "--seed": seed is not None, "--players": players,
            "--rounds": rounds, "rules": rule,
        }  # fmt: skip
        if wrong := [name for name, value in given.items() if value]:
            raise ValueError(
                f"--replay with {', '.join(wrong)}: the file says what was played; leave the others out"
            )
        number = 1 if game is None else read_number(game)
        terminal.replay(read_record(replay, number), Console(), delay, step)
        return
    game_object = build_game(game or DEFAULT_GAME, players, rounds, rule)
    terminal.watch(game_object, agents or [best_agent(game_object)], seed, Console(), delay, step, reasons)


def read_number(text: str) -> int:
    """The number of a game in a file. Raises ValueError for anything else."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(f"--game {text!r}: with --replay expected the number of a game in the file, from 1")
    return int(text)
