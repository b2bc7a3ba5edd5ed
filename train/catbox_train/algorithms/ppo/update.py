"""The gradient steps of one update, by worker threads that go through all of them side by side.

For each minibatch, a worker computes the gradient of its share of the rows; adds up all shares for its part of the
weights; and moves that part. In between the workers wait for one another. Sums are always taken in the same order, so
the result does not depend on timing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np

from catbox_train.algorithms.ppo.adam import Adam
from catbox_train.algorithms.ppo.loss import LEARNING_METRICS, loss_gradient
from catbox_train.algorithms.ppo.networks import SharedWeights
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.runs.arrays import DivergedError

#: Parts of the weights begin at multiples of this: 64 bytes, a line of the cache, in bfloat16.
_ALIGNED = 32


@dataclass
class Update:
    """What an update does, the same for every worker.

    ``learning_rate``, ``clip``, ``entropy_weight``, ``max_grad_norm`` (of actor and critic each) and ``epochs`` are
    settings of PPO. Afterwards ``metrics`` (workers, 5) holds each worker's sum over the minibatches of its shares of
    ``LEARNING_METRICS``, ``norms`` (2,) the sum of the lengths of the actor's and the critic's gradients, and
    ``last_rows`` the rows (n,) of each worker in the last minibatch.
    """

    weights: SharedWeights
    optimizer: Adam
    workers: Sequence[Worker]
    epochs: int
    num_minibatches: int
    learning_rate: float
    clip: float
    entropy_weight: float
    max_grad_norm: float
    metrics: np.ndarray = field(init=False)
    norms: np.ndarray = field(init=False)
    last_rows: list[np.ndarray] = field(init=False)

    def run(self, pool: Executor) -> None:
        """Make all gradient steps, each worker in a thread of ``pool``, which has to have one for each.

        Raises ``DivergedError`` for logits and gradients that are not finite, and for huge logits.
        """
        count = len(self.workers)
        self.metrics = np.zeros((count, len(LEARNING_METRICS)))
        self.norms = np.zeros(2)
        self.last_rows = [worker.ready for worker in self.workers]
        self._squares = np.zeros((count, 2))
        self._steps_before = self.optimizer.num_steps
        self._meeting = Meeting(count)
        self.weights.refresh()
        futures = [pool.submit(self._work, number) for number in range(count)]
        try:
            errors = [future.exception() for future in futures]
        except BaseException:  # Ctrl-C: nobody waits for these steps any more
            self._meeting.leave()
            raise
        for error in sorted(filter(None, errors), key=lambda e: isinstance(e, threading.BrokenBarrierError)):
            raise error
        self.optimizer.num_steps = self._steps_before + self.epochs * self.num_minibatches

    def _work(self, number: int) -> None:
        """What the thread of worker ``number`` does."""
        try:
            step = self._steps_before
            for _ in range(self.epochs):
                for index, rows in enumerate(self.workers[number].shuffled_minibatches(self.num_minibatches)):
                    step += 1
                    self.last_rows[number] = rows
                    self._step(number, rows, self._size(index), step)
        except BaseException:
            self._meeting.leave()
            raise

    def _step(self, number: int, rows: np.ndarray, size: int, step: int) -> None:
        weights = self.weights
        metrics = loss_gradient(self.workers[number], rows, self.clip, self.entropy_weight, size)
        self.metrics[number] += metrics
        self._meeting.wait(number)
        parts = self._parts(number)
        for network, part in enumerate(parts):
            weights.add_up_shares(part)
            gradient = weights.gradient[part]
            self._squares[number, network] = float(gradient.dot(gradient))
        self._meeting.wait(number)
        norms = np.sqrt(self._squares.sum(axis=0))
        if number == 0:
            self.norms += norms
        # The two share nothing, so a large error of the critic need not hold the actor back.
        for name, norm, part in zip(("actor", "critic"), norms.tolist(), parts, strict=True):
            if not math.isfinite(norm):
                raise DivergedError(f"the gradient of the {name} is not finite")
            factor = min(1.0, self.max_grad_norm / norm) if norm else 1.0
            self.optimizer.move(weights.vector, weights.gradient, part, self.learning_rate, step, factor)
            weights.refresh(part)
        self._meeting.wait(number)

    def _size(self, index: int) -> int:
        """Rows of minibatch ``index``, all workers together."""
        lengths = [divmod(len(worker.ready), self.num_minibatches) for worker in self.workers]
        return sum(length + (index < longer) for length, longer in lengths)

    def _parts(self, number: int) -> tuple[slice, slice]:
        """The weights of the actor and of the critic that worker ``number`` moves."""
        length, count = len(self.weights.vector), len(self.workers)

        def bound(worker: int) -> int:
            return length if worker == count else length * worker // count // _ALIGNED * _ALIGNED

        start, stop, middle = bound(number), bound(number + 1), self.weights.actor.stop
        return slice(min(start, middle), min(stop, middle)), slice(max(start, middle), max(stop, middle))


class Meeting:
    """Where ``count`` threads wait for one another, again and again: as ``threading.Barrier``, in half the time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._arrived = 0
        self._lock = threading.Lock()
        self._gates: list[SimpleQueue[bool]] = [SimpleQueue() for _ in range(count)]

    def wait(self, number: int) -> None:
        """Thread ``number`` waits for all others. Raises ``threading.BrokenBarrierError`` once one of them has left."""
        with self._lock:
            self._arrived += 1
            last = self._arrived % self._count == 0
        if last:
            for other, gate in enumerate(self._gates):
                if other != number:
                    gate.put(True)
        elif not self._gates[number].get():
            raise threading.BrokenBarrierError

    def leave(self) -> None:
        """Never come again: the others do not wait for this thread."""
        for gate in self._gates:
            gate.put(False)
