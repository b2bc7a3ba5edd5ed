"""What the shell completes: games, agents, and words that an option takes."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence

import catbox_env
from catbox_agents import known_agents
from catbox_agents.settings import complete_spec

#: The presets of training, and its algorithms. They stand here too, because training takes seconds to import.
PRESETS = ("quick", "standard", "strong")
ALGORITHMS = ("ppo", "dmc", "exit", "sb3")


def complete_game(incomplete: str) -> list[str]:
    """The ids of games that begin so."""
    return [game_id for game_id in catbox_env.GAMES if game_id.startswith(incomplete)]


def complete_agent(incomplete: str) -> list[str]:
    """The names, settings and paths of agents that begin so."""
    paths = glob.glob(glob.escape(incomplete) + "*") if incomplete else []
    names = [*known_agents(), *complete_spec(incomplete), *paths]
    return [name for name in names if name.startswith(incomplete)]


def complete_words(words: Sequence[str]) -> Callable[[str], list[str]]:
    """What completes one of ``words``."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete
