"""A careful player of Cat in the Box: it would rather hit its bid and keep its cells than win tricks.

It weighs the reasons of the heuristic (the module ``cat_in_the_box``) and one more:

| reason | what it weighs |
|---|---|
| ``room`` | how many declarations would stay legal for the cards left in hand, on the board as it then is |

Its weights are those of the heuristic, except the ones below.
"""

from __future__ import annotations

import math
from typing import Any

from catbox_agents.heuristics.base import ReasonedAgent, best_action
from catbox_agents.heuristics.cat_in_the_box import WEIGHTS
from catbox_agents.heuristics.cat_in_the_box_reasons import REASONS, SCRATCH, score_row
from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.games.cat_in_the_box.play import cell_at, costs_token

ROOM = len(REASONS)

#: The weights that differ, a column for each number of players from 2 to 5: the module ``cat_in_the_box`` says what
#: each counts for. Tuned (evolution strategy) on bids that are hit and on few paradoxes, among heuristics and among
#: copies of itself; the margin counted only below half a point lost.
_TABLE: dict[str, tuple[float, float, float, float]] = {
    "room": (1.15, 2.30, 0.88, 1.10),  # of the natural logarithm of the declarations
    "needing": (0.80, 1.03, 1.20, 1.26),
    "content": (0.06, 0.15, 0.48, 0.30),
    "luck": (-0.10, -0.20, -0.63, -0.41),
    "rank": (0.68, 0.89, 0.43, 0.41),
    "spread": (0.19, 0.20, 0.30, 0.18),
    "ducking": (0.33, 0.24, 0.22, 0.00),
    "rush": (1.35, 2.05, 2.15, 1.85),
    "reserve": (-0.11, -0.86, -0.62, -0.99),
    "calm": (9.59, 10.28, 7.97, 3.59),
    "stake": (2.81, 3.54, 3.90, 1.95),
    "stuck": (0.50, 1.53, 1.00, 1.58),
    "trick": (0.56, 1.37, 1.13, 1.19),
    "group": (0.06, 0.06, 0.01, 0.06),
    "growth": (0.33, 0.38, 0.87, 0.86),
    "spoil": (0.06, 0.09, 0.11, 0.26),
    "token": (0.96, 0.48, 0.29, 0.49),
    "red_token": (0.48, 0.25, 0.14, 0.68),
    "bid_trick": (0.00, 0.00, 0.00, 0.00),
    "confidence": (0.20, -0.04, 0.03, -0.23),
    "drop_pair": (0.24, 0.28, 0.48, 0.49),
    "keep_beside": (0.10, 0.18, 0.12, 0.21),
    "drop_high": (0.53, 0.43, 0.21, -0.05),
}  # fmt: skip

CAREFUL_WEIGHTS = {
    players: {**weights, **{name: row[players - 2] for name, row in _TABLE.items()}}
    for players, weights in WEIGHTS.items()
}


@njit
def score_room(params: Any, view: Any, weights: Any, color: int, rank: int) -> float:
    """The points for the declarations that stay legal after declaring ``rank`` in ``color``: room."""
    place = int(costs_token(view, 0, color))
    cells = view.open & view.kept_rows[place] & ~(1 << (color * (params.num_ranks + 1) + rank))
    declarations = 0
    for other in range(params.num_ranks):
        declarations += (view.hand[other] - (other == rank)) * popcount(cells & (view.column << other))
    return weights.room * math.log(declarations + 0.3)


@njit
def choose(params: Any, weights: Any, seen: Any, mask: Any, scratch: Any, points: Any) -> int:
    """See `ReasonedAgent`."""
    score_row(params, seen, mask, weights, scratch.position, scratch.plan, points)
    for action in range(len(mask)):
        points[action, ROOM] = 0.0
        if mask[action] and params.first_play <= action < len(mask) - 1:
            color, rank = cell_at(params, action - params.first_play)
            points[action, ROOM] = score_room(params, scratch.position, weights, color, rank)
    return best_action(mask, points)


class CarefulPlayer(ReasonedAgent):
    """The careful player of ``cat_in_the_box_v0``, for every rule set. It is deterministic."""

    plays = "cat_in_the_box_v0"
    reasons = (*REASONS, "room")
    weights = CAREFUL_WEIGHTS
    choose = staticmethod(choose)
    scratch = SCRATCH
    variation = 0.1  # with more, variants are no longer careful
