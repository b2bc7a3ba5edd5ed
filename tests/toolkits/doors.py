"""Ways into a PettingZoo game that are known from tutorials and toolkits, as they give transitions to a learner.

Each plays whole games with random legal actions on an environment of the caller, usually a `Ledger`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.conservation import Received


def pairs_of_step_and_last(env: Any, games: int, seed: int) -> Iterator[Received]:
    """As the wrapper in PettingZoo's tutorial for Stable-Baselines3: ``reset`` returns what the first seat sees,
    ``step`` steps and returns ``last()``; what Gymnasium calls the end is the first ``terminated``."""
    rng = np.random.default_rng(seed)
    for game in range(games):
        env.reset(seed=seed if game == 0 else None)
        over = False
        while not over:
            seat, mask = env.agent_selection, env.observe(env.agent_selection)["action_mask"]
            if not mask.any():
                break  # the game was over when it was dealt
            env.step(int(rng.choice(np.flatnonzero(mask))))
            seen, reward, terminated, truncated, _ = env.last()
            over = terminated or truncated
            yield Received(seat, reward, seen["observation"])
