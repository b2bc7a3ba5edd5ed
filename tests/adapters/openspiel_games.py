"""Games of OpenSpiel that its tests play, and steps in them."""

from typing import Any

import numpy as np

from catbox_env import make_game
from catbox_env.adapters import openspiel
from catbox_env.cat_in_the_box_v0 import Rules

GAMES = [
    "python_cat_in_the_box(players=5)",
    "python_cat_in_the_box(players=2,rounds=2)",
    "python_cat_in_the_box(players=3,num_ranks=4,reward=win,rounds_word=match,start_player_word=random,bids=1 3)",
    "python_cat_te(players=4,reward=margin)",
    "python_cat_te(players=3,side_pot=2,rounds=3)",
    "python_petrify",
    "python_petrify(players=3,size=5,teleports=3,walls=2,wildcards=2,zeros=1,move_rule=up_to)",
    "python_petrify(size=3,walls=3,wildcards=6)",
]


def tiny(reward: str = "margin") -> Any:
    return openspiel.load(make_game("cat_in_the_box_v0", rules=Rules.tiny(), reward=reward))


def advance(state: Any, rng: np.random.Generator, moves: int) -> Any:
    """``state`` after so many random steps, chance included, or at the end."""
    for _ in range(moves):
        if state.is_terminal():
            break
        if state.is_chance_node():
            draws, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(draws, p=np.array(chances) / sum(chances))))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state
