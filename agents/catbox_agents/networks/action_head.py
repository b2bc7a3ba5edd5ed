"""The action head: scores actions by their features, with weights that all actions share.

The last layer of a policy has an output for each action, followed by one for each feature of an action. The latter are
the weights of the features in the position at hand, so

    logit of action a = output a + sum over k of feature k of a * output A + k

As in DouZero (Zha et al. 2021, https://arxiv.org/abs/2106.06135), what is learned about an action generalizes to
similar ones; but here the network runs once for all actions.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import cached_njit, njit


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


@cached_njit(nogil=True)
def add_action_scores(
    outputs: np.ndarray, masks: np.ndarray, features: np.ndarray, scale: np.ndarray
) -> bool:
    """Turn ``outputs`` (n, at least A + K) float32 into logits, in place in the columns of the legal actions.

    ``masks`` (n, A) bool, ``features`` (n, A, K) int8; ``scale`` (K,) float32 multiplies the features. Returns False,
    with nothing changed, for arrays whose shapes do not match.
    """
    num_actions, num_features = masks.shape[1], len(scale)
    if not _fits(outputs, masks, features, num_features):
        return False
    weights = np.empty(num_features, np.float32)
    legal = np.empty(num_actions, np.int64)
    for i in range(len(masks)):
        for k in range(num_features):
            weights[k] = scale[k] * outputs[i, num_actions + k]
        for n in range(_list_legal(masks[i], legal)):
            outputs[i, legal[n]] += _score(weights, features[i, legal[n]])
    return True


@cached_njit(nogil=True)
def add_score_gradient(
    gradient: np.ndarray, masks: np.ndarray, features: np.ndarray, scale: np.ndarray
) -> bool:
    """Fill the K columns of ``gradient`` (n, at least A + K) float32 after the first A, the gradient of the logits.

    The other arguments and the result are as in ``add_action_scores``.
    """
    num_actions, num_features = masks.shape[1], len(scale)
    if not _fits(gradient, masks, features, num_features):
        return False
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
    return True


@cached_njit(nogil=True)
def _fits(outputs: np.ndarray, masks: np.ndarray, features: np.ndarray, num_features: int) -> bool:
    return (
        outputs.shape[0] == masks.shape[0]
        and outputs.shape[1] >= masks.shape[1] + num_features
        and features.shape == (masks.shape[0], masks.shape[1], num_features)
    )
