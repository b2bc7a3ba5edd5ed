"""PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) in self-play, read from ``SelfPlay.update`` down.

One network plays every seat. Each seat's transition runs from its own decision to its own next one (``gae``), illegal
actions do not exist for the policy (``distribution``). On a GPU, the networks play, evaluate and learn as ``on_device``
says; all the rest is the same.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
import torch

from catbox_env import Game
from catbox_train.algorithm import DivergedError, MakeCrew
from catbox_train.algorithms.ppo.devices import Devices
from catbox_train.algorithms.ppo.loss import (
    LEARNING_METRICS,
    check_outputs,
    explained_variance,
    learned_from,
    loss_gradient,
    mean_and_deviation,
    normalise_advantages,
)
from catbox_train.algorithms.ppo.networks import ActorCritic, critic_size
from catbox_train.algorithms.ppo.on_device import OnDevice
from catbox_train.algorithms.ppo.options import PPOOptions, ppo_options
from catbox_train.algorithms.ppo.rollout import Worker, check_enough_to_learn
from catbox_train.config import TrainConfig
from catbox_train.self_play.adam import LARGEST_STEP
from catbox_train.self_play.algorithm import SelfPlay, between, memory_of_weights
from catbox_train.self_play.crew import Threads
from catbox_train.self_play.worker import buffer_bytes


class PPO(SelfPlay[Worker]):
    """Actor and critic, the optimizer, and the workers with their games."""

    Options = PPOOptions
    Worker = Worker
    options: PPOOptions

    def __init__(self, config: TrainConfig, game: Game, make_crew: MakeCrew | None = None) -> None:
        super().__init__(config, game, make_crew)
        self.on_device: OnDevice | Devices | None = None
        device = accelerator(config)
        if device and make_crew:
            self.on_device = Devices(config.device, config, self.crew, self.optimizer)
        elif device:
            self.on_device = OnDevice(device, config, self.weights, self.optimizer.state, self.workers)

    @classmethod
    def make_networks(cls, config: TrainConfig, game: Game) -> ActorCritic:
        """Actor and critic; the actor is that of ``start_from`` if it is given.

        Raises ``ValueError`` where that checkpoint is not there, damaged, of another network or game, or no policy.
        """
        networks = ActorCritic(game, ppo_options(config), config.seed)
        networks.start_from(ppo_options(config).start_from, game)
        return networks

    @classmethod
    def check_run(cls, config: TrainConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` that cannot be used."""
        if ppo_options(config).start_from:
            cls.make_networks(config, game)

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Bytes of the weights, of a batch and of the earlier policies."""
        options = ppo_options(config)
        buffer = buffer_bytes(game, config, game.num_players, options.privileged_critic)
        weights = memory_of_weights(config, game, critic_size(game, options))
        return buffer + weights + cls.memory_of_processes(config)

    @classmethod
    def in_processes(cls, config: TrainConfig) -> bool:
        """Never where the networks are on a GPU: then the workers only play."""
        return accelerator(config) is None and super().in_processes(config)

    def update(self, through: float) -> dict[str, float]:
        """Play a batch and learn from it.

        Raises ``ValueError`` for a batch with too few decisions to learn from, and when a GPU runs out of memory.
        """
        try:
            return super().update(through)
        except torch.cuda.OutOfMemoryError as error:
            raise ValueError(
                f"{self.config.device} has run out of memory: make minibatch_size, batch_size or num_envs smaller"
            ) from error

    def collect(self) -> None:
        """Let every worker play a batch, with the networks where they are."""
        if isinstance(self.on_device, Devices):
            self.on_device.collect(self.updates_done)
        elif self.on_device:
            self.on_device.collect(self.updates_done, cast(Threads[Worker], self.crew).pool)
        else:
            super().collect()

    def learn_at(self, through: float) -> dict[str, float]:
        """Improve the weights with the learning rate and entropy weight of this update."""
        entropy_weight = between(self.options.entropy, self.options.entropy_end, through)
        return self.learn(self.learning_rate(through), entropy_weight)

    def learn(self, learning_rate: float, entropy_weight: float) -> dict[str, float]:
        """Improve the weights on what the workers have collected; the metrics of this update.

        Raises ``DivergedError`` for a loss, gradient, weight or output that is not finite, and for huge logits;
        ``ValueError`` for a batch with fewer decisions to learn from than minibatches.
        """
        options = self.options
        returns, advantages = zip(*self.crew.map(learned_from), strict=True)
        check_enough_to_learn(self.config, [len(part) for part in returns], self.updates_done + 1)
        everything, errors = np.concatenate(returns), np.concatenate(advantages)
        if not np.isfinite(everything).all():
            raise DivergedError("a value of the critic is not finite")
        explained = explained_variance(everything, errors)
        self.crew.map(normalise_advantages, *mean_and_deviation(errors))
        if self.on_device:
            means, norms = self.on_device.learn(learning_rate, entropy_weight)
            self.crew.fetch(self.weights)
            metrics = self.checked_metrics(LEARNING_METRICS, means, norms)
            self.on_device.check_outputs()
        else:
            loss = partial(loss_gradient, clip=options.clip, entropy_weight=entropy_weight)
            metrics = self.make_steps(
                loss, LEARNING_METRICS, self.config.batch_size // options.minibatch_size, learning_rate
            )
            # What the last step made of the networks.
            self.crew.map(check_outputs)
        metrics |= {"explained_variance": explained}
        return metrics | {"learning_rate": learning_rate, "entropy_weight": entropy_weight}

    def check_step(self, step: float, update: int) -> None:
        """Every update makes the same number of steps."""
        steps = update * self.options.epochs * (self.config.batch_size // self.options.minibatch_size)
        if step != min(steps, LARGEST_STEP):
            raise ValueError(f"adam.step = {step}, expected {steps}")


def accelerator(config: TrainConfig) -> torch.device | None:
    """The device that the networks of a run are on, None for the CPU."""
    return None if config.device == "cpu" else torch.device(config.device)
