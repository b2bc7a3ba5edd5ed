"""The registry: game ids and their classes. All code that works with any game starts here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from catbox_env.core.checks import brief, closest
from catbox_env.core.extras import install_line

if TYPE_CHECKING:
    from catbox_env.core.game import Game, Vec

GAMES: dict[str, str] = {
    "cat_in_the_box_v0": "catbox_env.games.cat_in_the_box.game:CatInTheBox",
    "cat_te_v0": "catbox_env.games.cat_te.game:CatTe",
    "petrify_v0": "catbox_env.games.petrify.game:Petrify",
}


def game_class(game_id: str) -> type[Game]:
    """The class of the game ``game_id``. Raises ``ValueError``, naming the known ids, for an unknown one."""
    if not isinstance(game_id, str) or game_id not in GAMES:
        hint = closest(str(game_id), list(GAMES))
        raise ValueError(f"unknown game {brief(game_id)}: expected one of {', '.join(GAMES)}{hint}")
    module, name = GAMES[game_id].split(":")
    return getattr(importlib.import_module(module), name)


def make_game(game_id: str, **options: Any) -> Game:
    """The game ``game_id``, immutable.

    ``options``: ``reward`` (``"score"``, ``"margin"`` or ``"win"``), and either ``rules`` (a ``Rules`` object of
    the game) or any of the fields of its ``Rules``, such as ``num_players``. Raises ``ValueError`` for an unknown
    game or option and for invalid rules.
    """
    return game_class(game_id)(**options)


def make_vec(
    game_id: str,
    num_envs: int,
    seed: Any = None,
    num_threads: int = 1,
    history: bool = False,
    state: bool = False,
    auto_deal: bool = True,
    device: str = "cpu",
    **options: Any,
) -> Vec:
    """``num_envs`` games side by side, stepped in place: see ``catbox_env.core.game.Vec``.

    With ``device="cuda"`` the games are played on the GPU and the attributes are torch tensors there: see
    ``catbox_env.adapters.device.DeviceVec``. ``options`` are those of ``make_game``. Raises ``ValueError`` for an
    invalid option.
    """
    from catbox_env.core.game import Vec

    game = make_game(game_id, **options)
    if device != "cpu":
        if num_threads != 1:
            raise ValueError(
                f"num_threads={brief(num_threads)}: threads are for games on the CPU; leave it out"
            )
        return device_adapter(device).DeviceVec(game, num_envs, seed, history, state, auto_deal, device)
    return Vec(game, num_envs, seed, num_threads, history, state, auto_deal)


def device_adapter(device: str) -> Any:
    """The module ``catbox_env.adapters.device``. Raises ``ValueError`` if Numba or PyTorch is missing."""
    try:
        return importlib.import_module("catbox_env.adapters.device")
    except ImportError as error:
        raise ValueError(
            f"device={brief(device)}: games on a GPU need Numba and PyTorch ({error}). {install_line('gpu')}"
        ) from error
