"""A hand-written player of Cat in the Box that can explain its choices.

It gives every legal action points for the reasons below, from one observation, and plays the action with most points
(the lowest id among equals). Points are in units of score, so the reasons add up:

| reason | what it weighs |
|---|---|
| ``tricks``  | the point for this trick, by the chance that the card wins it |
| ``bid``     | the chance to end with exactly the bid, times the bonus that would pay |
| ``group``   | how large the group of own tokens is and can still grow |
| ``paradox`` | the chance to have no legal declaration later, times what that would cost |
| ``tokens``  | the X-token that not following loses |
| ``spoil``   | taking the trick from a seat that needs it, or (below 0) from one that it would harm |
| ``hand``    | (discard only) which card the hand misses least |

`explain` shows them for a position, ``WEIGHTS`` holds what each counts for, by number of players, and the module
``cat_in_the_box_reasons`` says how they are computed.
"""

from __future__ import annotations

from catbox_agents.heuristics.base import ReasonedAgent
from catbox_agents.heuristics.cat_in_the_box_reasons import REASONS, SCRATCH, choose

#: A column for each number of players from 2 to 5: prices in points of score, and chances from 0 to 1. Tuned in
#: self-play (CMA-ES) on the margin over earlier versions and random, plus a share of the own score; `bid_trick` was set
#: by hand.
_TABLE: dict[str, tuple[float, float, float, float]] = {
    # Chance that a seat tries to win a trick it can win, if it
    "needing": (0.76, 0.91, 0.99, 0.93),  # needs more tricks for its bonus
    "content": (0.17, 0.28, 0.29, 0.24),  # has exactly what it wants
    "indifferent": (0.58, 0.34, 0.39, 0.53),  # neither
    "trumping": (0.35, 0.51, 0.70, 0.62),  # the part left when it takes red against another colour
    # Chance of a card to win a trick: luck + rank * q, plus red if its red cell is available, where q is the share of
    # the unseen cards that are lower.
    "luck": (-0.03, -0.15, -0.14, -0.14),
    "rank": (0.67, 0.96, 0.75, 0.69),
    "red": (0.06, 0.05, 0.06, 0.02),
    "spread": (0.20, 0.23, 0.23, 0.23),  # of the number of tricks, times the square root of the tricks to come
    "ducking": (0.66, 0.60, 0.51, 0.00),  # how much of these chances is left when the seat wants no more tricks
    # Paradox: cells of a rank go to its unseen cards at this rate, ...
    "rush": (1.57, 2.30, 1.82, 1.20),
    "reserve": (-0.14, -0.73, -0.80, -0.80),  # ... so many spare cards make the risk one half, and
    "calm": (7.80, 7.97, 5.42, 5.88),  # each further one shrinks it by this power of e.
    "stake": (1.81, 1.79, 1.74, 1.25),  # what a paradox costs beyond the tricks and the bonus
    "stuck": (0.69, 1.89, 2.32, 1.98),  # times a seat is stuck for each time that a random hand of its size would be
    "early_end": (0.54, 0.22, 0.20, 0.95),  # paradoxes before the next trick, on a full board, and
    "jam": (1.15, 0.29, 0.30, 0.45),  # the more of it for each seat that would be stuck with a random hand
    # Points
    "trick": (0.67, 1.88, 2.05, 1.45),
    "group": (0.04, 0.07, 0.03, 0.14),  # of each cell of the group, whether or not the bid is hit
    "growth": (0.32, 0.33, 0.33, 0.42),  # of each open cell beside the group, as a part of a cell
    "spoil": (0.17, 0.18, 0.16, 0.21),  # of taking the trick from a seat that needs it; its price where it harms
    "token": (0.44, 0.36, 0.35, 0.39),
    "red_token": (0.86, 0.47, 0.41, 0.91),
    # Bidding
    "bonus": (2.27, 2.95, 2.99, 4.51),  # expected for a bid that is hit
    "bid_trick": (0.60, 0.50, 0.45, 0.60),  # ... and of each trick that is then won
    "claimed": (0.18, 0.11, 0.12, 0.08),  # tricks fewer for each trick that the others claim beyond their share
    "confidence": (0.08, -0.16, -0.15, -0.13),  # tricks more than the hand promises
    # Discarding
    "drop_pair": (0.34, 0.34, 0.41, 0.31),  # for each further card of the rank in hand
    "keep_beside": (0.09, 0.08, 0.09, 0.06),  # for each card of a neighbouring rank in hand
    "drop_high": (0.06, -0.05, -0.06, -0.00),  # for the highest rank, less for lower ones
    "drop_middle": (0.16, 0.19, 0.16, 0.19),  # for a middle rank, less towards either end
}  # fmt: skip

WEIGHTS = {players: {name: row[players - 2] for name, row in _TABLE.items()} for players in (2, 3, 4, 5)}


class CatInTheBoxHeuristic(ReasonedAgent):
    """The hand-written player of ``cat_in_the_box_v0``, for every rule set. It is deterministic."""

    plays = "cat_in_the_box_v0"
    reasons = REASONS
    weights = WEIGHTS
    choose = staticmethod(choose)
    scratch = SCRATCH
