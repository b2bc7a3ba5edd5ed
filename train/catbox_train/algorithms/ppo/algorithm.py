"""PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) in self-play, read from ``PPO.update`` down.

One network plays every seat. Worker threads play games side by side; each seat's transition runs from its own
decision to its own next one (``gae``), illegal actions do not exist for the policy (``distribution``). In learning,
each worker computes the gradient of its share of a minibatch; the shares are added up in a fixed order, and one
step of Adam moves the shared weights. So a run depends on its configuration alone, never on timing, and a resumed
run ends with the same weights, bit for bit, as one that was never stopped. On a GPU, the networks play, evaluate and
learn as ``on_device`` says; all the rest is the same.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn.utils import vector_to_parameters

from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import Algorithm, TrainingState
from catbox_train.algorithms.ppo.adam import LARGEST_STEP, Adam
from catbox_train.algorithms.ppo.loss import (
    LEARNING_METRICS,
    check_outputs,
    explained_variance,
    normalise_advantages,
)
from catbox_train.algorithms.ppo.networks import ActorCritic, SharedWeights, actor_size, weight_bytes
from catbox_train.algorithms.ppo.on_device import OnDevice
from catbox_train.algorithms.ppo.options import PPOOptions, ppo_options
from catbox_train.algorithms.ppo.rollout import Worker, buffer_bytes, check_enough_to_learn
from catbox_train.algorithms.ppo.update import Update
from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST, Pool, pool_bytes
from catbox_train.runs.arrays import DivergedError


class PPO(Algorithm):
    """The weights, the optimizer, and the workers with their games."""

    Options = PPOOptions

    def __init__(self, config: TrainConfig, game: Game) -> None:
        super().__init__(config, game)
        self.options: PPOOptions = ppo_options(config)
        networks = ActorCritic(game, self.options, config.seed)
        self.weights = SharedWeights(networks, self.options.precision, config.num_workers)
        self.optimizer = Adam(len(self.weights.vector))
        seeds = np.random.SeedSequence(config.seed).spawn(config.num_workers)
        self.workers = [Worker(game, config, self.weights, seed, number) for number, seed in enumerate(seeds)]
        self.pool = Pool(self.options, self.weights.actor.stop)
        self.updates_done = 0
        self.on_device: OnDevice | None = None
        if device := accelerator(config):
            self.on_device = OnDevice(device, config, self.weights, self.optimizer.state, self.workers)
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(1)  # the cores are taken by the workers
        self.threads = ThreadPoolExecutor(config.num_workers, initializer=partial(torch.set_num_threads, 1))

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Bytes of the weights, of a batch and of the earlier policies."""
        options = ppo_options(config)
        weights = weight_bytes(game, options, config.num_workers) + pool_bytes(
            options, actor_size(game, options)
        )
        return weights + buffer_bytes(game, config)

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown()
        torch.set_num_threads(self._threads_before)

    def update(self, through: float) -> dict[str, float]:
        """Play a batch and learn from it.

        Raises ``ValueError`` for a batch with too few decisions to learn from, and when a GPU runs out of memory.
        """
        try:
            return self._update(through)
        except torch.cuda.OutOfMemoryError as error:
            raise ValueError(
                f"{self.config.device} has run out of memory: make minibatch_size, batch_size or num_envs smaller"
            ) from error

    def _update(self, through: float) -> dict[str, float]:
        options = self.options
        learning_rate = _between(options.learning_rate, options.learning_rate_end, through)
        entropy_weight = _between(options.entropy, options.entropy_end, through)
        self.invite_opponents()
        if self.on_device:
            self.on_device.collect(self.updates_done, self.threads)
        else:
            list(self.threads.map(Worker.collect, self.workers))
        learned = self.learn(learning_rate, entropy_weight)
        self.updates_done += 1
        learned |= self.count_games()
        metrics = {f"learning/{name}": value for name, value in learned.items()}
        return metrics | {f"game/{name}": value for name, value in self.game_metrics().items()}

    def learn(self, learning_rate: float, entropy_weight: float) -> dict[str, float]:
        """Improve the weights on what the workers have collected; the metrics of this update.

        Raises ``DivergedError`` for a loss, gradient, weight or output that is not finite, and for huge logits;
        ``ValueError`` for a batch with fewer decisions to learn from than minibatches.
        """
        weights = self.weights
        check_enough_to_learn(self.workers, self.updates_done + 1)
        for worker in self.workers:
            if not np.isfinite(worker.returns.reshape(-1)[worker.ready]).all():
                raise DivergedError("a value of the critic is not finite")
        explained = explained_variance(self.workers)
        normalise_advantages(self.workers)
        if self.on_device:
            means, norms = self.on_device.learn(learning_rate, entropy_weight)
        else:
            means, norms, last_rows = self.make_steps(learning_rate, entropy_weight)
        for name, part in (("actor", weights.actor), ("critic", weights.critic)):
            if not weights.vector[part].isfinite().all():
                raise DivergedError(f"a weight of the {name} is not finite")
        for name, moment in self.optimizer.state.items():
            if not moment.isfinite().all():
                raise DivergedError(f"Adam's {name} is not finite")
        for name, value in zip(LEARNING_METRICS, means, strict=True):
            if not math.isfinite(value):
                raise DivergedError(f"{name} is not finite")
        # What the last step made of the networks.
        if self.on_device:
            self.on_device.check_outputs()
        else:
            list(self.threads.map(check_outputs, self.workers, last_rows))
        metrics = dict(zip(LEARNING_METRICS, means.tolist(), strict=True))
        metrics |= {"actor_grad_norm": float(norms[0]), "critic_grad_norm": float(norms[1])}
        metrics |= {"explained_variance": explained}
        return metrics | {"learning_rate": learning_rate, "entropy_weight": entropy_weight}

    def make_steps(
        self, learning_rate: float, entropy_weight: float
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """All gradient steps of an update on the CPU: the means over them of ``LEARNING_METRICS`` (5,) and of the
        lengths of the actor's and the critic's gradients (2,), and the last minibatch, rows (n,) of each worker."""
        options, num_minibatches = self.options, self.config.batch_size // self.options.minibatch_size
        update = Update(
            weights=self.weights,
            optimizer=self.optimizer,
            workers=self.workers,
            epochs=options.epochs,
            num_minibatches=num_minibatches,
            learning_rate=learning_rate,
            clip=options.clip,
            entropy_weight=entropy_weight,
            max_grad_norm=options.max_grad_norm,
        )
        update.run(self.threads)
        steps = options.epochs * num_minibatches
        return update.metrics.sum(axis=0) / steps, update.norms / steps, update.last_rows

    def game_metrics(self) -> dict[str, float]:
        """The game's statistics in self-play, means over the learner's seats and the rounds that ended."""
        batches = [worker.statistics for worker in self.workers if worker.statistics]
        names = batches[0] if batches else ()
        means = {name: float(np.concatenate([b[name] for b in batches]).mean()) for name in names}
        return means | {"rounds": float(sum(worker.rounds for worker in self.workers))}

    def invite_opponents(self) -> None:
        """Tell the workers who plays beside the learner in this update."""
        networks = []
        for vector in self.pool.vectors[: self.pool.count]:
            networks.append(self.policy())
            vector_to_parameters(torch.from_numpy(vector), networks[-1].parameters())
        for number, worker in enumerate(self.workers):
            if worker.tables:
                seeds = np.random.SeedSequence([self.config.seed, number, self.updates_done]).spawn(
                    len(networks)
                )
                past = [
                    PolicyAgent(network, self.game, seed, greedy=False)
                    for network, seed in zip(networks, seeds, strict=True)
                ]
                worker.tables.begin_update(self.updates_done, self.pool.chances(), past)

    def count_games(self) -> dict[str, float]:
        """Share of games that the learner won against each kind of opponent in this update; the pool is brought up to
        date."""
        tallies = [worker.tables.tally for worker in self.workers if worker.tables]
        if not tallies:
            return {}
        specs = self.options.agents_in_training()
        total = sum(tallies, np.zeros_like(tallies[0]))
        kinds = {**{spec: total[k] for k, spec in enumerate(specs)}, PAST: total[len(specs) :].sum(axis=0)}
        actor = self.weights.vector[self.weights.actor].numpy()
        self.pool.end_update(self.updates_done, [tally[len(specs) :] for tally in tallies], actor)
        return {f"beats_{name}": float(wins / games) for name, (wins, games) in kinds.items() if games}

    def policy(self) -> MLP:
        """A copy of the actor."""
        return self.weights.actor_to_play()

    def state(self) -> TrainingState:
        """Weights, Adam's moments, and what the workers carry over from one batch to the next."""
        moments = self.optimizer.state
        arrays = {"weights": self.weights.vector.numpy()}
        arrays |= {f"adam.{name}": moment.numpy() for name, moment in moments.items()}
        values: dict[str, Any] = {"workers": []}
        for number, worker in enumerate(self.workers):
            worker_arrays, worker_values = worker.save()
            arrays |= {f"worker{number}.{name}": array for name, array in worker_arrays.items()}
            values["workers"].append(worker_values)
        pool_arrays, values["pool"] = self.pool.state()
        arrays |= {f"pool.{name}": array for name, array in pool_arrays.items()}
        return TrainingState(arrays, values)

    def restore(self, state: TrainingState, update: int) -> None:
        """Go on from ``state``. Raises ``ValueError`` for what no run comes to after ``update`` updates."""
        arrays, values = state.arrays, state.values
        steps = update * self.options.epochs * (self.config.batch_size // self.options.minibatch_size)
        if arrays["adam.step"] != min(steps, LARGEST_STEP):
            raise ValueError(f"adam.step = {arrays['adam.step']}, expected {steps}")
        if not (arrays["adam.exp_avg_sq"] >= 0).all():
            raise ValueError("adam.exp_avg_sq holds squares under 0")
        workers = values.get("workers")
        if not isinstance(workers, list) or len(workers) != len(self.workers):
            raise ValueError(f"workers: expected the values of {len(self.workers)}")
        pool_arrays = {k.removeprefix("pool."): v for k, v in arrays.items() if k.startswith("pool.")}
        pool_values = values.get("pool")
        if not isinstance(pool_values, dict):
            raise ValueError(f"pool = {pool_values!r:.40}, expected a mapping")
        try:
            self.pool.restore(pool_arrays, pool_values, update)
        except ValueError as error:
            raise ValueError(f"pool.{error}") from error
        for number, worker in enumerate(self.workers):
            prefix = f"worker{number}."
            own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
            try:
                worker.load(own, workers[number], self.pool.count)
            except ValueError as error:
                raise ValueError(f"{prefix}{error}") from error
        self.weights.vector.copy_(torch.from_numpy(arrays["weights"]))
        self.weights.refresh()
        for name, moment in self.optimizer.state.items():
            moment.copy_(torch.from_numpy(arrays[f"adam.{name}"]))
        self.updates_done = update


def accelerator(config: TrainConfig) -> torch.device | None:
    """The device that the networks of a run are on, None for the CPU."""
    return None if config.device == "cpu" else torch.device(config.device)


def _between(start: float, end: float, through: float) -> float:
    return start + (end - start) * through
