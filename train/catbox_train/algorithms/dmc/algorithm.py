"""Deep Monte Carlo (DouZero, Zha et al. 2021, https://arxiv.org/abs/2106.06135) in self-play.

The actor's output for an action is the value of that action: what the seat will be paid from here to the end of the
game. It plays the action of the highest value, in training now and then a random one, and learns from the returns of
its games (``returns``). Nothing is estimated from estimates, so the values are unbiased for the way it plays, but
noisy.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from catbox_env import Game
from catbox_train.algorithm import MakeCrew, TrainingState
from catbox_train.algorithms.dmc.loss import check_outputs, loss_gradient
from catbox_train.algorithms.dmc.options import DMCOptions, dmc_options
from catbox_train.algorithms.dmc.rollout import Worker
from catbox_train.config import TrainConfig
from catbox_train.self_play.algorithm import SelfPlay, memory_of_weights
from catbox_train.self_play.weights import Actor
from catbox_train.self_play.worker import buffer_bytes


class DMC(SelfPlay[Worker]):
    """The network of values, the optimizer, and the workers with their games.

    ``scale``: the values that the network gives are in units of this many points, the standard deviation of the
    returns in the first update that learned; 0 before it.
    """

    Options = DMCOptions
    Worker = Worker
    options: DMCOptions

    def __init__(self, config: TrainConfig, game: Game, make_crew: MakeCrew | None = None) -> None:
        super().__init__(config, game, make_crew)
        self.scale = 0.0

    @classmethod
    def make_networks(cls, config: TrainConfig, game: Game) -> Actor:
        """The network of values."""
        return Actor(game, dmc_options(config), torch.Generator().manual_seed(config.seed))

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Bytes of the weights, of a batch and the decisions that wait, and of the earlier policies."""
        buffer = buffer_bytes(game, config, game.history_length)
        return buffer + memory_of_weights(config, game) + cls.memory_of_processes(config)

    def update(self, through: float) -> dict[str, float]:
        """Play a batch and learn from it."""
        return super().update(through) | {"learning/epsilon": self.options.epsilon_at(through)}

    def learn_at(self, through: float) -> dict[str, float]:
        """Improve the values on the games that have ended; if none has, nothing is learned."""
        learning_rate = self.learning_rate(through)
        returns = np.concatenate(self.crew.map(returns_of))
        learned = {"decisions": float(len(returns)), "learning_rate": learning_rate}
        if not len(returns):
            return learned
        variance = returns.var(dtype=np.float64)
        self.scale = self.scale or float(np.sqrt(variance)) or 1.0
        loss = partial(loss_gradient, scale=self.scale)
        metrics = self.make_steps(loss, ["value_loss"], self.num_minibatches(), learning_rate)
        # What the last step made of the network.
        self.crew.map(check_outputs)
        error = 2 * metrics["value_loss"] * self.scale**2
        explained = float(1 - error / variance) if variance > 0 else 0.0
        return metrics | learned | {"explained_variance": explained}

    def state(self) -> TrainingState:
        """The state of every algorithm of self-play, and the scale."""
        state = super().state()
        return TrainingState(state.arrays, {**state.values, "scale": self.scale})

    def restore(self, state: TrainingState, update: int) -> None:
        """Go on from ``state``. Raises ``ValueError`` for what no run comes to after ``update`` updates."""
        scale: Any = state.values.get("scale")
        if type(scale) is not float or not 0 <= scale < float(np.finfo(np.float32).max):
            raise ValueError(f"scale = {scale!r:.40}, expected a number from 0")
        self.check_step(float(state.arrays["adam.step"]), update)
        if (scale > 0) != (state.arrays["adam.step"] > 0):
            raise ValueError(
                f"scale = {scale} after {state.arrays['adam.step']} steps: it is set by the first one"
            )
        super().restore(state, update)
        self.scale = scale


def returns_of(worker: Worker) -> np.ndarray:
    """Returns (n,) float32 of the decisions that can be learned from."""
    returns: np.ndarray = worker.flat["returns"][worker.ready]
    return returns
