"""The decisions that were searched in the last updates, and what the searches found."""

from __future__ import annotations

from typing import Any

import numpy as np

from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import Game
from catbox_train.self_play.worker import histories_of_game

#: What probabilities in float32 may miss 1 by.
_ROUNDING = 1e-3


class Window:
    """Up to ``size`` decisions of each of the last ``length`` updates.

    Arrays over L * S rows, those of update u in slot u % L: ``inputs`` (L * S, I) int8, ``action_features`` (L * S, A,
    K) int8 and ``histories`` (L * S, T, 2) int8, what the network takes; ``masks`` (L * S, A) bool, the legal actions,
    none in an empty row; ``targets`` (L * S, A) float32, the probabilities to learn.
    """

    def __init__(self, game: Game, inputs: NetworkInputs, length: int, size: int) -> None:
        self.game, self.network_inputs = game, inputs
        self.length, self.size = length, size
        rows = length * size
        self.inputs = np.zeros((rows, inputs.size), np.int8)
        self.action_features = np.zeros((rows, game.num_actions, inputs.action_size), np.int8)
        self.histories = np.zeros((rows, inputs.history_length, 2), np.int8)
        self.masks = np.zeros((rows, game.num_actions), np.bool_)
        self.targets = np.zeros((rows, game.num_actions), np.float32)

    def filled(self) -> np.ndarray:
        """The rows (n,) int64 that hold a decision."""
        return np.flatnonzero(self.masks.any(axis=1))

    def put(
        self,
        update: int,
        inputs: np.ndarray,
        action_features: np.ndarray,
        histories: np.ndarray,
        masks: np.ndarray,
        targets: np.ndarray,
    ) -> None:
        """Put the decisions (n, ...) of ``update`` in the place of those of the oldest one."""
        start = update % self.length * self.size
        middle, stop = start + len(masks), start + self.size
        self.inputs[start:middle], self.action_features[start:middle] = inputs, action_features
        self.histories[start:middle] = histories
        self.masks[start:middle], self.targets[start:middle] = masks, targets
        self.masks[middle:stop] = False

    def save(self) -> dict[str, np.ndarray]:
        """What the features follow from: observations, masks and targets; and histories, if they are taken."""
        empty = ~self.masks.any(axis=1)
        observations = self.inputs[:, : self.game.observation_layout.size].copy()
        targets = self.targets.copy()
        observations[empty], targets[empty] = 0, 0.0
        arrays = {"observations": observations, "masks": self.masks.copy(), "targets": targets}
        if self.network_inputs.history_length:
            arrays["histories"] = self.histories.copy()
            arrays["histories"][empty] = 0
        return arrays

    def load(self, arrays: dict[str, np.ndarray], update: int) -> None:
        """Go on from what ``save`` returned after ``update`` updates.

        Takes arrays of the types and shapes of ``save``. Raises ``ValueError`` for what no search comes to.
        """
        observations, masks, targets = (arrays[name] for name in ("observations", "masks", "targets"))
        held = np.any(masks, axis=1)
        low, high = self.game.observation_layout.bounds()
        facts: dict[str, Any] = {
            "masks": not held[min(update, self.length) * self.size :].any(),
            "observations": ((observations[held] >= low) & (observations[held] <= high)).all(),
            "targets": (targets >= 0).all()
            and (np.abs(targets.sum(axis=1) - held) < _ROUNDING).all()
            and not targets[~masks].any(),
        }
        if self.network_inputs.history_length:
            facts["histories"] = histories_of_game(self.game, arrays["histories"][held])
        for name, holds in facts.items():
            if not holds:
                raise ValueError(f"window.{name} holds what no search comes to")
        self.masks[:], self.targets[:] = masks, targets
        if self.network_inputs.history_length:
            self.histories[:] = arrays["histories"]
        rows = np.flatnonzero(held)
        self.inputs[rows], self.action_features[rows] = self.network_inputs.compute(
            observations[rows], masks[rows]
        )


def window_bytes(game: Game, inputs: NetworkInputs, rows: int) -> int:
    """Bytes of ``rows`` rows of a window."""
    of_actions = game.num_actions * (inputs.action_size + 1 + np.dtype(np.float32).itemsize)
    return rows * (inputs.size + 2 * inputs.history_length + of_actions)
