"""`catbox dataset`: games as data, for imitation and offline reinforcement learning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from catbox_agents.dataset import play_games, read_games, write_dataset
from catbox_app.options import AGENTS, GameOptions, agents_argument, choose_game
from catbox_app.output import games_progress, require


def dataset(
    game: GameOptions,
    agents: Annotated[
        list[str] | None,
        agents_argument(f"Who plays, one or more of: {AGENTS}. The last one fills the remaining seats."),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option("--records", help="Take the games of this file, which catbox arena --record wrote."),
    ] = None,
    games: Annotated[
        int | None, typer.Option("--games", "-n", help="Games to play.", show_default="1000")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the games.", show_default="the deal set training")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for decisions.parquet and its card, README.md."),
    ] = None,
    minari: Annotated[
        str | None, typer.Option("--minari", metavar="ID", help="Write a Minari data set with this id.")
    ] = None,
    license: Annotated[str, typer.Option("--license", help="Licence that the card names.")] = "mit",
) -> None:
    """Write games as data: a row for each decision.

    The agents play, each game with a deal of its own, or --records names a file of games.

    [bold]Examples[/]

    catbox dataset zoo --players 3 --games 10000 --output data/zoo

    catbox dataset zoo heuristic --players 4 --minari catbox/zoo-v0

    catbox dataset --records games.jsonl --output data/games
    """
    if (records is None) == (not agents):
        raise ValueError("give the agents that play, or --records FILE, and not both")
    if records is not None and (game != GameOptions() or games is not None or seed is not None):
        raise ValueError(
            "--records: the file says which games; leave out the game's options, --games and --seed"
        )
    if output is not None:
        require("catbox dataset --output", ("pyarrow",), "data")
    if minari is not None:
        require("catbox dataset --minari", ("minari", "h5py"), "data")
    if records is not None:
        data = read_games(records)
    else:
        names = agents or []
        data = play_games(choose_game(names, game), names, 1000 if games is None else games, seed)
    if output is None and minari is None:
        raise ValueError("give --output FOLDER, --minari ID, or both: where the games are written")
    with games_progress() as progress:
        card = write_dataset(data, output, minari, license, progress)
    Console().print(card, highlight=False, markup=False, soft_wrap=True)
