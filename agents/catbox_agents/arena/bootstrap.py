"""Intervals of means by the bootstrap: deals are drawn anew, with replacement, and everything is computed again.

All quantities of an arena are computed from the same draws, so that differences between them have paired intervals. A
percentile interval of a mean is too narrow for few deals; it is widened as Student's interval is wider than the normal
one: the expanded percentile interval of Hesterberg 2015, "What Teachers Should Know About the Bootstrap".
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from catbox_agents.arena.results import t_quantile

#: How often the deals are drawn anew: for means, and for what takes longer to compute.
RESAMPLES, FEW_RESAMPLES = 2000, 400
#: Draws that are held in memory at once.
_AT_ONCE = 4_000_000
_SEED = 0xB007


def resampled_means(values: NDArray[np.floating], resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """Means of ``values`` (deals, ...) over ``resamples`` draws of as many deals: (resamples, ...).

    Draw k is the same for all columns, and in every call with as many deals.
    """
    num_deals = len(values)
    flat = np.asarray(values, np.float64).reshape(num_deals, -1)
    generator = np.random.default_rng(_SEED)
    means = np.empty((resamples, flat.shape[1]))
    rows = max(1, _AT_ONCE // num_deals)
    for first in range(0, resamples, rows):
        number = min(rows, resamples - first)
        counts = np.empty((number, num_deals))
        for k in range(number):
            drawn = generator.integers(num_deals, size=num_deals)
            counts[k] = np.bincount(drawn.astype(np.intp), minlength=num_deals)
        means[first : first + number] = counts @ flat / num_deals
    return means.reshape(resamples, *values.shape[1:])


def interval(means: NDArray[np.float64], num_deals: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends (...) of the 95 % intervals of what was computed in every draw, ``means`` (resamples, ...)."""
    wider = sqrt(num_deals / (num_deals - 1)) * t_quantile(num_deals - 1)
    tail = NormalDist().cdf(-wider)
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high
