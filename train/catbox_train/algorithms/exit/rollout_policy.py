"""The network that learns, as the agent that plays on in its searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from catbox_agents.agent import Agent
from catbox_agents.networks.action_head import add_action_scores
from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import Game
from catbox_train.self_play.weights import Networks

#: Rows that the network looks at in one call: as many as the nearer caches hold.
EVALUATED_AT_ONCE = 2048


class RolloutPolicy(Agent):
    """Plays the most probable action of a worker's network, as it is now."""

    def __init__(self, game: Game, networks: Networks, inputs: NetworkInputs) -> None:
        super().__init__(game)
        self.networks, self.inputs = networks, inputs

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        masks = np.asarray(action_masks, np.bool_)
        vectors, action_features = self.inputs.compute(observations, masks)
        none = np.zeros(
            (len(masks), 0, 2), np.int8
        )  # of networks that take histories, this plays no rollouts
        logits = self.logits(vectors, action_features, none, masks)
        return np.where(masks, logits, -np.inf).argmax(axis=1)

    @torch.no_grad()
    def logits(
        self, vectors: np.ndarray, action_features: np.ndarray, histories: np.ndarray, masks: np.ndarray
    ) -> np.ndarray:
        """Logits (n, A) float32 for the network's inputs ``vectors`` (n, I), ``action_features`` (n, A, K) and
        ``histories`` (n, T, 2), int8, and ``masks`` (n, A) bool; those of illegal actions are of no use."""
        networks, found = self.networks, np.empty(masks.shape, np.float32)
        for start in range(0, len(masks), EVALUATED_AT_ONCE):
            rows = np.arange(start, min(start + EVALUATED_AT_ONCE, len(masks)))
            outputs = networks.actor.outputs(
                networks.actor.activations(networks.observations.take(vectors, rows, histories))
            ).numpy()
            if len(networks.action_scale):
                add_action_scores(outputs, masks, action_features, networks.action_scale, rows)
            found[rows] = outputs[:, : masks.shape[1]]
        return found
