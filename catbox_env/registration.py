"""Registers every game with Gymnasium and PettingZoo.

The entry points are strings, so that Numba and the environments are imported only when one is made.
"""

from __future__ import annotations

import gymnasium
import pettingzoo

from catbox_env.core.registry import GAMES


def gymnasium_id(game_id: str) -> str:
    """The name of a game in Gymnasium: ``"catbox/SomeGame-v0"`` for ``"some_game_v0"``."""
    words, _, version = game_id.rpartition("_v")
    return f"catbox/{''.join(word.capitalize() for word in words.split('_'))}-v{version}"


def register() -> None:
    """Register every game: in Gymnasium by ``gymnasium_id``, in PettingZoo as ``"catbox/some_game_v0"``."""
    for game_id in GAMES:
        gymnasium.register(
            gymnasium_id(game_id),
            entry_point="catbox_agents.gymnasium:LearnerEnv",
            vector_entry_point="catbox_agents.gymnasium:LearnerVectorEnv",
            kwargs={"game_id": game_id},
        )
        if hasattr(pettingzoo, "register"):  # PettingZoo has a registry since 1.27
            pettingzoo.register("aec", f"catbox/{game_id}", f"catbox_env.{game_id}:env")
