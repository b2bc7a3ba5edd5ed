"""The distribution over legal actions: a softmax in which illegal actions have probability exactly 0.

Two implementations of the same thing: a compiled one that draws while games are played (a few numbers for each
row, without the interpreter lock), and a differentiable one in torch for learning. A test compares them.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from catbox_env.core.compilation import cached_njit

#: Taken off the logits of illegal actions. Large enough for a probability of exactly 0 and no gradient, finite so that
#: 0 * log(0) comes out as 0, not nan; and adding is several times faster than masking.
PENALTY = 1e9
#: Logits up to this size leave the probability of illegal actions at exactly 0.
LARGEST_LOGIT = PENALTY / 10


@cached_njit(nogil=True)
def sample_actions(
    logits: np.ndarray,
    masks: np.ndarray,
    uniforms: np.ndarray,
    actions: np.ndarray,
    log_probabilities: np.ndarray,
) -> None:
    """Draw one legal action a row by inverting the cumulative distribution at ``uniforms``.

    Takes ``logits`` (n, A) float32, ``masks`` (n, A) bool with at least one legal action a row, ``uniforms`` (n,)
    in [0, 1); fills ``actions`` (n,) and ``log_probabilities`` (n,) float32 of the drawn ones.
    """
    num_rows, num_actions = logits.shape
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


def masked_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (n, A) over the legal actions of ``masks`` (n, A) bool; about ``-PENALTY`` for illegal ones."""
    return torch.log_softmax(logits + (masks.to(logits.dtype) - 1) * PENALTY, dim=1)


def masked_entropy(log_probabilities: torch.Tensor) -> torch.Tensor:
    """Entropy (n,) in nats of ``masked_log_probabilities``; 0 where one action alone is legal."""
    return -(log_probabilities.exp() * log_probabilities).sum(dim=1)
