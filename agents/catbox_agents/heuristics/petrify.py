"""A hand-written player of Petrify that can explain its choices.

It tries every legal action on the board that one observation shows, and gives the resulting position points for the
reasons below; the action with most points is played (the lowest id among equals). A player's "end cells" are the cells
on which its walk could end if it were to move.

| reason | what it scores |
|---|---|
| ``finish`` | the finishing place, where the move decides it; the other players that the move petrifies |
| ``others`` | the end cells that it leaves to the other players |
| ``answer`` | own end cells after the answer of the next player that leaves fewest of them |
| ``onward`` | end cells after its best next move: to avoid dead ends |

An action that lands on a teleport counts as much as the best way out of it. `explain` shows the points for a position,
``WEIGHTS`` holds the weight of each reason. The rules come from the game's own kernels: an observation hides nothing,
so the position can be set up from it and played on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from catbox_agents.heuristics.base import ReasonedAgent, best_action
from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.petrify.hidden import sample
from catbox_env.games.petrify.play import apply, end_cells, holds, legal_cells
from catbox_env.games.petrify.play import points as points_of_place
from catbox_env.games.petrify.state import NONE, STATE

REASONS = ("finish", "others", "answer", "onward")
FINISH, OTHERS, ANSWER, ONWARD = range(len(REASONS))


#: Points, most of them per unit of log2(1 + end cells): the first cells count most.
WEIGHTS = {
    "finish": 100.0,  # of each unit of reward that the place pays
    "petrified": 10.0,  # of each other player that the move petrifies
    "others": 1.0,  # of the end cells of each other player
    "answer": 1.5,  # of own end cells after the worst answer
    "stuck": 5.0,  # of having none then
    "onward": 1.0,  # of end cells after its best next move
}
#: The kernels need a generator, but draw nothing when they set up a position and play on.
NO_GENERATOR = None
SCRATCH = record_dtype([("boards", STATE, (4,)), ("points", np.float64, (len(REASONS),))])


@njit
def worth(cells: Any) -> float:
    """log2(1 + number of ``cells``)."""
    return float(np.log2(1 + popcount(cells)))


@njit
def score_position(
    params: Any, scratch: Any, k: int, me: int, num_out: int, weights: Any, points: Any
) -> None:
    """Fill ``points`` (reasons) for the position ``scratch.boards[k]`` after a turn of ``me``; the next board is used.

    ``num_out``: players petrified before that turn.
    """
    board, trial = scratch.boards[k], scratch.boards[k + 1]
    players = params.num_players
    for reason in range(len(REASONS)):
        points[reason] = 0.0
    if board.place[me] != NONE:
        points[FINISH] = weights.finish * points_of_place(params, board.place[me])
        return
    for seat in range(players):
        if board.place[seat] != NONE:
            points[FINISH] += weights.petrified
        elif seat != me:
            points[OTHERS] -= weights.others * worth(end_cells(params, board, seat))
    points[FINISH] -= weights.petrified * num_out
    points[ANSWER] = np.inf
    answers = legal_cells(params, board)
    for cell in range(params.num_cells):
        if holds(answers, cell):
            scratch.boards[k + 1] = scratch.boards[k]
            apply(params, NO_GENERATOR, trial, cell)
            left = worth(end_cells(params, trial, me))
            left = weights.answer * left if left > 0.0 else -weights.stuck
            points[ANSWER] = min(points[ANSWER], left)
    own = end_cells(params, board, me)
    for cell in range(params.num_cells):
        if holds(own, cell):
            scratch.boards[k + 1] = scratch.boards[k]
            trial.current_player = me
            apply(params, NO_GENERATOR, trial, cell)
            points[ONWARD] = max(points[ONWARD], weights.onward * worth(end_cells(params, trial, me)))


@njit
def score_action(params: Any, scratch: Any, action: int, weights: Any, points: Any) -> None:
    """Fill ``points`` (reasons) for an action in ``scratch.boards[0]``; the rest of ``scratch`` is used."""
    boards = scratch.boards
    me, num_out = int(boards[0].current_player), 0
    for seat in range(params.num_players):
        num_out += boards[0].place[seat] != NONE
    boards[1] = boards[0]
    apply(params, NO_GENERATOR, boards[1], action)
    if not boards[1].teleporting:
        score_position(params, scratch, 1, me, num_out, weights, points)
        return
    exits, best = legal_cells(params, boards[1]), -np.inf
    for cell in range(params.num_cells):
        if holds(exits, cell):
            boards[2] = boards[1]
            apply(params, NO_GENERATOR, boards[2], cell)
            score_position(params, scratch, 2, me, num_out, weights, scratch.points)
            total = 0.0
            for reason in range(len(REASONS)):
                total += scratch.points[reason]
            if total > best:
                best = total
                for reason in range(len(REASONS)):
                    points[reason] = scratch.points[reason]


@njit
def choose(params: Any, weights: Any, seen: Any, mask: Any, scratch: Any, points: Any) -> int:
    """See `ReasonedAgent`."""
    if sample(params, seen, NO_GENERATOR, scratch.boards[:1]):
        return -1
    for action in range(len(mask)):
        if mask[action]:
            score_action(params, scratch, action, weights, points[action])
    return best_action(mask, points)


class PetrifyHeuristic(ReasonedAgent):
    """The hand-written player of ``petrify_v0``, for every rule set. It is deterministic."""

    plays = "petrify_v0"
    reasons = REASONS
    weights = WEIGHTS
    choose = staticmethod(choose)
    scratch = SCRATCH
