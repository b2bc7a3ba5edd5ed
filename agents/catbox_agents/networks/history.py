"""Encodes the history of a seat for a network: attention of a few learned queries over the actions so far.

A history is int8 (T, 2), a row (relative seat, action) for each action of the game, the oldest first; another seat's
discard is the action -1. It ends at the first row with a negative seat. The encoder represents a row by its token, the
pair of seat and action, and its age, the number of later actions. Since the queries do not depend on the position, the
product of a query and a key can be learned directly. So, for each head h, over the rows t,

    weight_h,t = softmax over t of token_scores[seat, action, h] + age_scores[age, h]
    output_h   = sum over t of weight_h,t * (token_values[seat, action] + age_values[age]), those of head h

as in the pooling of Lee et al. 2019 (Set Transformer, https://arxiv.org/abs/1810.00825, section 3.2), with the ages of
Press et al. 2022 (https://arxiv.org/abs/2108.12409). An empty history gives zeros. A row older than the age tables
counts as their oldest.

``history_kernels`` computes it, compiled. ``history_modules`` has the modules in torch, for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.networks.history_kernels import encode

#: The number of queries, and of their outputs together.
HEADS, OUTPUTS = 4, 32


@dataclass(frozen=True)
class HistorySizes:
    """The sizes of an encoder: for histories of a game with ``num_players`` and ``num_actions``, ``length`` ages,
    ``heads``, and ``outputs`` of all heads together.

    Raises ``ValueError`` for invalid sizes.
    """

    num_players: int
    num_actions: int
    length: int
    heads: int = HEADS
    outputs: int = OUTPUTS

    def __post_init__(self) -> None:
        sizes = self.num_players, self.num_actions, self.length, self.heads, self.outputs
        if min(sizes) < 1 or self.outputs % self.heads:
            raise ValueError(
                f"a history of {self.num_players} players, {self.num_actions} actions and {self.length} ages with "
                f"{self.heads} heads and {self.outputs} outputs: expected numbers from 1, the outputs a multiple of "
                "the heads"
            )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the encoder's weights, in order; the action -1 comes first."""
        tokens = self.num_players, self.num_actions + 1
        return {
            "token_scores": (*tokens, self.heads),
            "age_scores": (self.length, self.heads),
            "token_values": (*tokens, self.outputs),
            "age_values": (self.length, self.outputs),
        }

    def describe(self) -> dict[str, Any]:
        """The sizes as JSON values, from which the encoder can be rebuilt."""
        return {
            "encoder": "attention",
            "players": self.num_players,
            "actions": self.num_actions,
            "length": self.length,
            "heads": self.heads,
            "outputs": self.outputs,
        }


def check_histories(histories: object, rows: int) -> NDArray[np.int8]:
    """``histories`` as a contiguous array, int8 (rows, T, 2). Raises ``ValueError`` for anything else."""
    given = np.asarray(histories)
    if given.dtype != np.int8 or given.ndim != 3 or (len(given), given.shape[2]) != (rows, 2):
        raise ValueError(
            f"histories {given.dtype} of shape {given.shape}: expected int8 of shape ({rows}, T, 2), the "
            "histories of the seats to move, as make_vec(..., history=True) and history_observation give them"
        )
    return np.ascontiguousarray(given)


def encode_histories(
    histories: NDArray[np.int8], weights: Sequence[NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Outputs (n, D) for ``histories`` (n, T, 2).

    ``weights``: those of an encoder, in the order of `HistorySizes.shapes`. Raises ``ValueError`` for histories that
    are impossible in a game of this size.
    """
    token_scores, _, token_values, _ = weights
    num_players, num_tokens, _ = token_scores.shape
    outputs = np.empty((len(histories), token_values.shape[2]), np.float32)
    if not encode(histories, *weights, outputs):
        raise ValueError(
            f"the histories are not of a game with {num_players} players and {num_tokens - 1} actions: expected rows "
            "(relative seat, action), followed by (-2, -2)"
        )
    return outputs
