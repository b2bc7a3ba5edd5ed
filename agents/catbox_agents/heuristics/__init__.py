"""The hand-written players, one for each game. In this package, only this folder and `features` know single games."""

from __future__ import annotations

import importlib

from catbox_agents.agent import Agent, RandomAgent, Seed
from catbox_env import Game

#: The hand-written player of each game: game id -> "module:Class".
HEURISTICS = {
    "cat_in_the_box_v0": "catbox_agents.heuristics.cat_in_the_box:CatInTheBoxHeuristic",
    "cat_te_v0": "catbox_agents.heuristics.cat_te:CatTeHeuristic",
    "petrify_v0": "catbox_agents.heuristics.petrify:PetrifyHeuristic",
}

#: The hand-written players by style: the word of the spec -> game id -> "module:Class", made as
#: ``Class(game, seed, variant)``.
STYLES = {
    "heuristic": HEURISTICS,
    "careful": {"cat_in_the_box_v0": "catbox_agents.heuristics.cat_in_the_box_careful:CarefulPlayer"},
    "habits": {"cat_in_the_box_v0": "catbox_agents.heuristics.cat_in_the_box_habits:Habits"},
    "never_red": {"cat_in_the_box_v0": "catbox_agents.heuristics.cat_in_the_box_habits:NeverRed"},
}


def hand_written(game: Game, seed: Seed = None, variant: int = 0, style: str = "heuristic") -> Agent:
    """The hand-written player of ``game`` in this ``style``, or a `RandomAgent` for a game without one.

    ``variant``: of 1 or more, the same reasons with weights drawn by this number.
    """
    if game.id not in STYLES[style]:
        return RandomAgent(game, seed)
    module, _, name = STYLES[style][game.id].partition(":")
    made: Agent = getattr(importlib.import_module(module), name)(game, seed, variant)
    return made
