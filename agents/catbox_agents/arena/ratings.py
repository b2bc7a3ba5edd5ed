"""A rating for each agent, and the mixture of agents that none beats.

The rating is that of the Plackett-Luce model, in which an agent of strength w ranks above one of strength v with
probability w / (w + v). In each game, every two seats of different agents are a comparison (the "full breaking" of the
game's ranking: consistent for this model, Azari Soufiani et al. 2013, "Generalized Method-of-Moments for Rank
Aggregation"). The library choix fits it by iterated Luce spectral ranking (Maystre and Grossglauser 2015, "Fast and
Accurate Inference of Plackett-Luce Models").

The Nash average (Balduzzi et al. 2018, "Re-evaluating Evaluation", section 3) is the maximum-entropy Nash equilibrium
of a game in which two players each choose an agent and the payoff is their margin. Unlike a rating, it does not change
when copies of an agent are added, and it shows cycles: A beats B, B beats C and C beats A.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

#: Strengths in points of the Elo scale: 400 points are odds of 10 to 1.
ELO = 400 / log(10)
#: Added to the rates of each pair, about a fifth of a win to each side, so that an agent that never lost has a rating
#: too.
REGULARISATION = 0.1
_ITERATIONS = 1000
#: Tolerance of the equilibrium conditions, as a share of the largest margin.
_TOLERANCE = 1e-9


def ratings(comparisons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratings (n,) in points of the Elo scale, with mean 0. ``comparisons`` (n, n): how often i ranked above j."""
    import choix

    strengths = choix.ilsr_pairwise_dense(comparisons, alpha=REGULARISATION, max_iter=_ITERATIONS)
    return ELO * (strengths - strengths.mean())


def nash_average(payoffs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The maximum-entropy equilibrium (n,), and each agent's mean payoff against it (n,), at most 0.

    ``payoffs`` (n, n): antisymmetric, what the agent of the row earns against that of the column.
    """
    from scipy.optimize import linprog, minimize

    n = len(payoffs)
    scale = float(np.abs(payoffs).max())
    if scale == 0:
        return np.full(n, 1 / n), np.zeros(n)
    game = payoffs / scale
    # The maximum-entropy equilibrium contains every agent that is in any equilibrium. The value is 0.
    bounds = [(0, 1)] * n
    rules = {"A_ub": game, "b_ub": np.full(n, _TOLERANCE), "A_eq": np.ones((1, n)), "b_eq": [1]}
    corners = np.array([linprog(-np.eye(n)[i], bounds=bounds, **rules).x for i in range(n)])
    start = corners.mean(axis=0)
    support = start > 1e-7

    def entropy(shares: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logs = np.log(np.maximum(shares, 1e-300))
        return float(shares @ logs), logs + 1

    inside = game[:, support]
    found = minimize(
        entropy,
        start[support],
        jac=True,
        method="SLSQP",
        bounds=[(1e-9, 1)] * int(support.sum()),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones((1, len(p)))},
            {"type": "ineq", "fun": lambda p: _TOLERANCE - inside @ p, "jac": lambda p: -inside},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    shares = np.zeros(n)
    # The mean of the corners is an equilibrium too, if not always that of maximum entropy.
    good = found.success and (inside @ found.x).max() < 1e-6
    shares[support] = found.x if good else start[support]
    shares /= shares.sum()
    return shares, payoffs @ shares
