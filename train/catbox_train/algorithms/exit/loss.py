"""The loss of expert iteration, cross-entropy less the entropy bonus, and its gradient."""

from __future__ import annotations

import math

import numpy as np
import torch

from catbox_agents.networks.action_head import add_action_scores, add_score_gradient
from catbox_env.core.compilation import cached_njit
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.exit.rollout import Worker

#: What ``logit_gradient`` adds up and ``loss_gradient`` returns, in this order. The first is that of the target from
#: the policy: the cross-entropy less the entropy of the target.
LEARNING_METRICS = ("target_kl", "entropy")


@torch.no_grad()
def loss_gradient(worker: Worker, rows: np.ndarray, size: int, entropy_weight: float) -> np.ndarray:
    """Fill ``worker.networks.gradient`` with its share of the gradient of the loss.

    ``rows`` (n,) int64 are those of the worker's window in a minibatch of ``size`` rows, over which the loss is a mean.
    Returns the share of ``LEARNING_METRICS`` (2,) float64.
    """
    networks, window = worker.networks, worker.window
    scale = networks.action_scale
    seen = networks.actor.activations(networks.observations.take(window.inputs, rows, window.histories))
    logits = networks.actor.outputs(seen)
    if len(scale):
        add_action_scores(logits.numpy(), window.masks, window.action_features, scale, rows)
    gradient, metrics = torch.empty_like(logits), np.zeros(len(LEARNING_METRICS))
    fits = logit_gradient(
        logits.numpy(), rows, window.masks, window.targets, entropy_weight, size, gradient.numpy(), metrics
    )
    if not fits:
        raise ValueError("rows: one is not in the window, or is empty; expected rows that were searched")
    if len(scale):
        add_score_gradient(gradient.numpy(), window.masks, window.action_features, scale, rows)
    networks.actor.backward(seen, gradient)
    return metrics


@cached_njit(nogil=True)
def logit_gradient(
    logits: np.ndarray,
    rows: np.ndarray,
    masks: np.ndarray,
    targets: np.ndarray,
    entropy_weight: float,
    size: int,
    gradient: np.ndarray,
    sums: np.ndarray,
) -> bool:
    """The gradient of the loss by the logits, and the metrics.

    Takes ``logits`` (n, at least A) float32, of which the first A columns are read, for ``rows`` (n,) int64; and of the
    M rows of a window ``masks`` (M, A) bool and ``targets`` (M, A) float32, probabilities of the legal actions. Fills
    the first A columns of ``gradient``, shaped as ``logits``, and ``sums`` (2,) float64 with ``LEARNING_METRICS``: all
    are sums over the rows divided by ``size``. False, and what it fills is of no use, for a row that is not there or
    has no legal action, and for arrays that do not fit each other.
    """
    num_rows, num_actions = len(logits), masks.shape[1]
    length = len(masks)
    if logits.shape[1] < num_actions or gradient.shape != logits.shape or len(rows) != num_rows:
        return False
    if targets.shape != masks.shape or len(sums) != 2:
        return False
    sums[:] = 0.0
    legal = np.empty(num_actions, np.int64)
    log_probabilities = np.empty(num_actions, np.float64)
    for i in range(num_rows):
        row = rows[i]
        if row < 0 or row >= length:
            return False
        count = 0
        largest = -np.inf
        for action in range(num_actions):
            gradient[i, action] = 0.0
            if masks[row, action]:
                legal[count] = action
                count += 1
                largest = max(largest, np.float64(logits[i, action]))
        if count == 0:
            return False
        total = 0.0
        for k in range(count):
            log_probabilities[k] = logits[i, legal[k]] - largest
            total += math.exp(log_probabilities[k])
        entropy = 0.0
        for k in range(count):
            log_probabilities[k] -= math.log(total)
            entropy -= math.exp(log_probabilities[k]) * log_probabilities[k]
        for k in range(count):
            probability = math.exp(log_probabilities[k])
            target = np.float64(targets[row, legal[k]])
            pull = probability - target + entropy_weight * probability * (log_probabilities[k] + entropy)
            gradient[i, legal[k]] = np.divide(pull, size)
            if target > 0.0:
                sums[0] += target * (math.log(target) - log_probabilities[k])
        sums[1] += entropy
    for metric in range(2):
        sums[metric] = np.divide(sums[metric], size)
    return True


def check_outputs(worker: Worker) -> None:
    """Raise ``DivergedError`` if the network, as it is now, gives logits that are not finite for the rows of the last
    step.

    No gradient has seen what the last step of an update did; this has.
    """
    window, rows = worker.window, worker.last_rows
    logits = worker.policy.logits(
        window.inputs[rows], window.action_features[rows], window.histories[rows], window.masks[rows]
    )
    if not np.isfinite(logits).all():
        raise DivergedError("a logit of the policy is not finite")
