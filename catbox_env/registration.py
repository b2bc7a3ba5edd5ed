"""Registers every game with Gymnasium and PettingZoo.

The entry points are strings, so that Numba and the environments are imported only when one is made. A library that
is not installed, as in a browser, is left out: the games are played without it.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from catbox_env.core.registry import GAMES


def gymnasium_id(game_id: str) -> str:
    """The name of a game in Gymnasium: ``"catbox/SomeGame-v0"`` for ``"some_game_v0"``."""
    words, _, version = game_id.rpartition("_v")
    return f"catbox/{''.join(word.capitalize() for word in words.split('_'))}-v{version}"


def register() -> None:
    """Register every game: in Gymnasium by ``gymnasium_id``, in PettingZoo as ``"catbox/some_game_v0"``."""
    gymnasium = _installed("gymnasium")
    pettingzoo = _installed("pettingzoo") if gymnasium else None  # it imports Gymnasium
    for game_id in GAMES:
        if gymnasium:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point="catbox_agents.gymnasium:LearnerEnv",
                vector_entry_point="catbox_agents.gymnasium:LearnerVectorEnv",
                kwargs={"game_id": game_id},
            )
        if pettingzoo and hasattr(pettingzoo, "register"):  # PettingZoo has a registry since 1.27
            pettingzoo.register("aec", f"catbox/{game_id}", f"catbox_env.{game_id}:env")


def _installed(name: str) -> ModuleType | None:
    """The package ``name``, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
