"""The functions ``env`` and ``raw_env`` of the PettingZoo module of each game, ``catbox_env.NAME_v0``.

PettingZoo is imported when one of them is called, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from catbox_env.adapters.aec import AECGame


def make_env(module: str) -> Callable[..., AECEnv]:
    """The function ``env`` of ``module``, which is named after its game."""

    def env(**options: Any) -> AECEnv:
        """The environment in PettingZoo's wrappers; an illegal action ends the game with its illegal reward.

        The options are the fields of the game's ``Rules`` (``help(Rules)``) and:

        Options:
            rules: a whole ``Rules`` instead of single fields.
            reward: ``"score"``: points; ``"margin"``: less the others' mean; ``"win"``: 1 shared among the winners.
            render_mode: ``"ansi"``: text; ``"human"``: printed in colour; ``"rgb_array"``: a picture, uint8 (H, W, 3).
            history: whether observations carry the history.
        """
        from catbox_env.adapters import aec  # needs PettingZoo

        return aec.env(_game_of(module), **options)

    return _as_member_of(env, module)


def make_raw_env(module: str) -> Callable[..., AECGame]:
    """The function ``raw_env`` of ``module``, which is named after its game."""

    def raw_env(**options: Any) -> AECGame:
        """The environment without wrappers; an illegal action raises ``ValueError`` and changes nothing.

        The options are those of ``env``.
        """
        from catbox_env.adapters.aec import AECGame  # needs PettingZoo

        return AECGame(_game_of(module), **options)

    return _as_member_of(raw_env, module)


def _game_of(module: str) -> str:
    return module.rpartition(".")[2]


def _as_member_of(function: Callable[..., Any], module: str) -> Callable[..., Any]:
    """``function`` as a member of ``module``, where help and pickle look for it."""
    function.__module__, function.__qualname__ = module, function.__name__
    return function
