"""Gymnasium's registry: every game under its own name, served by ``catbox_agents.gymnasium`` when it is made."""

from __future__ import annotations

import gymnasium

from catbox_env.core.registry import GAMES


def gymnasium_id(game_id: str) -> str:
    """The name in Gymnasium: ``"some_game_v0"`` is ``"catbox/SomeGame-v0"``."""
    words, _, version = game_id.rpartition("_v")
    return f"catbox/{''.join(word.capitalize() for word in words.split('_'))}-v{version}"


def register() -> None:
    """Register every game. The entry points are names: nothing of the agents is imported before it is needed."""
    for game_id in GAMES:
        gymnasium.register(
            gymnasium_id(game_id),
            entry_point="catbox_agents.gymnasium:LearnerEnv",
            vector_entry_point="catbox_agents.gymnasium:LearnerVectorEnv",
            kwargs={"game_id": game_id},
        )
