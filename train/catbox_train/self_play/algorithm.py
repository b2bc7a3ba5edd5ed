"""What every algorithm of self-play consists of: weights, optimizer, workers with their games, and opponents.

One network, the actor, plays every seat, unless there are opponents. Workers, in threads or in processes (`crew`),
play games side by side; in learning, each computes the gradient of its share of a minibatch; the shares are added up in
a fixed order, and one step of Adam moves the shared weights. So a run depends on its configuration alone, never on
timing, and a resumed run ends with the same weights, bit for bit, as one that was never stopped.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic

import numpy as np
import torch

from catbox_agents.networks.mlp import MLP
from catbox_env import Game
from catbox_train.algorithm import Algorithm, DivergedError, MakeCrew, TrainingState, algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST, Pool, pool_bytes
from catbox_train.self_play.adam import LARGEST_STEP
from catbox_train.self_play.crew import AnyWorker, Crew, Threads
from catbox_train.self_play.options import SelfPlayOptions, self_play_options
from catbox_train.self_play.processes import PROCESS_BYTES, Processes, SharedMemory, processes_possible
from catbox_train.self_play.update import Loss, Steps, make_steps
from catbox_train.self_play.weights import Actor, Allocate, SharedWeights, actor_size, weight_bytes
from catbox_train.self_play.worker import Worker


class SelfPlay(Algorithm, Generic[AnyWorker]):
    """The weights, the optimizer, and the workers with their games."""

    Options = SelfPlayOptions
    #: Takes the game, the configuration, the weights, its seed and its number.
    Worker: ClassVar[Callable[..., Any]]
    #: Decisions of a run from which on its workers have processes, on a CPU: it takes seconds to start them.
    processes_from: ClassVar[int] = 1_000_000

    def __init__(self, config: TrainConfig, game: Game, make_crew: MakeCrew | None = None) -> None:
        """``make_crew`` gives the workers where they are not on this machine, with weights as those of this process."""
        super().__init__(config, game)
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(1)  # the cores are taken by the workers
        seeds = np.random.SeedSequence(config.seed).spawn(config.num_workers)
        self.crew: Crew[AnyWorker]
        if make_crew is not None:
            self.weights = self.make_weights(config, game, only=0)
            self.crew = make_crew(config)
        # A class of another name would be another one in the processes.
        elif self.in_processes(config) and algorithm_class(config.algorithm) is type(self):
            memory = SharedMemory()
            try:
                self.crew = processes = Processes[AnyWorker](config, memory)
                try:
                    self.weights = self.make_weights(config, game, memory.allocate)
                    processes.begin(self.Worker(game, config, self.weights, seeds[0], 0), seeds)
                except BaseException:
                    processes.kill()
                    raise
            finally:
                memory.close()
        else:
            self.weights = self.make_weights(config, game)
            workers = [
                self.Worker(game, config, self.weights, seed, number) for number, seed in enumerate(seeds)
            ]
            self.crew = Threads(workers)
        self.optimizer = self.weights.optimizer
        self.pool = Pool(self.options, self.weights.past)
        self.updates_done = 0

    @classmethod
    def in_processes(cls, config: TrainConfig) -> bool:
        """Whether each worker of a run has a process of its own. It changes the speed, and no result."""
        return (
            config.device == "cpu"
            and config.num_workers > 1
            and config.num_updates * config.batch_size >= cls.processes_from
            and processes_possible(config)
        )

    @classmethod
    def memory_of_processes(cls, config: TrainConfig) -> int:
        """Bytes of the processes of the workers, beside what these keep."""
        return (config.num_workers - 1) * PROCESS_BYTES if cls.in_processes(config) else 0

    @property
    def workers(self) -> list[AnyWorker]:
        """The workers of this process."""
        return self.crew.workers

    @classmethod
    @abstractmethod
    def make_networks(cls, config: TrainConfig, game: Game) -> Actor:
        """All networks that are trained, with their first weights."""

    @classmethod
    def make_weights(
        cls,
        config: TrainConfig,
        game: Game,
        allocate: Allocate = torch.zeros,
        begin: bool = True,
        only: int | None = None,
    ) -> SharedWeights:
        """What the workers share; ``allocate``, ``begin`` and ``only`` as there."""
        options = self_play_options(config)
        networks = cls.make_networks(config, game)
        return SharedWeights(
            networks, options.precision, config.num_workers, options.pool_size(), allocate, begin, only
        )

    @abstractmethod
    def learn_at(self, through: float) -> dict[str, float]:
        """Improve the weights on what the workers have collected; the metrics of this update.

        ``through`` and errors as for ``update``.
        """

    def close(self) -> None:
        """End the workers."""
        self.crew.close()
        torch.set_num_threads(self._threads_before)

    def update(self, through: float) -> dict[str, float]:
        """Play a batch and learn from it."""
        self.begin_update(through)
        self.collect()
        learned = self.learn_at(through)
        self.updates_done += 1
        learned |= self.count_games()
        metrics = {f"learning/{name}": value for name, value in learned.items()}
        return metrics | {f"game/{name}": value for name, value in self.game_metrics().items()}

    def begin_update(self, through: float) -> None:
        """Tell the workers how far the run is, and who plays beside the learner in this update."""
        pool = self.pool
        self.crew.map(begin_update, self.updates_done, through, pool.count, pool.chances())

    def collect(self) -> None:
        """Let every worker play a batch."""
        self.crew.map(collect)

    def learning_rate(self, through: float) -> float:
        """The learning rate of an update."""
        return between(self.options.learning_rate, self.options.learning_rate_end, through)

    def make_steps(
        self, loss: Loss, names: Sequence[str], num_minibatches: int, learning_rate: float
    ) -> dict[str, float]:
        """Make all gradient steps of an update: the means over them of the metrics ``names`` that ``loss`` gives, and
        of the length of each network's gradient.

        Raises ``DivergedError`` for a metric, gradient or weight that is not finite, and what ``loss`` raises.
        """
        options, optimizer = self.options, self.optimizer
        steps = Steps(
            loss=loss,
            num_metrics=len(names),
            ready=tuple(self.crew.map(num_ready)),
            epochs=options.epochs,
            num_minibatches=num_minibatches,
            learning_rate=learning_rate,
            max_grad_norm=options.max_grad_norm,
            before=optimizer.num_steps,
        )
        metrics, norms = zip(*self.crew.map(make_steps, steps), strict=True)
        self.crew.fetch(self.weights)
        count = options.epochs * num_minibatches
        optimizer.num_steps += count
        # The lengths are those of whole gradients, the same for every worker.
        return self.checked_metrics(names, np.array(metrics).sum(axis=0) / count, norms[0] / count)

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
        ready = self.crew.map(num_ready)
        return min(max(1, sum(ready) // self.options.minibatch_size), max(ready))

    def game_metrics(self) -> dict[str, float]:
        """The game's statistics in self-play, means over the learner's seats and the rounds that ended."""
        found = self.crew.map(statistics_of)
        batches = [statistics for statistics, _ in found if statistics]
        names = batches[0] if batches else ()
        means = {name: float(np.concatenate([b[name] for b in batches]).mean()) for name in names}
        return means | {"rounds": float(sum(rounds for _, rounds in found))}

    def count_games(self) -> dict[str, float]:
        """Share of games that the learner won against each kind of opponent in this update; the pool is brought up to
        date."""
        if not self.options.opponents_in_training:
            return {}
        tallies = self.crew.map(tally_of)
        specs = self.options.opponent_agents()
        total = sum(tallies, np.zeros_like(tallies[0]))
        kinds = {**{spec: total[k] for k, spec in enumerate(specs)}, PAST: total[len(specs) :].sum(axis=0)}
        actor = self.weights.vector[self.weights.parts["actor"]].numpy()
        past = [tally[len(specs) :] for tally in tallies]
        if self.pool.end_update(self.updates_done, past, actor):
            self.crew.publish(self.weights, "past")
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
        for number, (worker_arrays, worker_values) in enumerate(self.crew.map(save)):
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
        if not isinstance(workers, list) or len(workers) != self.config.num_workers:
            raise ValueError(f"workers: expected the values of {self.config.num_workers}")
        pool_arrays = {k.removeprefix("pool."): v for k, v in arrays.items() if k.startswith("pool.")}
        pool_values = values.get("pool")
        if not isinstance(pool_values, dict):
            raise ValueError(f"pool = {pool_values!r:.40}, expected a mapping")
        try:
            self.pool.restore(pool_arrays, pool_values, update)
        except ValueError as error:
            raise ValueError(f"pool.{error}") from error
        each = []
        for number, worker_values in enumerate(workers):
            prefix = f"worker{number}."
            own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
            each.append((own, worker_values))
        self.crew.map(load, update, self.pool.count, each=each)
        self.weights.vector.copy_(torch.from_numpy(arrays["weights"]))
        self.weights.refresh()
        for name, moment in self.optimizer.state.items():
            moment.copy_(torch.from_numpy(arrays[f"adam.{name}"]))
        self.crew.publish(self.weights, *self.weights.kept())
        self.updates_done = update

    def check_step(self, step: float, update: int) -> None:
        """Raise ``ValueError`` for a number of Adam's steps that no run comes to after ``update`` updates."""
        rows = self.most_rows()
        most = update * self.options.epochs * max(1, rows // self.options.minibatch_size)
        if not step.is_integer() or not 0 <= step <= min(most, LARGEST_STEP):
            raise ValueError(f"adam.step = {step}, expected a whole number from 0 to {most}")

    def most_rows(self) -> int:
        """The largest number of rows that an update learns from."""
        return sum(rows * games for rows, games in self.crew.map(shape_of))


# What the workers are told to do.


def begin_update(worker: Worker, update: int, through: float, num_past: int, chances: np.ndarray) -> None:
    """See ``Worker.begin_update``."""
    worker.begin_update(update, through, num_past, chances)


def collect(worker: Worker) -> None:
    """Play a batch."""
    worker.collect()


def shape_of(worker: Worker) -> tuple[int, int]:
    """Rows and games of the buffer."""
    return worker.shape


def num_ready(worker: Worker) -> int:
    """How many rows can be learned from."""
    return len(worker.ready)


def statistics_of(worker: Worker) -> tuple[dict[str, np.ndarray], int]:
    """Statistics and number of the rounds that ended."""
    return worker.statistics, worker.rounds


def tally_of(worker: Worker) -> np.ndarray:
    """Games won and played against each opponent."""
    assert worker.tables
    return worker.tables.tally


def save(worker: Worker) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """See ``Worker.save``."""
    return worker.save()


def load(
    worker: Worker, update: int, num_past: int, arrays: dict[str, np.ndarray], values: dict[str, Any]
) -> None:
    """Go on after ``update`` updates; see ``Worker.load``."""
    worker.updates_done = update
    try:
        worker.load(arrays, values, num_past)
    except ValueError as error:
        raise ValueError(f"worker{worker.networks.number}.{error}") from error


def memory_of_weights(config: TrainConfig, game: Game, critic_size: int = 0) -> int:
    """Bytes of all weights and of the earlier policies; ``critic_size`` are the weights beside those of the actor."""
    options = self_play_options(config)
    size = actor_size(game, options)
    return weight_bytes(size + critic_size, config.num_workers) + pool_bytes(options, size)


def between(start: float, end: float, through: float) -> float:
    """The value at ``through``, 0 .. 1, on the straight line from ``start`` to ``end``."""
    return start + (end - start) * through
