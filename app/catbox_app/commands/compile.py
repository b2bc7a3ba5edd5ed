"""`catbox compile`: fill the cache of compiled code in advance, by playing a little of everything."""

from __future__ import annotations

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

import catbox_env
from catbox_agents import evaluate
from catbox_agents.learners.games import RANDOM_LEGAL, LearnerGames
from catbox_agents.specs import hand_written_agent
from catbox_app.commands.train import NEEDED
from catbox_app.options import complete_words
from catbox_app.output import require
from catbox_env import Game, make_game
from catbox_env.core.compilation import cache_folder
from catbox_env.core.conformance import check_game


def compile_code(
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            help="Id of a game; may be repeated.",
            autocompletion=complete_words(catbox_env.GAMES),
            show_default="all",
        ),
    ] = None,
    where: Annotated[bool, typer.Option("--where", help="Print the cache folder and exit.")] = False,
) -> None:
    """Fill the cache of compiled code in advance, for a container or a cluster.

    Set NUMBA_CACHE_DIR to the cache folder, here and wherever catbox runs later.

    [bold]Examples[/]

    catbox compile --where

    NUMBA_CACHE_DIR=/opt/catbox-cache catbox compile
    """
    folder = cache_folder()
    if folder is None:
        raise ValueError("catbox compile needs Numba, which cannot be imported:  pip install numba")
    if where:
        typer.echo(folder)
        return
    require("catbox compile", NEEDED, "train")
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise ValueError(f"catbox compile cannot write to {folder}: set NUMBA_CACHE_DIR to a writable folder")
    games = [make_game(game_id) for game_id in game or catbox_env.GAMES]
    console = Console()
    for each in games:
        begun = time.monotonic()
        _play(each)
        console.print(f"{each.id}: {time.monotonic() - begun:.1f} s")
    begun = time.monotonic()
    with TemporaryDirectory() as temporary:
        _train(games[0].id, Path(temporary) / "run")
    console.print(f"training: {time.monotonic() - begun:.1f} s")
    console.print(f"Compiled code is cached in {folder}", soft_wrap=True)


def _play(game: Game) -> None:
    check_game(game, num_games=1)
    evaluate(game, [hand_written_agent(game.id), "best"], num_deals=10, names=["first", "second"])
    evaluate(game, ["search:worlds=1,policy=best", "ismcts:simulations=1"], num_deals=10)
    for opponents in ("random", {"any_of": ["random", hand_written_agent(game.id)]}):
        games = LearnerGames(game, 16, opponents, "random", illegal_action=RANDOM_LEGAL)
        games.reset(seed=0)
        games.step(games.action_masks().argmin(axis=1))


def _train(game_id: str, folder: Path) -> None:
    from catbox_train import load_config, train  # needs torch

    small = {
        "game": game_id, "total_decisions": 128, "games_per_update": 16, "minibatch_size": 64, "hidden": [8],
        "evaluate_deals": 10, "final_deals": 10, "eval_opponents": ["random"],
    }  # fmt: skip
    train(load_config(overrides=small), folder, Console(quiet=True))
