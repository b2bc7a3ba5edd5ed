"""The loss of Deep Monte Carlo, half the squared error of the value of the action that was taken, and its gradient."""

from __future__ import annotations

import numpy as np
import torch

from catbox_agents.networks.action_head import add_score_gradient
from catbox_env.core.compilation import cached_njit
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.dmc.rollout import Worker


@torch.no_grad()
def loss_gradient(worker: Worker, rows: np.ndarray, size: int, scale: float) -> np.ndarray:
    """Fill ``worker.networks.gradient`` with its share of the gradient of the loss.

    ``rows`` (n,) int64 are the flat rows of the worker's share of a minibatch of ``size`` rows, over which the loss is
    a mean. The returns are divided by ``scale``. Returns the worker's share of the loss, (1,) float64.
    """
    actor = worker.networks.actor
    seen = actor.activations(worker.inputs(rows))
    values = actor.outputs(seen)
    worker.make_logits(values, rows)
    gradient, loss = torch.empty_like(values), np.zeros(1)
    fits = value_gradient(
        values.numpy(),
        rows,
        worker.flat["masks"],
        worker.flat["actions"],
        worker.flat["returns"],
        scale,
        size,
        gradient.numpy(),
        loss,
    )
    if not fits:
        raise ValueError(
            "rows: one is not in the buffer, or its action is not legal; expected rows that were played"
        )
    if len(action_scale := worker.networks.action_scale):
        add_score_gradient(
            gradient.numpy(), worker.flat["masks"], worker.flat["action_features"], action_scale, rows
        )
    actor.backward(seen, gradient)
    return loss


@cached_njit(nogil=True)
def value_gradient(
    values: np.ndarray,
    rows: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    returns: np.ndarray,
    scale: float,
    size: int,
    gradient: np.ndarray,
    loss: np.ndarray,
) -> bool:
    """The gradient of the loss by the values, and the loss.

    Takes ``values`` (n, at least A) float32, of which the first A columns are read, for ``rows`` (n,) int64; and of the
    M flat rows of a buffer ``masks`` (M, A) bool, ``actions`` (M,) int64 and ``returns`` (M,) float32. Fills the first
    A columns of ``gradient``, shaped as ``values``, and ``loss`` (1,) float64: both are sums over the rows divided by
    ``size``. False, and what it fills is of no use, for a row that is not there, an action that is not legal, and
    arrays that do not fit each other.
    """
    num_rows, num_actions = len(values), masks.shape[1]
    length = len(masks)
    if values.shape[1] < num_actions or gradient.shape != values.shape or len(rows) != num_rows:
        return False
    if min(len(actions), len(returns)) < length or len(loss) != 1:
        return False
    loss[0] = 0.0
    for i in range(num_rows):
        row = rows[i]
        if row < 0 or row >= length or actions[row] < 0 or actions[row] >= num_actions:
            return False
        taken = actions[row]
        if not masks[row, taken]:
            return False
        for action in range(num_actions):
            gradient[i, action] = 0.0
        error = np.float64(values[i, taken]) - np.divide(np.float64(returns[row]), scale)
        gradient[i, taken] = np.divide(error, size)
        loss[0] += 0.5 * error * error
    loss[0] = np.divide(loss[0], size)
    return True


@torch.no_grad()
def check_outputs(worker: Worker) -> None:
    """Raise ``DivergedError`` if the network, as it is now, gives values that are not finite for the rows of the last
    step.

    No gradient has seen what the last step of an update did; this has.
    """
    actor, rows = worker.networks.actor, worker.last_rows
    values = actor.outputs(actor.activations(worker.inputs(rows)))
    worker.make_logits(values, rows)
    if not values.isfinite().all():
        raise DivergedError("a value of the actor is not finite")
