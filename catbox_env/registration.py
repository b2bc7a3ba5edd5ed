"""Registers every game with Gymnasium. The environments themselves are in ``catbox_agents.gymnasium``."""

from __future__ import annotations

import gymnasium

from catbox_env.core.registry import GAMES


def gymnasium_id(game_id: str) -> str:
    """The name of a game in Gymnasium: ``"catbox/SomeGame-v0"`` for ``"some_game_v0"``."""
    words, _, version = game_id.rpartition("_v")
    return f"catbox/{''.join(word.capitalize() for word in words.split('_'))}-v{version}"


def register() -> None:
    """Register every game. The entry points are strings, so that ``catbox_agents`` is imported only when needed."""
    for game_id in GAMES:
        gymnasium.register(
            gymnasium_id(game_id),
            entry_point="catbox_agents.gymnasium:LearnerEnv",
            vector_entry_point="catbox_agents.gymnasium:LearnerVectorEnv",
            kwargs={"game_id": game_id},
        )
