"""The agent that knows nothing: uniform over the legal actions of any game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed, check_rows
from catbox_env import Game
from catbox_env.core.compilation import cached_njit


class RandomAgent(Agent):
    """Picks each legal action with the same chance, from a generator of its own."""

    draws_actions = True

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._generator = np.random.default_rng(seed)
        self._seeds: NDArray[np.uint64] | None = None

    def seed_decisions(self, seeds: NDArray[np.uint64]) -> None:
        self._seeds = seeds

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        _, masks = check_rows(self.game, observations, action_masks)
        actions = np.empty(len(masks), np.int64)
        if self._seeds is None:
            uniforms = self._generator.random(len(masks))
        else:
            uniforms = (self._seeds >> np.uint64(11)).astype(np.float64) * 2.0**-53
            self._seeds = None
            if len(uniforms) != len(masks):
                raise ValueError(
                    f"seeds for {len(uniforms)} decisions, but {len(masks)} rows are asked about"
                )
        draw_rows(masks, uniforms, actions)
        if (actions < 0).any():
            raise ValueError(
                f"no legal action in row {int(np.argmin(actions))}: only a seat to move can be asked"
            )
        return actions

    def policy_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.float64]:
        """(N, A) float64: the same for each legal action of a row."""
        _, masks = check_rows(self.game, observations, action_masks)
        return masks / masks.sum(axis=1, keepdims=True).clip(1)


@cached_njit(nogil=True)
def draw_rows(masks: NDArray[np.bool_], uniforms: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """A legal action for each row of ``masks`` (N, A) by ``uniforms`` (N,) in [0, 1); -1 where none is legal."""
    for row in range(len(masks)):
        mask = masks[row]
        count = 0
        for action in range(len(mask)):
            count += mask[action]
        skipped = int(uniforms[row] * count)
        actions[row] = -1
        for action in range(len(mask)):
            if mask[action]:
                if skipped == 0:
                    actions[row] = action
                    break
                skipped -= 1
