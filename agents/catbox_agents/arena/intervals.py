"""95 % intervals of numbers computed from independent deals.

The interval of a mean is Student's. Differences of means on the same deals are means of differences, so their intervals
are paired. Ratings, which are not means, get a bootstrap: deals are resampled with replacement, and everything is
recomputed. A percentile interval is too narrow for few deals, so it is widened by the ratio of Student's interval to
the normal one: the expanded percentile interval of Hesterberg 2015, "What Teachers Should Know About the Bootstrap".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

#: Bootstrap resamples.
RESAMPLES = 400
#: Resamples that are held in memory at once.
_AT_ONCE = 4_000_000
_SEED = 0xB007


@dataclass(frozen=True)
class Estimate:
    """A number, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.half_width:.2f}"


def mean_and_half_width(values: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of each column of ``values`` (deals, ...), at least two deals, and half the width of its interval."""
    num_deals = len(values)
    spread = values.std(0, ddof=1, dtype=np.float64)
    return values.mean(0, dtype=np.float64), t_quantile(num_deals - 1) * spread / sqrt(num_deals)


def estimates(values: NDArray[np.floating]) -> list[Estimate]:
    """The mean of each column of ``values`` (deals, k)."""
    means, widths = mean_and_half_width(values)
    return [
        Estimate(float(mean), float(mean - width), float(mean + width))
        for mean, width in zip(means, widths, strict=True)
    ]


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t with ``freedom`` degrees of freedom, to 0.001 from 9 on.

    The expansion in 1 / freedom (Abramowitz and Stegun 26.7.5), to avoid scipy.
    """
    z = 1.959963984540054
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def resampled_sums(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sums of ``values`` (deals, ...) over the deals of each resample: (RESAMPLES, ...)."""
    num_deals = len(values)
    flat = np.asarray(values, np.float64).reshape(num_deals, -1)
    generator = np.random.default_rng(_SEED)
    sums = np.empty((RESAMPLES, flat.shape[1]))
    rows = max(1, _AT_ONCE // num_deals)
    for first in range(0, RESAMPLES, rows):
        number = min(rows, RESAMPLES - first)
        counts = np.empty((number, num_deals))
        for k in range(number):
            drawn = generator.integers(num_deals, size=num_deals)
            counts[k] = np.bincount(drawn.astype(np.intp), minlength=num_deals)
        sums[first : first + number] = counts @ flat
    return sums.reshape(RESAMPLES, *values.shape[1:])


def bootstrap_interval(
    resampled: NDArray[np.float64], num_deals: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends (...) of the intervals of a statistic that was computed for every resample, ``resampled``
    (RESAMPLES, ...)."""
    wider = sqrt(num_deals / (num_deals - 1)) * t_quantile(num_deals - 1)
    tail = NormalDist().cdf(-wider)
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return low, high
