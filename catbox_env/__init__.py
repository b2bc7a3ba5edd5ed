"""catbox: reinforcement-learning environments for Cat in the Box and two smaller games, Cat Te and Petrify.

- ``make_game(game_id, **options)``: a game and its states, for search and analysis.
- ``make_vec(game_id, num_envs, ...)``: many games stepped at once, for training.
- ``catbox_env.cat_in_the_box_v0``, ``cat_te_v0``, ``petrify_v0``: the PettingZoo module of each game.
- ``GAMES``: the ids of the games. Importing this package registers each game for ``gymnasium.make``.
"""

from typing import Any

from catbox_env.core.registry import GAMES, make_game, make_vec
from catbox_env.registration import register

__version__ = "0.1.0"

register()

__all__ = ["GAMES", "__version__", "make_game", "make_vec"]


def __getattr__(name: str) -> Any:
    """Import a PettingZoo module on first use, because pettingzoo takes a while to load."""
    if name in GAMES:
        import importlib

        return importlib.import_module(f"catbox_env.{name}")
    raise AttributeError(f"module 'catbox_env' has no attribute {name!r}")
