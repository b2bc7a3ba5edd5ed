"""The loss of PPO (Schulman et al. 2017, equations 7 and 9) over a worker's rows, and its gradient.

The loss is policy loss - entropy weight * entropy + value loss. Its gradient by the outputs of the networks is computed
in one compiled pass over the rows, without the interpreter lock and with no array in between; ``Layers`` takes it from
there to the weights.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from catbox_agents.networks.action_head import add_score_gradient
from catbox_env.core.compilation import cached_njit
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo.rollout import Worker

#: What ``logit_gradient`` adds up and ``loss_gradient`` returns, in this order.
LEARNING_METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction")
#: Larger logits are those of a policy that has diverged.
LARGEST_LOGIT = 1e8
#: What ``logit_gradient`` returns.
FINE, LARGE_LOGIT, LOGIT_NOT_FINITE, BAD_ROW = range(4)


@torch.no_grad()
def loss_gradient(
    worker: Worker, rows: np.ndarray, size: int, clip: float, entropy_weight: float
) -> np.ndarray:
    """Fill ``worker.networks.gradient`` with its share of the gradient of the loss.

    ``rows`` (n,) int64 are the flat rows of the worker's share of a minibatch of ``size`` rows, over which the loss is
    a mean. Returns the share of ``LEARNING_METRICS`` (5,) float64. Raises ``DivergedError`` for logits that are not
    finite or larger than ``LARGEST_LOGIT``.
    """
    actor, critic = worker.networks.actor, worker.networks.critic
    observations, states = worker.inputs(rows)
    seen_by_actor, seen_by_critic = actor.activations(observations), critic.activations(states)
    outputs, values = actor.outputs(seen_by_actor), critic.outputs(seen_by_critic)
    worker.make_logits(outputs, rows)
    output_gradient, value_gradient = torch.empty_like(outputs), torch.empty_like(values)
    metrics = np.empty(len(LEARNING_METRICS))
    found = logit_gradient(
        outputs.numpy(),
        values.numpy(),
        rows,
        worker.flat["masks"],
        worker.flat["actions"],
        worker.flat["log_probabilities"],
        worker.flat["advantages"],
        worker.flat["returns"],
        clip,
        entropy_weight,
        size,
        output_gradient.numpy(),
        value_gradient.numpy(),
        metrics,
    )
    check_found(found)
    if len(scale := worker.networks.action_scale):
        add_score_gradient(
            output_gradient.numpy(), worker.flat["masks"], worker.flat["action_features"], scale, rows
        )
    actor.backward(seen_by_actor, output_gradient)
    critic.backward(seen_by_critic, value_gradient)
    return metrics


def check_found(found: int) -> None:
    """Raise for what ``logit_gradient`` returned."""
    if found == LARGE_LOGIT:
        raise DivergedError(f"a logit of the policy is larger than {LARGEST_LOGIT:.0e}")
    if found == LOGIT_NOT_FINITE:
        raise DivergedError("a logit of the policy is not finite")
    if found == BAD_ROW:
        raise ValueError(
            "rows: one is not in the buffer, or its action is not legal; expected rows that were played"
        )


@cached_njit(nogil=True)
def logit_gradient(
    logits: np.ndarray,
    values: np.ndarray,
    rows: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    log_probabilities: np.ndarray,
    advantages: np.ndarray,
    returns: np.ndarray,
    clip: float,
    entropy_weight: float,
    size: int,
    gradient_out: np.ndarray,
    value_gradient: np.ndarray,
    sums: np.ndarray,
) -> int:
    """The gradient of the loss by the logits and the values, and the metrics.

    Takes ``logits`` (n, at least A), of which the first A columns are read, and ``values`` (n, 1), float32, of the
    networks as they are now for ``rows`` (n,) int64; and of the M flat rows of a buffer ``masks`` (M, A) bool,
    ``actions`` (M,) int64, and float32 (M,) ``advantages``, ``returns``, and ``log_probabilities`` under the policy
    that played. Fills the first A columns of ``gradient_out``, shaped as ``logits``, ``value_gradient`` (n, 1) float32,
    and ``sums`` (5,) float64 with ``LEARNING_METRICS``: all are sums over the rows divided by ``size``. kl is estimator
    k3 of http://joschu.net/blog/kl-approx.html. An illegal action has probability 0 and gradient 0 whatever its logit.

    Returns ``FINE``, or what is wrong with the first row that is wrong; then what it fills is of no use.
    ``LARGE_LOGIT`` is one larger than ``LARGEST_LOGIT``, ``BAD_ROW`` a row that is not there or an action that is not
    legal, or arrays that do not fit each other.
    """
    num_rows, num_actions = len(logits), masks.shape[1]
    length = len(masks)
    sums[:] = 0.0
    if logits.shape[1] < num_actions or gradient_out.shape != logits.shape or len(rows) != num_rows:
        return BAD_ROW
    if values.shape != (num_rows, 1) or value_gradient.shape != values.shape or len(sums) != 5:
        return BAD_ROW
    if min(len(actions), len(log_probabilities), len(advantages), len(returns)) < length:
        return BAD_ROW
    legal = np.empty(num_actions, np.int64)
    relative = np.empty(num_actions, np.float64)  # logits of the legal actions, less the largest
    weights = np.empty(num_actions, np.float64)  # their exponentials
    for i in range(num_rows):
        row = rows[i]
        if row < 0 or row >= length or actions[row] < 0 or actions[row] >= num_actions:
            return BAD_ROW
        taken = actions[row]
        if not masks[row, taken]:
            return BAD_ROW
        large = 0
        for action in range(num_actions):
            large += not abs(logits[i, action]) <= LARGEST_LOGIT
        if large:
            for action in range(num_actions):
                if not math.isfinite(logits[i, action]):
                    return LOGIT_NOT_FINITE
            return LARGE_LOGIT

        count = 0
        for action in range(num_actions):
            legal[count] = action  # count <= action
            count += masks[row, action]
            gradient_out[i, action] = 0.0
        largest = np.float64(logits[i, taken])
        for k in range(count):
            largest = max(largest, np.float64(logits[i, legal[k]]))
        total = weighted = 0.0
        for k in range(count):
            relative[k] = logits[i, legal[k]] - largest
            weights[k] = math.exp(relative[k])
            total += weights[k]
            weighted += weights[k] * relative[k]
        log_total = math.log(total)
        entropy = log_total - weighted / total

        advantage = np.float64(advantages[row])
        log_ratio = logits[i, taken] - largest - log_total - log_probabilities[row]
        ratio = math.exp(log_ratio)
        gain = advantage * ratio
        clipped_gain = advantage * min(max(ratio, 1.0 - clip), 1.0 + clip)
        # The derivative of the smaller one by the log-probability of the action that was taken.
        pull = 0.0 if gain > clipped_gain else gain
        for k in range(count):
            probability = weights[k] / total
            gradient = probability * (pull + entropy_weight * (relative[k] - log_total + entropy))
            gradient_out[i, legal[k]] = gradient / size
        gradient_out[i, taken] -= pull / size
        error = np.float64(values[i, 0]) - returns[row]
        value_gradient[i, 0] = error / size

        sums[0] -= min(gain, clipped_gain)
        sums[1] += 0.5 * error * error
        sums[2] += entropy
        sums[3] += ratio - 1.0 - log_ratio
        sums[4] += abs(ratio - 1.0) > clip
    for metric in range(len(sums)):
        sums[metric] /= size
    return FINE


def check_outputs(worker: Worker) -> None:
    """Raise ``DivergedError`` if the networks, as they are now, give numbers of no use for the rows of the last step.

    No gradient has seen what the last step of an update did; this has.
    """
    logits, values = worker.outputs(worker.last_rows)
    if (logits.abs() > LARGEST_LOGIT).any():
        check_found(LARGE_LOGIT)
    for output, name in ((logits, "logit"), (values, "value")):
        if not output.isfinite().all():
            raise DivergedError(f"a {name} of the networks is not finite")


def learned_from(worker: Worker) -> tuple[np.ndarray, np.ndarray]:
    """Returns and advantages (n,) float32 of the rows that can be learned from."""
    return worker.flat["returns"][worker.ready], worker.flat["advantages"][worker.ready]


def mean_and_deviation(advantages: np.ndarray) -> tuple[float, float]:
    """Of the ``advantages`` (n,) of a batch, all workers together."""
    return float(advantages.mean(dtype=np.float64)), float(advantages.std(dtype=np.float64))


def normalise_advantages(worker: Worker, mean: float, deviation: float) -> None:
    """Bring the advantages of a worker, in place, from ``mean`` and ``deviation`` of all workers to 0 and 1."""
    worker.advantages -= np.float32(mean)
    worker.advantages /= np.float32(deviation + 1e-8)


def explained_variance(returns: np.ndarray, errors: np.ndarray) -> float:
    """Share of the variance of the ``returns`` (n,) that the critic's values account for, which miss them by ``errors``
    (n,); 1 is perfect, 0 is a constant."""
    variance = returns.var(dtype=np.float64)
    return float(1 - errors.var(dtype=np.float64) / variance) if variance > 0 else 0.0
