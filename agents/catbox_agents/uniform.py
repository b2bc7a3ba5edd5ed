"""The agent that knows nothing: uniform over the legal actions of any game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import check_rows
from catbox_agents.drawing import DrawingAgent
from catbox_env.core.bits import legal_at
from catbox_env.core.compilation import cached_njit


class RandomAgent(DrawingAgent):
    """Picks each legal action with the same chance, from a generator of its own."""

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        _, masks = check_rows(self.game, observations, action_masks)
        actions = np.empty(len(masks), np.int64)
        draw_rows(masks, self.uniforms(len(masks)), actions)
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
        actions[row] = legal_at(masks[row], uniforms[row])
