"""What every algorithm of self-play consists of: weights, optimizer, workers with their games, and opponents.

One network, the actor, plays every seat, unless there are opponents. Worker threads play games side by side; in
learning, each worker computes the gradient of its share of a minibatch; the shares are added up in a fixed order, and
one step of Adam moves the shared weights. So a run depends on its configuration alone, never on timing, and a resumed
run ends with the same weights, bit for bit, as one that was never stopped.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch.nn.utils import vector_to_parameters

from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import Algorithm, TrainingState
from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST, Pool, pool_bytes
from catbox_train.runs.arrays import DivergedError
from catbox_train.self_play.adam import LARGEST_STEP, Adam
from catbox_train.self_play.options import SelfPlayOptions, self_play_options
from catbox_train.self_play.update import Loss, Update
from catbox_train.self_play.weights import Actor, SharedWeights, actor_size, weight_bytes
from catbox_train.self_play.worker import Worker

AnyWorker = TypeVar("AnyWorker", bound=Worker)


class SelfPlay(Algorithm, Generic[AnyWorker]):
    """The weights, the optimizer, and the workers with their games."""

    Options = SelfPlayOptions

    def __init__(self, config: TrainConfig, game: Game) -> None:
        super().__init__(config, game)
        self.weights = SharedWeights(
            self.make_networks(), self_play_options(config).precision, config.num_workers
        )
        self.optimizer = Adam(len(self.weights.vector))
        seeds = np.random.SeedSequence(config.seed).spawn(config.num_workers)
        self.workers = [self.make_worker(seed, number) for number, seed in enumerate(seeds)]
        self.pool = Pool(self.options, self.weights.parts["actor"].stop)
        self.updates_done = 0
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(1)  # the cores are taken by the workers
        self.threads = ThreadPoolExecutor(config.num_workers, initializer=partial(torch.set_num_threads, 1))

    @abstractmethod
    def make_networks(self) -> Actor:
        """All networks that are trained, with their first weights."""

    @abstractmethod
    def make_worker(self, seed: np.random.SeedSequence, number: int) -> AnyWorker:
        """Worker ``number``, which draws everything from ``seed``."""

    @abstractmethod
    def learn_at(self, through: float) -> dict[str, float]:
        """Improve the weights on what the workers have collected; the metrics of this update.

        ``through`` and errors as for ``update``.
        """

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown()
        torch.set_num_threads(self._threads_before)

    def update(self, through: float) -> dict[str, float]:
        """Play a batch and learn from it."""
        self.invite_opponents()
        self.collect()
        learned = self.learn_at(through)
        self.updates_done += 1
        learned |= self.count_games()
        metrics = {f"learning/{name}": value for name, value in learned.items()}
        return metrics | {f"game/{name}": value for name, value in self.game_metrics().items()}

    def collect(self) -> None:
        """Let every worker play a batch."""
        list(self.threads.map(lambda worker: worker.collect(), self.workers))

    def learning_rate(self, through: float) -> float:
        """The learning rate of an update."""
        return between(self.options.learning_rate, self.options.learning_rate_end, through)

    def make_steps(
        self, loss: Loss, names: Sequence[str], num_minibatches: int, learning_rate: float
    ) -> tuple[dict[str, float], Update]:
        """All gradient steps of an update: the means over them of the metrics ``names`` that ``loss`` gives, and of the
        length of each network's gradient.

        Raises ``DivergedError`` for a metric, gradient or weight that is not finite, and what ``loss`` raises.
        """
        options = self.options
        update = Update(
            weights=self.weights,
            optimizer=self.optimizer,
            workers=self.workers,
            loss=loss,
            num_metrics=len(names),
            epochs=options.epochs,
            num_minibatches=num_minibatches,
            learning_rate=learning_rate,
            max_grad_norm=options.max_grad_norm,
        )
        update.run(self.threads)
        steps = options.epochs * num_minibatches
        metrics = self.checked_metrics(names, update.metrics.sum(axis=0) / steps, update.norms / steps)
        return metrics, update

    def checked_metrics(self, names: Sequence[str], means: np.ndarray, norms: np.ndarray) -> dict[str, float]:
        """The metrics of an update: the ``means`` of ``names``, and the mean lengths of the networks' gradients.

        Raises ``DivergedError`` for a metric or a weight that is not finite.
        """
        weights = self.weights
        for name, part in weights.parts.items():
            if not weights.vector[part].isfinite().all():
                raise DivergedError(f"a weight of the {name} is not finite")
        for name, moment in self.optimizer.state.items():
            if not moment.isfinite().all():
                raise DivergedError(f"Adam's {name} is not finite")
        for name, value in zip(names, means, strict=True):
            if not math.isfinite(value):
                raise DivergedError(f"{name} is not finite")
        metrics = dict(zip(names, means.tolist(), strict=True))
        return metrics | {
            f"{name}_grad_norm": float(norm) for name, norm in zip(weights.parts, norms, strict=True)
        }

    def num_minibatches(self) -> int:
        """How many minibatches of about ``minibatch_size`` rows can be made of the rows that are ready; 0 for none."""
        ready = [len(worker.ready) for worker in self.workers]
        return min(max(1, sum(ready) // self.options.minibatch_size), max(ready))

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
                past = [self.past_agent(network, seed) for network, seed in zip(networks, seeds, strict=True)]
                worker.tables.begin_update(self.updates_done, self.pool.chances(), past)

    def past_agent(self, network: MLP, seed: np.random.SeedSequence) -> PolicyAgent:
        """How an earlier policy plays."""
        return PolicyAgent(network, self.game, seed, greedy=False)

    def count_games(self) -> dict[str, float]:
        """Share of games that the learner won against each kind of opponent in this update; the pool is brought up to
        date."""
        tallies = [worker.tables.tally for worker in self.workers if worker.tables]
        if not tallies:
            return {}
        specs = self.options.opponent_agents()
        total = sum(tallies, np.zeros_like(tallies[0]))
        kinds = {**{spec: total[k] for k, spec in enumerate(specs)}, PAST: total[len(specs) :].sum(axis=0)}
        actor = self.weights.vector[self.weights.parts["actor"]].numpy()
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
        self.check_step(float(arrays["adam.step"]), update)
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

    def check_step(self, step: float, update: int) -> None:
        """Raise ``ValueError`` for a number of Adam's steps that no run comes to after ``update`` updates."""
        rows = self.most_rows()
        most = update * self.options.epochs * max(1, rows // self.options.minibatch_size)
        if not step.is_integer() or not 0 <= step <= min(most, LARGEST_STEP):
            raise ValueError(f"adam.step = {step}, expected a whole number from 0 to {most}")

    def most_rows(self) -> int:
        """The largest number of rows that an update learns from."""
        return sum(worker.shape[0] * worker.shape[1] for worker in self.workers)


def memory_of_weights(config: TrainConfig, game: Game, critic_size: int = 0) -> int:
    """Bytes of all weights and of the earlier policies; ``critic_size`` are the weights beside those of the actor."""
    options = self_play_options(config)
    size = actor_size(game, options)
    return weight_bytes(size + critic_size, config.num_workers) + pool_bytes(options, size)


def between(start: float, end: float, through: float) -> float:
    """The value at ``through``, 0 .. 1, on the straight line from ``start`` to ``end``."""
    return start + (end - start) * through
