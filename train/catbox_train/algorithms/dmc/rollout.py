"""A worker of Deep Monte Carlo: the games, and the returns of the decisions in them.

The carried rows in front are decisions that wait for the end of their game, at most as many as a game has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithms.dmc.exploration import epsilon_greedy
from catbox_train.algorithms.dmc.options import dmc_options
from catbox_train.algorithms.dmc.returns import compute_returns
from catbox_train.config import TrainConfig
from catbox_train.self_play import worker as self_play
from catbox_train.self_play.weights import Networks, SharedWeights
from catbox_train.self_play.worker import check_decisions

#: What a decision that waits consists of; the features follow from it.
WAITING = ("observations", "masks", "seats", "actions", "returns")


class Worker(self_play.Worker):
    """One worker's share of the games.

    Arrays over rows and games beside those of all workers: ``returns`` (R, N) float32, what the seat is paid from its
    decision on, and ``known`` (R, N) bool, whether that is all, because the game is over.
    """

    def __init__(
        self,
        game: Game,
        config: TrainConfig,
        weights: SharedWeights,
        seed: np.random.SeedSequence,
        number: int = 0,
    ) -> None:
        super().__init__(game, config, Networks(weights, number), seed, carried=game.history_length)
        self.returns = np.zeros(self.shape, np.float32)
        self.known = np.zeros(self.shape, np.bool_)
        self.waiting = [*WAITING, *(["histories"] if self.network_inputs.history_length else [])]
        self.flatten("returns")
        self.epsilon = 0.0

    def begin_update(self, update: int, through: float, num_past: int, chances: np.ndarray) -> None:
        """As every worker, and take the share of random actions of this update."""
        super().begin_update(update, through, num_past, chances)
        self.epsilon = dmc_options(self.config).epsilon_at(through)

    def past_agent(self, network: MLP, seed: np.random.SeedSequence) -> PolicyAgent:
        """Values are no logits: earlier networks too play the action of the highest value."""
        return PolicyAgent(network, self.vec.game, seed)

    def collect(self) -> None:
        """Play ``num_steps`` steps of every game, and add up the returns."""
        self.carry_waiting_decisions()
        self.play()
        compute_returns(
            self.seats,
            self.learns,
            self.rewards,
            self.terminated,
            self.num_carried,
            self.returns,
            self.known,
        )
        self.ready = np.flatnonzero(self.known)

    def choose(self, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Choose ``actions`` of ``row``: those of the highest values, some at random."""
        epsilon_greedy(outputs, self.masks[row], uniforms, self.epsilon, self.actions[row])

    def inputs(self, rows: np.ndarray) -> torch.Tensor:
        """What the network takes for flat rows (n,) int64. It holds until the next call."""
        return self.networks.observations.take(self.flat["observations"], rows, self.flat["histories"])

    def carry_waiting_decisions(self) -> None:
        """Move the decisions whose games are not over into the carried rows in front, the oldest first."""
        waiting = (self.seats >= 0) & self.learns & ~self.known
        games, rows = np.nonzero(waiting.T)
        count = waiting.sum(axis=0)
        places = np.arange(len(games)) - np.repeat(np.cumsum(count) - count, count)
        names = [*self.waiting, "action_features"]
        carried = {name: getattr(self, name)[rows, games] for name in names}
        self.seats[:] = -1
        self.learns[: self.num_carried] = True
        self.known[:] = False
        for name in names:
            getattr(self, name)[places, games] = carried[name]

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that the worker's future depends on besides the weights: arrays, and JSON values."""
        self.carry_waiting_decisions()
        arrays, values = super().save()
        front = slice(0, self.num_carried)
        arrays |= {f"carried.{name}": getattr(self, name)[front].copy() for name in self.waiting}
        seen = self.vec.game.observation_layout.size
        arrays["carried.observations"] = arrays["carried.observations"][..., :seen].copy()
        empty = self.seats[front] < 0
        for name in self.waiting:
            arrays[f"carried.{name}"][empty] = -1 if name == "seats" else 0
        return arrays, values

    def load(self, arrays: dict[str, np.ndarray], values: dict[str, Any], num_past: int = 0) -> None:
        """Go on from what ``save`` returned; see `self_play.worker.Worker.load`."""
        seats = arrays["carried.seats"]
        observations, masks = arrays["carried.observations"], arrays["carried.masks"]
        check_decisions(
            self, observations, masks, seats, arrays["carried.actions"], arrays.get("carried.histories")
        )
        super().load(arrays, values, num_past)
        self.seats[:] = -1
        self.known[:] = False
        self.learns[: self.num_carried] = True
        for name in self.waiting:
            if name == "observations":  # the features follow from them, below
                continue
            getattr(self, name)[: self.num_carried] = arrays[f"carried.{name}"]
        rows, games = np.nonzero(seats >= 0)
        inputs, action_features = self.network_inputs.compute(observations[rows, games], masks[rows, games])
        self.observations[rows, games], self.action_features[rows, games] = inputs, action_features

    def carried_seats(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """(N, P) bool: the seats with a decision that waits."""
        seats: np.ndarray = arrays["carried.seats"]
        return (seats.T[..., None] == np.arange(self.num_players)).any(axis=1)
