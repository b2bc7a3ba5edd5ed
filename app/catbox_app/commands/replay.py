"""`catbox replay`: a recorded game at the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from catbox_agents import read_record
from catbox_app.terminal.replay import replay as replay_at_terminal


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file of games, which catbox play --save, watch --save or arena --record wrote.",
            show_default=False,
        ),
    ],
    game: Annotated[int, typer.Option("--game", help="The number of the game in the file, from 1.")] = 1,
    seat: Annotated[
        int | None,
        typer.Option("--seat", help="Show only what this seat sees, from 0.", show_default="all is open"),
    ] = None,
    move: Annotated[int, typer.Option("--move", min=0, help="Begin after so many moves.")] = 0,
) -> None:
    """Show a recorded game: step forward and back, from any seat's view or all open.

    On a terminal with keys; elsewhere as plain text.

    [bold]Examples[/]

    catbox replay mine.jsonl

    catbox replay games.jsonl --game 7 --seat 2
    """
    replay_at_terminal(read_record(file, game), Console(), seat, move)
