"""The level ``easy``; `catbox_agents.specs` defines the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import RandomAgent, SamplingAgent, Seed
from catbox_agents.heuristics import hand_written
from catbox_env import Game

#: How often ``easy`` plays at random.
EASY_RANDOM = 0.5


class EasyAgent(SamplingAgent):
    """The level ``easy``: each action is random with probability 1/2, else that of the hand-written player."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._random = RandomAgent(game, 0)
        self._player = hand_written(game, 0)

    def policy_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.float64]:
        """(N, A) float64."""
        policies = EASY_RANDOM * self._random.policy_batch(observations, action_masks)
        chosen = self._player.act_batch(observations, action_masks)
        policies[np.arange(len(policies)), chosen] += 1 - EASY_RANDOM
        return policies
