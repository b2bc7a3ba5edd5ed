"""The gradient steps of one update, through which all workers go side by side.

For each minibatch, a worker computes the gradient of its share of the rows; adds up all shares for its part of the
weights; and moves that part. In between the workers wait for one another. Sums are always taken in the same order, so
the result does not depend on timing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from catbox_train.algorithm import DivergedError
from catbox_train.self_play.weights import SharedWeights
from catbox_train.self_play.worker import Worker

#: Parts of the weights begin at multiples of this: 64 bytes, a line of the cache, in bfloat16.
_ALIGNED = 32


#: Takes a worker, the rows (n,) of its share of a minibatch and the number of rows of all shares; fills the worker's
#: ``networks.gradient`` with its share of the gradient, and returns its share of the metrics (m,) float64.
Loss = Callable[[Any, np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Steps:
    """What an update does, the same for every worker.

    In each of ``epochs`` epochs the rows in the workers' ``ready``, of which worker w has ``ready[w]``, are shared out
    over ``num_minibatches`` minibatches; one worker at least has to have so many. ``max_grad_norm`` is the longest
    gradient of each network, ``num_metrics`` the number of metrics of ``loss``, ``before`` the number of steps that
    were made before this update.
    """

    loss: Loss
    num_metrics: int
    ready: tuple[int, ...]
    epochs: int
    num_minibatches: int
    learning_rate: float
    max_grad_norm: float
    before: int

    def size(self, index: int) -> int:
        """Rows of minibatch ``index``, all workers together."""
        lengths = [divmod(count, self.num_minibatches) for count in self.ready]
        return sum(length + (index < longer) for length, longer in lengths)


def make_steps(worker: Worker, steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Make all gradient steps of an update, as one worker among others that do the same.

    Returns the sum over the minibatches of the worker's shares of the metrics (m,), and that of the lengths of each
    network's gradient (networks,). The worker's rows in the last minibatch are in its ``last_rows``. Raises
    ``DivergedError`` for logits and gradients that are not finite, and for huge logits.
    """
    weights, number = worker.networks.weights, worker.networks.number
    parts = parts_of(weights, number, len(steps.ready))
    metrics, norms = np.zeros(steps.num_metrics), np.zeros(len(parts))
    for part in parts:
        weights.refresh(part)
    worker.meeting.wait(number)
    step = steps.before
    for _ in range(steps.epochs):
        for index, rows in enumerate(worker.shuffled_minibatches(steps.num_minibatches)):
            step += 1
            worker.last_rows = rows
            metrics += steps.loss(worker, rows, steps.size(index))
            norms += _make_step(worker, steps, parts, step)
    return metrics, norms


def _make_step(worker: Worker, steps: Steps, parts: list[slice], step: int) -> np.ndarray:
    """Move the worker's ``parts`` of the weights once all gradients are there; the length of each network's."""
    weights, number, meeting = worker.networks.weights, worker.networks.number, worker.meeting
    meeting.add_up_gradients(weights, number, parts)
    for network, part in enumerate(parts):
        gradient = weights.gradient[part]
        weights.squares[number, network] = float(gradient.dot(gradient))
    meeting.share_squares(weights, number)
    norms: np.ndarray = np.sqrt(weights.squares.sum(axis=0))
    # Networks share nothing, so a large error of the critic need not hold the actor back.
    for name, norm, part in zip(weights.parts, norms.tolist(), parts, strict=True):
        if not math.isfinite(norm):
            raise DivergedError(f"the gradient of the {name} is not finite")
        factor = min(1.0, steps.max_grad_norm / norm) if norm else 1.0
        weights.optimizer.move(weights.vector, weights.gradient, part, steps.learning_rate, step, factor)
        weights.refresh(part)
    meeting.share_weights(weights, number)
    return norms


def interval_of(length: int, number: int, count: int) -> slice:
    """The ones of ``length`` weights that worker ``number`` of ``count`` moves."""

    def bound(worker: int) -> int:
        return length if worker == count else length * worker // count // _ALIGNED * _ALIGNED

    return slice(bound(number), bound(number + 1))


def parts_of(weights: SharedWeights, number: int, count: int) -> list[slice]:
    """The weights of each network that worker ``number`` of ``count`` moves."""
    own = interval_of(len(weights.vector), number, count)
    return [
        slice(min(max(own.start, part.start), part.stop), min(max(own.stop, part.start), part.stop))
        for part in weights.parts.values()
    ]
