"""Batches of games, on the CPU or on a GPU."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from catbox_env.core.checks import short_repr
from catbox_env.core.extras import install_line
from catbox_env.registry import make_game

if TYPE_CHECKING:
    from catbox_env.core.vec import Vec


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
    """``num_envs`` games side by side, stepped in place: see ``catbox_env.Vec``.

    With ``device="cuda"`` the games are played on the GPU and the attributes are torch tensors there: see
    ``catbox_env.adapters.device.DeviceVec``. ``options`` are those of ``make_game``. Raises ``ValueError`` for an
    invalid option.
    """
    game = make_game(game_id, **options)
    if device != "cpu":
        if num_threads != 1:
            raise ValueError(
                f"num_threads={short_repr(num_threads)}: threads are for games on the CPU; leave it out"
            )
        return device_adapter(device).DeviceVec(game, num_envs, seed, history, state, auto_deal, device)
    from catbox_env.core.vec import Vec  # on first use: Numba loads slowly

    return Vec(game, num_envs, seed, num_threads, history, state, auto_deal)


def device_adapter(device: str) -> Any:
    """The module ``catbox_env.adapters.device``. Raises ``ValueError`` if Numba or PyTorch is missing."""
    try:
        return importlib.import_module("catbox_env.adapters.device")
    except ImportError as error:
        raise ValueError(
            f"device={short_repr(device)}: games on a GPU need Numba and PyTorch ({error}). {install_line('gpu')}"
        ) from error
