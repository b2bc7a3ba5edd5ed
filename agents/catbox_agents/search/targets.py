"""Policy targets from a search: better than the policy that played the rollouts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.search.rollout import SearchResult
from catbox_env.core.checks import check_number


def policy_target(result: SearchResult, temperature: float = 1.0) -> NDArray[np.float32]:
    """Probabilities (n, A) of the actions: a softmax of the values in units of their uncertainty.

    The weight of an action is ``exp((value - value of the chosen action) / (temperature * error))``, at most 1, the
    weight of the chosen action; ``error`` is the standard error of that difference. So actions that the search cannot
    tell apart stay about equally likely, and a clearly best one gets nearly all. With ``temperature=0`` the chosen
    action has probability 1. Actions that were not tried have probability 0.

    Raises ``ValueError`` for a temperature below 0 or not finite.
    """
    temperature = check_number("temperature", temperature, "a finite number of 0 or more")
    rows = np.arange(len(result.actions))
    chosen = result.actions
    weights = np.zeros(result.values.shape)
    if temperature > 0:
        tried = result.visits > 0
        values = np.where(tried, result.values, 0.0)
        # An unknown error counts as 0: the error of the chosen action, tried most, decides.
        squares = np.square(np.where(tried & np.isfinite(result.errors), result.errors, 0.0))
        behind = np.minimum(0.0, values - values[rows, chosen][:, None])
        error = temperature * np.sqrt(squares + squares[rows, chosen][:, None])
        certain = np.where(behind < 0, -np.inf, 0.0)  # where the error is 0
        exponent = np.divide(behind, error, out=certain, where=error > 0)
        weights = np.where(tried, np.exp(exponent), 0.0)
    weights[rows, chosen] = 1.0
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
