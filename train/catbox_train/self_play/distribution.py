"""The distribution over legal actions: a softmax in which illegal actions have probability exactly 0.

This samples while games are played; `ppo.ppo_loss` has the version for learning. A test compares them.
"""

from __future__ import annotations

import math

import numpy as np

from catbox_env.core.compilation import cached_njit


@cached_njit(nogil=True)
def sample_actions(
    logits: np.ndarray,
    masks: np.ndarray,
    uniforms: np.ndarray,
    actions: np.ndarray,
    log_probabilities: np.ndarray,
) -> None:
    """Sample one legal action per row by inverting the cumulative distribution at ``uniforms``.

    Takes ``logits`` (n, at least A) float32, ``masks`` (n, A) bool with at least one legal action per row, ``uniforms``
    (n,) in [0, 1); fills ``actions`` (n,) and ``log_probabilities`` (n,) float32 of these actions.
    """
    num_rows, num_actions = masks.shape
    if min(len(logits), len(uniforms), len(actions), len(log_probabilities)) < num_rows:
        return
    if logits.shape[1] < num_actions:
        return
    legal = np.empty(num_actions, np.int64)
    weights = np.empty(num_actions, np.float64)  # exponentials of the legal logits
    for row in range(num_rows):
        count = 0
        for action in range(num_actions):
            legal[count] = action  # count <= action
            count += masks[row, action]
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
        log_probabilities[row] = logits[row, chosen] - largest - math.log(total)
