"""Pictures of positions: a file a game, found by the game's id, on a sheet that all of them share.

Nothing that plays needs this package: `Game.render_svg` imports it when a picture is asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from catbox_env.core.game import GameState
from catbox_env.pictures import default
from catbox_env.pictures.sheet import Sheet


def render_svg(state: GameState, seat: int | None, size: int, theme: str) -> str:
    """The picture of ``state``: what `Game.render_svg` returns, which has checked ``state`` and ``seat``.

    A game whose id is ``NAME_v0`` is drawn by the function ``draw`` of the module ``catbox_env.pictures.NAME``; without
    one, by `default`.
    """
    return _drawing(state.game.id)(Sheet(state, seat, size, theme))


@cache
def _drawing(game_id: str) -> Callable[[Sheet], str]:
    name = game_id.rpartition("_v")[0]
    if name not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return default.draw
    return getattr(importlib.import_module(f"{__name__}.{name}"), "draw", default.draw)
