"""The mean over the seeds, and how certain it is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from catbox_agents.arena.intervals import t_quantile

#: The 97.5 % quantile of Student's t with 1, 2, ... 8 degrees of freedom, for which `t_quantile` is too coarse.
_FEW = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060)


def mean_of(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and half the width of its 95 % interval (Student's t); None for a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    freedom = len(values) - 1
    quantile = _FEW[freedom - 1] if freedom <= len(_FEW) else t_quantile(freedom)
    return mean, quantile * statistics.stdev(values) / math.sqrt(len(values))
