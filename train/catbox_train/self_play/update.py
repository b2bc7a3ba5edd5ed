"""The gradient steps of one update, by worker threads that go through all of them side by side.

For each minibatch, a worker computes the gradient of its share of the rows; adds up all shares for its part of the
weights; and moves that part. In between the workers wait for one another. Sums are always taken in the same order, so
the result does not depend on timing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import numpy as np

from catbox_train.runs.arrays import DivergedError
from catbox_train.self_play.adam import Adam
from catbox_train.self_play.weights import SharedWeights
from catbox_train.self_play.worker import Worker

#: Parts of the weights begin at multiples of this: 64 bytes, a line of the cache, in bfloat16.
_ALIGNED = 32


#: Takes a worker, the rows (n,) of its share of a minibatch and the number of rows of all shares; fills the worker's
#: ``networks.gradient`` with its share of the gradient, and returns its share of the metrics (m,) float64.
Loss = Callable[[Any, np.ndarray, int], np.ndarray]


@dataclass
class Update:
    """What an update does, the same for every worker.

    In each of ``epochs`` epochs the rows in the workers' ``ready`` are shared out over ``num_minibatches`` minibatches;
    one worker at least has to have so many. ``max_grad_norm`` is the longest gradient of each network. Afterwards
    ``metrics`` (workers, m) holds each worker's sum over the minibatches of its shares of the ``num_metrics`` metrics
    of ``loss``, ``norms`` (networks,) the sum of the lengths of each network's gradients, and ``last_rows`` the rows
    (n,) of each worker in the last minibatch.
    """

    weights: SharedWeights
    optimizer: Adam
    workers: Sequence[Worker]
    loss: Loss
    num_metrics: int
    epochs: int
    num_minibatches: int
    learning_rate: float
    max_grad_norm: float
    metrics: np.ndarray = field(init=False)
    norms: np.ndarray = field(init=False)
    last_rows: list[np.ndarray] = field(init=False)

    def run(self, pool: Executor) -> None:
        """Make all gradient steps, each worker in a thread of ``pool``, which has to have one for each.

        Raises ``DivergedError`` for logits and gradients that are not finite, and for huge logits.
        """
        count = len(self.workers)
        self.metrics = np.zeros((count, self.num_metrics))
        self.norms = np.zeros(len(self.weights.parts))
        self.last_rows = [worker.ready for worker in self.workers]
        self._squares = np.zeros((count, len(self.weights.parts)))
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
        self.metrics[number] += self.loss(self.workers[number], rows, size)
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
        # Networks share nothing, so a large error of the critic need not hold the actor back.
        for name, norm, part in zip(weights.parts, norms.tolist(), parts, strict=True):
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

    def _parts(self, number: int) -> list[slice]:
        """The weights of each network that worker ``number`` moves."""
        length, count = len(self.weights.vector), len(self.workers)

        def bound(worker: int) -> int:
            return length if worker == count else length * worker // count // _ALIGNED * _ALIGNED

        start, stop = bound(number), bound(number + 1)
        return [
            slice(min(max(start, part.start), part.stop), min(max(stop, part.start), part.stop))
            for part in self.weights.parts.values()
        ]


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
