"""Are random draws as frequent as they should be?"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scipy.stats import chisquare


def chance_of(drawn: Counter[Any], weights: Mapping[Any, float]) -> float:
    """The chance of numbers like ``drawn`` under ``weights``, by chi-square; fails for what cannot be drawn.

    What is expected less than five times counts as one.
    """
    assert set(drawn) <= set(weights), "drawn, but not possible"
    scale = drawn.total() / sum(weights.values())
    expected = {key: scale * weight for key, weight in weights.items()}
    often = [key for key in weights if expected[key] >= 5]
    observed, wanted = [drawn[key] for key in often], [expected[key] for key in often]
    if sum(expected.values()) - sum(wanted) > 1:
        observed.append(drawn.total() - sum(observed))
        wanted.append(drawn.total() - sum(wanted))
    else:  # too few to count
        wanted = [number * sum(observed) / sum(wanted) for number in wanted]
    return float(chisquare(observed, wanted).pvalue) if len(wanted) > 1 else 1.0
