"""The agent that knows nothing: uniform over the legal actions of any game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed
from catbox_env.core.game import Game


class RandomAgent(Agent):
    """Picks each legal action with the same chance, from a generator of its own."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._generator = np.random.default_rng(seed)

    def act(
        self,
        observation: NDArray[np.int8],
        action_mask: NDArray[Any],
        history: NDArray[np.int8] | None = None,
    ) -> int:
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        legal_so_far = np.cumsum(action_masks != 0, axis=1)
        legal = legal_so_far[:, -1]
        if not legal.all():
            raise ValueError(
                f"no legal action in row {int(np.argmin(legal))}: only a seat to move can be asked"
            )
        # The k-th legal action (k from 0) is the first at which more than k have been counted.
        chosen = self._generator.integers(legal)
        return np.asarray(np.argmax(legal_so_far > chosen[:, None], axis=1), dtype=np.int64)
