"""The decisions searched in the last updates, and the results of the searches."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import Game


class Window:
    """Up to ``size`` decisions of each of the last ``length`` updates.

    ``arrays`` over L * S rows, those of update u in slot u % L: ``observations`` (L * S, I) int8, ``histories`` (L * S,
    T, 2) int8 and ``action_features`` (L * S, A, K) int8, the inputs of the network; ``masks`` (L * S, A) bool, the
    legal actions, none in an empty row; ``targets`` (L * S, A) float32, the probabilities to learn.
    """

    def __init__(self, game: Game, inputs: NetworkInputs, length: int, size: int) -> None:
        self.length, self.size = length, size
        rows, actions = length * size, game.num_actions
        self.arrays = {
            "observations": np.zeros((rows, inputs.size), np.int8),
            "histories": np.zeros((rows, inputs.max_game_length, 2), np.int8),
            "action_features": np.zeros((rows, actions, inputs.action_size), np.int8),
            "masks": np.zeros((rows, actions), np.bool_),
            "targets": np.zeros((rows, actions), np.float32),
        }

    def filled(self) -> np.ndarray:
        """The rows (n,) int64 that hold a decision."""
        return np.flatnonzero(self.arrays["masks"].any(axis=1))

    def put(self, update: int, decisions: Mapping[str, np.ndarray]) -> None:
        """Replace the decisions of the oldest update by those of ``update``, arrays (n, ...) by name."""
        start = update % self.length * self.size
        for name, array in self.arrays.items():
            array[start : start + self.size] = 0
            array[start : start + len(decisions[name])] = decisions[name]

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Resume from the ``arrays`` of an equal window."""
        for name, array in self.arrays.items():
            array[:] = arrays[name]


def window_bytes(game: Game, inputs: NetworkInputs, rows: int) -> int:
    """Bytes of ``rows`` rows of a window."""
    of_actions = game.num_actions * (inputs.action_size + 1 + np.dtype(np.float32).itemsize)
    return rows * (inputs.size + 2 * inputs.max_game_length + of_actions)
