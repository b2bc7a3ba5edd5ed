"""The distribution over legal actions: a softmax in which illegal actions have probability exactly 0.

Here is what draws while games are played; ``loss`` has what is learned from. A test compares them.
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
    """Draw one legal action a row by inverting the cumulative distribution at ``uniforms``.

    Takes ``logits`` (n, at least A) float32, ``masks`` (n, A) bool with at least one legal action a row, ``uniforms`` (n,)
    in [0, 1); fills ``actions`` (n,) and ``log_probabilities`` (n,) float32 of the drawn ones.
    """
    num_rows, num_actions = masks.shape
    for row in range(num_rows):
        largest = -np.inf
        for action in range(num_actions):
            if masks[row, action] and logits[row, action] > largest:
                largest = logits[row, action]
        total = 0.0
        for action in range(num_actions):
            if masks[row, action]:
                total += math.exp(logits[row, action] - largest)
        threshold = uniforms[row] * total
        cumulative = 0.0
        chosen = -1
        for action in range(num_actions):
            if masks[row, action]:
                chosen = action  # the last legal one, should rounding keep the sum under the threshold
                cumulative += math.exp(logits[row, action] - largest)
                if cumulative > threshold:
                    break
        actions[row] = chosen
        log_probabilities[row] = logits[row, chosen] - largest - math.log(total)
