"""Deep Monte Carlo (DouZero, Zha et al. 2021, https://arxiv.org/abs/2106.06135) in self-play.

The actor's output for an action is the value of that action: what the seat will be paid from here to the end of the
game. It plays the action of the highest value, in training sometimes a random one, and learns from the returns of its
games (``returns``). There is no bootstrapping, so the targets are unbiased for the way it plays, but noisy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import TrainingState
from catbox_train.algorithms.dmc.exploration import epsilon_greedy
from catbox_train.algorithms.dmc.options import DMCOptions
from catbox_train.algorithms.dmc.returns import compute_returns
from catbox_train.config import TrainConfig
from catbox_train.self_play.algorithm import READ, SelfPlay
from catbox_train.self_play.group import Group
from catbox_train.self_play.worker import Worker

#: What a waiting decision consists of; the features follow from it.
WAITING = ("observations", "masks", "seats", "actions")


class DMC(SelfPlay):
    """The network of values, the optimizer, and the workers with their games.

    The carried rows are decisions that wait for the end of their game, at most as many as a game has. ``scale``: the
    network outputs values in units of this many points, the standard deviation of the returns in the first update that
    learned; 0 before it.
    """

    Options = DMCOptions
    options: DMCOptions

    def __init__(self, config: TrainConfig, game: Game, group: Group | None = None) -> None:
        super().__init__(config, game, group)
        self.scale = self.epsilon = 0.0
        #: What the seat is paid from its decision on, (R, N), and whether that is complete, because the game is over.
        self.returns = np.zeros(self.buffer.shape, np.float32)
        self.known = np.zeros(self.buffer.shape, np.bool_)

    @classmethod
    def carried_rows(cls, config: TrainConfig, game: Game) -> int:
        """All decisions of a game that is not over."""
        return game.max_game_length

    def past_agent(self, network: PolicyNetwork, seed: np.random.SeedSequence) -> PolicyAgent:
        """Values are not logits: earlier networks also play the action of the highest value."""
        return PolicyAgent(network, self.game, seed)

    def collect(self, progress: float) -> None:
        """Play ``num_steps`` steps of every game, and add up the returns."""
        self.epsilon = self.options.epsilon_at(progress)
        self.carry_waiting_decisions()
        super().collect(progress)
        buffer = self.buffer
        compute_returns(
            buffer.seats,
            buffer.learns,
            buffer.rewards,
            buffer.terminated,
            buffer.carried,
            self.returns,
            self.known,
        )

    def choose(self, worker: Worker, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Choose the actions of the highest values, some at random."""
        masks, actions = self.buffer.masks[row, worker.columns], self.buffer.actions[row, worker.columns]
        epsilon_greedy(outputs, masks, uniforms, self.epsilon, actions)

    def learn(self, progress: float) -> dict[str, float]:
        """Improve the values on the games that have ended; if none has, nothing is learned."""
        ready, learning_rate = np.flatnonzero(self.known), self.learning_rate(progress)
        learned = {
            "decisions": float(sum(self.group.gather(len(ready)))),
            "learning_rate": learning_rate,
            "epsilon": self.epsilon,
        }
        if not (num_minibatches := self.num_minibatches(len(ready))):
            return learned
        _, variance = self.mean_and_variance(self.returns.reshape(-1)[ready])
        self.scale = self.scale or float(np.sqrt(variance)) or 1.0
        actions, returns = (
            torch.from_numpy(array.reshape(-1)).to(self.device)
            for array in (self.buffer.actions, self.returns / np.float32(self.scale))
        )

        def loss(rows: torch.Tensor) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
            values = self.actor.logits(*self.buffer.take(rows, *READ), precision=self.precision)
            taken = values.gather(1, actions.index_select(0, rows)[:, None])[:, 0]
            error = 0.5 * (taken - returns.index_select(0, rows)).square().mean()
            return error, {"value_loss": error}

        metrics = self.make_steps(loss, ready, num_minibatches, learning_rate)
        error = 2 * metrics["value_loss"] * self.scale**2
        return metrics | learned | {"explained_variance": 1 - error / variance if variance > 0 else 0.0}

    # Decisions waiting for the end of their game.

    def carry_waiting_decisions(self) -> None:
        """Move the decisions whose games are not over into the carried rows, the oldest first."""
        buffer = self.buffer
        waiting = (buffer.seats >= 0) & buffer.learns & ~self.known
        games, rows = np.nonzero(waiting.T)
        count = waiting.sum(axis=0)
        places = np.arange(len(games)) - np.repeat(np.cumsum(count) - count, count)
        arrays = self._waiting() | {"action_features": buffer.action_features}
        carried = {name: array[rows, games] for name, array in arrays.items()}
        buffer.seats[:] = -1
        buffer.learns[: buffer.carried] = True
        self.known[:] = False
        for name, array in arrays.items():
            array[places, games] = carried[name]

    def carried_arrays(self) -> dict[str, np.ndarray]:
        """The waiting decisions; their observations without the features, which follow from them."""
        self.carry_waiting_decisions()
        front = slice(0, self.buffer.carried)
        arrays = {name: array[front].copy() for name, array in self._waiting().items()}
        arrays["observations"] = arrays["observations"][..., : self.game.observation_layout.size].copy()
        empty = arrays["seats"] < 0
        for name, array in arrays.items():
            array[empty] = -1 if name == "seats" else 0
        return arrays

    def load_carried(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Resume from what `carried_arrays` returned. Raises ``ValueError`` for decisions impossible in this game."""
        self.check_carried(arrays)
        buffer, seats = self.buffer, arrays["seats"]
        buffer.seats[:] = -1
        self.known[:] = False
        buffer.learns[: buffer.carried] = True
        for name, array in self._waiting().items():
            if name != "observations":
                array[: buffer.carried] = arrays[name]
        rows, games = np.nonzero(seats >= 0)
        inputs = self.inputs.compute(arrays["observations"][rows, games], arrays["masks"][rows, games])
        buffer.observations[rows, games], buffer.action_features[rows, games] = inputs

    def _waiting(self) -> dict[str, np.ndarray]:
        """What a waiting decision consists of: arrays over rows and games by name."""
        names = [*WAITING, *(["histories"] if self.inputs.max_game_length else [])]
        return {name: getattr(self.buffer, name) for name in names} | {"returns": self.returns}

    def state(self) -> TrainingState:
        """The state of every self-play algorithm, and the scale."""
        state = super().state()
        return TrainingState(state.arrays, {**state.values, "scale": self.scale})

    def restore(self, state: TrainingState, update: int) -> None:
        """Resume from ``state``. Raises ``ValueError`` for a state that cannot be resumed."""
        scale: Any = state.values.get("scale")
        if type(scale) is not float or not 0 <= scale < float(np.finfo(np.float32).max):
            raise ValueError(f"scale = {scale!r:.40}, expected a number from 0")
        super().restore(state, update)
        self.scale = scale
