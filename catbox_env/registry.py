"""The registry: game ids, and where the parts of a game are that are found by name. All code for any game starts here.

What is named here is imported when it is first asked for, because Numba loads slowly, and pictures are rarely needed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from catbox_env.core import drawing
from catbox_env.core.checks import check_known

if TYPE_CHECKING:
    from catbox_env.core.game import Game

GAMES: dict[str, str] = {
    "cat_in_the_box_v0": "catbox_env.games.cat_in_the_box.game:CatInTheBox",
    "cat_te_v0": "catbox_env.games.cat_te.game:CatTe",
    "petrify_v0": "catbox_env.games.petrify.game:Petrify",
}


def game_class(game_id: str) -> type[Game]:
    """The class of the game ``game_id``. Raises ``ValueError``, naming the known ids, for an unknown one."""
    check_known("game", game_id, GAMES)
    module, name = GAMES[game_id].split(":")
    return getattr(importlib.import_module(module), name)


def make_game(game_id: str, **options: Any) -> Game:
    """The game ``game_id``, immutable.

    ``options``: ``reward`` (``"score"``, ``"margin"`` or ``"win"``), and either ``rules`` (a ``Rules`` object of
    the game) or any of the fields of its ``Rules``, such as ``num_players``. Raises ``ValueError`` for an unknown
    game or option and for invalid rules.
    """
    made = game_class(game_id)
    known = ("reward", "rules", *made.rules_class.__annotations__)
    for name in options:
        others = " and ".join(_games_with(name))
        check_known("option", name, known, game_id, f"; it is an option of {others}" if others else "")
    return made(**options)


def _games_with(option: str) -> list[str]:
    return [game_id for game_id in GAMES if option in game_class(game_id).rules_class.__annotations__]


@cache
def picture_of(game_id: str) -> Callable[[Any], str]:
    """What draws a game with the id ``NAME_v0`` on a `catbox_env.pictures.sheet.Sheet`: the function ``draw`` of the
    module ``catbox_env.pictures.NAME``, or without one that of `catbox_env.pictures.default`."""
    from catbox_env import pictures  # only where pictures are wanted
    from catbox_env.pictures import default

    name = game_id.rpartition("_v")[0]
    if name not in {module.name for module in pkgutil.iter_modules(pictures.__path__)}:
        return default.draw
    return getattr(importlib.import_module(f"catbox_env.pictures.{name}"), "draw", default.draw)


def _render_svg(state: Any, seat: int | None, size: int, theme: str) -> str:
    from catbox_env.pictures.sheet import Sheet  # only where pictures are wanted

    return picture_of(state.game.id)(Sheet(state, seat, size, theme))


drawing.render_svg = _render_svg
