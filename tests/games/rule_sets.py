"""Hypothesis draws rule sets: of each game any that can be played, of every player count, with every option in play."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.core.fuzz import random_game
from tests.core.game_cases import CASES


def rules_of(game_id: str) -> st.SearchStrategy[Any]:
    return st.integers(0, 2**32 - 1).map(lambda seed: random_game(game_id, np.random.default_rng(seed)).rules)


#: Of each game.
RULES = {game_id: rules_of(game_id) for game_id in CASES}
