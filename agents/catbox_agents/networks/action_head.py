"""What turns the outputs of a network into actions: the action head, and the masked sampler.

The action head scores actions by their features, with weights that all actions share.

The last layer of a policy has an output for each action, followed by one for each feature of an action. The latter are
the weights of the features in the position at hand, so

    logit of action a = output a + sum over k of feature k of a * output A + k

As in DouZero (Zha et al. 2021, https://arxiv.org/abs/2106.06135), what is learned about an action generalizes to
similar ones; but here the network runs once for all actions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.compilation import cached_njit, njit

#: The logit of an illegal action in learning. Its probability is exactly 0, and its logarithm is finite.
ILLEGAL = np.float32(-1e30)


@njit(fastmath={"reassoc"})  # so that the sum is vectorized
def _score(weights: np.ndarray, features: np.ndarray) -> np.float32:
    score = np.float32(0.0)
    for k in range(len(weights)):
        score += weights[k] * np.float32(features[k])
    return score


@njit
def _list_legal(mask: np.ndarray, legal: np.ndarray) -> int:
    """Fill the front of ``legal`` (A,) int64 with the actions of ``mask`` (A,) bool; returns their number.

    Branch-free: a branch for each action would be mispredicted too often.
    """
    count = 0
    for action in range(len(mask)):
        legal[count] = action  # count <= action
        count += mask[action] != 0  # at most 1, whatever the mask holds
    return count


def action_logits(
    outputs: NDArray[np.float32],
    masks: NDArray[np.bool_],
    features: NDArray[np.int8],
    scale: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The logits (n, A) of ``outputs`` (n, at least A + K) float32; ``ILLEGAL`` for illegal actions.

    ``masks`` (n, A) bool, ``features`` (n, A, K) int8; ``scale`` (K,) float32 multiplies the features. Raises
    ``ValueError`` for shapes that do not match.
    """
    _check_fits(outputs, masks, features, scale)
    logits = np.empty(masks.shape, np.float32)
    _fill_logits(outputs, masks, features, scale, logits)
    return logits


def score_gradient(
    gradient: NDArray[np.float32],
    masks: NDArray[np.bool_],
    features: NDArray[np.int8],
    scale: NDArray[np.float32],
) -> None:
    """Fill the K columns of ``gradient`` (n, at least A + K) float32 after the first A, the gradient of the logits.

    The other arguments and errors are as in `action_logits`.
    """
    _check_fits(gradient, masks, features, scale)
    _fill_gradient(gradient, masks, features, scale)


def sample_legal(
    logits: NDArray[np.float32], masks: NDArray[np.bool_], uniforms: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """One legal action per row, drawn from the softmax of its legal ``logits`` at ``uniforms`` (n,) in [0, 1).

    Takes ``logits`` (n, at least A) float32, and ``masks`` (n, A) bool with at least one legal action per row. Returns
    the actions (n,) and their log-probabilities (n,). Raises ``ValueError`` for shapes that do not match.
    """
    rows, actions = masks.shape
    if logits.ndim != 2 or len(logits) != rows or logits.shape[1] < actions or uniforms.shape != (rows,):
        raise ValueError(
            f"logits {logits.shape} and uniforms {uniforms.shape}: expected ({rows}, {actions} or more) and ({rows},), "
            f"as the masks are {masks.shape}"
        )
    chosen, log_probs = np.empty(rows, np.int64), np.empty(rows, np.float32)
    draw_legal(logits, masks, uniforms, chosen, log_probs)
    return chosen, log_probs


def _check_fits(outputs: np.ndarray, masks: np.ndarray, features: np.ndarray, scale: np.ndarray) -> None:
    rows, actions = masks.shape
    if (
        features.shape != (rows, actions, len(scale))
        or outputs.ndim != 2
        or len(outputs) != rows
        or outputs.shape[1] < actions + len(scale)
    ):
        raise ValueError(
            f"outputs {outputs.shape} and action features {features.shape}: expected ({rows}, {actions + len(scale)} "
            f"or more) and ({rows}, {actions}, {len(scale)}), as the masks are {masks.shape}"
        )


@cached_njit(nogil=True)
def add_scores(outputs: np.ndarray, masks: np.ndarray, features: np.ndarray, scale: np.ndarray) -> None:
    """Add to the ``outputs`` of legal actions what their features score, in place, for compiled code: the arguments are
    those of `action_logits`, and no shape is checked."""
    num_actions, num_features = masks.shape[1], len(scale)
    weights = np.empty(num_features, np.float32)
    legal = np.empty(num_actions, np.int64)
    for i in range(len(masks)):
        for k in range(num_features):
            weights[k] = scale[k] * outputs[i, num_actions + k]
        for n in range(_list_legal(masks[i], legal)):
            outputs[i, legal[n]] += _score(weights, features[i, legal[n]])


@cached_njit(nogil=True)
def _fill_logits(
    outputs: np.ndarray, masks: np.ndarray, features: np.ndarray, scale: np.ndarray, logits: np.ndarray
) -> None:
    num_actions, num_features = masks.shape[1], len(scale)
    weights = np.empty(num_features, np.float32)
    legal = np.empty(num_actions, np.int64)
    for i in range(len(masks)):
        logits[i] = ILLEGAL
        for k in range(num_features):
            weights[k] = scale[k] * outputs[i, num_actions + k]
        for n in range(_list_legal(masks[i], legal)):
            logits[i, legal[n]] = outputs[i, legal[n]] + _score(weights, features[i, legal[n]])


@cached_njit(nogil=True)
def _fill_gradient(gradient: np.ndarray, masks: np.ndarray, features: np.ndarray, scale: np.ndarray) -> None:
    num_actions, num_features = masks.shape[1], len(scale)
    sums = np.empty(num_features, np.float32)
    legal = np.empty(num_actions, np.int64)
    for i in range(len(masks)):
        sums[:] = 0.0
        for n in range(_list_legal(masks[i], legal)):
            of_logit, of_action = gradient[i, legal[n]], features[i, legal[n]]
            for k in range(num_features):
                sums[k] += of_logit * np.float32(of_action[k])
        for k in range(num_features):
            gradient[i, num_actions + k] = scale[k] * sums[k]


@cached_njit(nogil=True)
def draw_legal(
    logits: np.ndarray, masks: np.ndarray, uniforms: np.ndarray, actions: np.ndarray, log_probs: np.ndarray
) -> None:
    """`sample_legal` for compiled code, which checks no shapes, into ``actions`` and ``log_probs`` (n,)."""
    legal = np.empty(masks.shape[1], np.int64)
    weights = np.empty(masks.shape[1], np.float64)  # exponentials of the legal logits
    for row in range(len(masks)):
        count = _list_legal(masks[row], legal)
        largest = -np.inf
        for k in range(count):
            largest = max(largest, logits[row, legal[k]])
        total = 0.0
        for k in range(count):
            weights[k] = math.exp(logits[row, legal[k]] - largest)
            total += weights[k]
        threshold = uniforms[row] * total
        cumulative = 0.0
        chosen = -1
        for k in range(count):
            chosen = legal[k]  # the last one, if rounding keeps the sum below the threshold
            cumulative += weights[k]
            if cumulative > threshold:
                break
        actions[row] = chosen
        log_probs[row] = logits[row, chosen] - largest - math.log(total)
