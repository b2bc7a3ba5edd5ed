"""Every game in Gymnasium's and PettingZoo's registries, and its PettingZoo module.

The entry points are strings, so that Numba and the environments are imported only when one is made. A library that
is not installed, as in a browser, is skipped.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from catbox_env.adapters.modules import make_env, make_raw_env
from catbox_env.registry import GAMES, game_class


def gymnasium_id(game_id: str) -> str:
    """The name of a game in Gymnasium: ``"catbox/SomeGame-v0"`` for ``"some_game_v0"``."""
    words, _, version = game_id.rpartition("_v")
    return f"catbox/{''.join(word.capitalize() for word in words.split('_'))}-v{version}"


def register() -> None:
    """Register every game: in Gymnasium by ``gymnasium_id``, in PettingZoo as ``"catbox/some_game_v0"``."""
    gymnasium = _installed("gymnasium")
    pettingzoo = _installed("pettingzoo") if gymnasium else None  # it imports Gymnasium
    for game_id in GAMES:
        if gymnasium:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point="catbox_agents.learners.gymnasium:LearnerEnv",
                vector_entry_point="catbox_agents.learners.gymnasium:LearnerVectorEnv",
                kwargs={"game_id": game_id},
            )
        if pettingzoo and hasattr(pettingzoo, "register"):  # PettingZoo has a registry since 1.27
            pettingzoo.register(
                "aec", f"catbox/{game_id}", "catbox_env.adapters.aec:env", kwargs={"game_id": game_id}
            )


def pettingzoo_module(game_id: str) -> ModuleType:
    """The module ``catbox_env.NAME_v0`` of a game: its file, or else one made here, which has no ``Deal``."""
    name = f"catbox_env.{game_id}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    rules_class = game_class(game_id).rules_class
    module = ModuleType(name, rules_class.__doc__)
    made = {"env": make_env(name), "raw_env": make_raw_env(name), "Rules": rules_class}
    vars(module).update(made, __all__=sorted(made))
    sys.modules[name] = module
    return module


def _installed(name: str) -> ModuleType | None:
    """The package ``name``; None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
