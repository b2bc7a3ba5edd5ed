"""catbox: reinforcement-learning environments for Cat in the Box and two smaller games, Cat Te and Petrify.

- ``make_game(game_id, **options)``: a ``Game``, which makes states (``GameState``), for search and analysis.
- ``make_vec(game_id, num_envs, ...)``: a ``Vec`` of many games stepped at once, for training.
- ``catbox_env.cat_in_the_box_v0``, ``cat_te_v0``, ``petrify_v0``: the PettingZoo module of each game.
- ``GAMES``: the ids of the games. Importing this package registers each game for ``gymnasium.make`` and
  ``pettingzoo.make``.
- ``Game``, ``GameState``, ``Event``, ``Layout``, ``Part``, ``Vec``: the classes of the returned objects.
"""

import importlib
from typing import TYPE_CHECKING, Any

from catbox_env.registration import pettingzoo_module, register
from catbox_env.registry import GAMES, make_game
from catbox_env.vector import make_vec

if TYPE_CHECKING:
    from catbox_env.core.game import Game
    from catbox_env.core.layout import Layout, Part
    from catbox_env.core.state import Event, GameState
    from catbox_env.core.vec import Vec

__version__ = "0.1.0"

register()

__all__ = [
    "GAMES",
    "Event",
    "Game",
    "GameState",
    "Layout",
    "Part",
    "Vec",
    "__version__",
    "make_game",
    "make_vec",
]

#: Where the classes are defined.
_CLASSES = {
    "Event": "catbox_env.core.state",
    "Game": "catbox_env.core.game",
    "GameState": "catbox_env.core.state",
    "Layout": "catbox_env.core.layout",
    "Part": "catbox_env.core.layout",
    "Vec": "catbox_env.core.vec",
}


def __getattr__(name: str) -> Any:
    """Import a PettingZoo module or a class on first use, because Numba loads slowly."""
    if name in GAMES:
        return pettingzoo_module(name)
    if name in _CLASSES:
        return getattr(importlib.import_module(_CLASSES[name]), name)
    raise AttributeError(f"module 'catbox_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *GAMES})
