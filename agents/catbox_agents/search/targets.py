"""What a learner can take from a search: a policy that is better than the one that played the rollouts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.search.rollout import SearchResult
from catbox_env.core.checks import check_number


def policy_target(result: SearchResult, temperature: float = 1.0) -> NDArray[np.float32]:
    """Probabilities (n, A) of the actions: a softmax of the values, in units of how uncertain they are.

    The weight of an action is ``exp((value - value of the chosen action) / (temperature * error))``, where ``error`` is
    the standard error of that difference; one that is better by chance alone, in few worlds, has no more than the
    chosen one. So where the search cannot tell actions apart they stay about as likely, and where it can the best one
    gets nearly all. ``temperature=0`` gives the chosen actions alone. Actions that were not tried have probability 0.

    Raises ``ValueError`` for a temperature below 0 or not finite.
    """
    temperature = check_number("temperature", temperature, "a finite number of 0 or more")
    rows = np.arange(len(result.actions))
    chosen = result.actions
    weights = np.zeros(result.values.shape)
    if temperature > 0:
        tried = result.visits > 0
        values = np.where(tried, result.values, 0.0)
        # An error that is not known counts as none: the error of the chosen action, tried most, decides.
        squares = np.square(np.where(tried & np.isfinite(result.errors), result.errors, 0.0))
        behind = np.minimum(0.0, values - values[rows, chosen][:, None])
        error = temperature * np.sqrt(squares + squares[rows, chosen][:, None])
        certain = np.where(behind < 0, -np.inf, 0.0)  # where there is no error at all
        exponent = np.divide(behind, error, out=certain, where=error > 0)
        weights = np.where(tried, np.exp(exponent), 0.0)
    weights[rows, chosen] = 1.0
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
