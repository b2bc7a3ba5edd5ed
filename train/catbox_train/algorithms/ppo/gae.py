"""Generalised advantage estimation (Schulman et al. 2016, https://arxiv.org/abs/1506.02438) seat by seat.

The rows of a window are the decisions of all seats of one game, in order:

    row      0 .. P-1        carried over from the previous window: row p holds seat p's decision whose successor
                             was not known yet, or is empty (seat -1)
             P .. P+T-1      the decisions of this window

A seat's transition runs from its own decision to its own next one, and is paid every reward in between (summed,
not discounted: ``gamma`` applies per own decision of the seat). So the rows are traversed backwards with one running
value, advantage and sum of rewards per seat. The last decision of a seat in the window has no successor yet, unless the
game ended: it is *pending*, and is carried to the next window with the rewards it has been paid so far. Of a decision
of a seat that does not learn, because an opponent has it, only the reward and the end of the game count.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import cached_njit


@cached_njit(nogil=True)
def compute_advantages(
    seats: np.ndarray,
    learns: np.ndarray,
    values: np.ndarray,
    rewards: np.ndarray,
    terminated: np.ndarray,
    gamma: float,
    gae_lambda: float,
    advantages: np.ndarray,
    pending_rows: np.ndarray,
    pending_rewards: np.ndarray,
) -> None:
    """Fill ``advantages``, ``pending_rows`` and ``pending_rewards`` in place.

    Takes ``seats`` (R, N) int8, the seat that decided (-1: an empty row); ``learns`` (R, N) bool, whether it is one of
    the learner's; ``values`` (R, N) float32, its value by the network; ``rewards`` (R, N, P) float32, what
    each seat was paid by the step; ``terminated`` (R, N) bool, whether the step ended the game.

    ``advantages`` (R, N) float32 is 0 in empty and pending rows and where the seat does not learn. ``pending_rows``
    (P, N) int64 is the row of seat p's pending decision, or -1; ``pending_rewards`` (P, N) float32 is what that
    decision has been paid so far.
    """
    num_rows, num_games = seats.shape
    num_players = rewards.shape[2]
    for shape in (learns.shape, values.shape, rewards.shape[:2], terminated.shape, advantages.shape):
        if shape != seats.shape:
            return
    if pending_rows.shape != (num_players, num_games) or pending_rewards.shape != (num_players, num_games):
        return
    next_value = np.zeros(num_players)
    next_advantage = np.zeros(num_players)
    paid = np.zeros(num_players)  # since the seat's next decision, going backwards
    followed = np.zeros(num_players, np.bool_)  # whether the successor of the seat's decision is known
    for game in range(num_games):
        next_value[:] = 0.0
        next_advantage[:] = 0.0
        paid[:] = 0.0
        followed[:] = False
        pending_rows[:, game] = -1
        pending_rewards[:, game] = 0.0
        for row in range(num_rows - 1, -1, -1):
            advantages[row, game] = 0.0
            seat = seats[row, game]
            if seat < 0 or seat >= num_players:
                continue
            if terminated[row, game]:  # later rows belong to another game
                next_value[:] = 0.0
                next_advantage[:] = 0.0
                paid[:] = 0.0
                followed[:] = True
            for player in range(num_players):
                paid[player] += rewards[row, game, player]
            if not learns[row, game]:
                continue
            if followed[seat]:
                error = paid[seat] + gamma * next_value[seat] - values[row, game]
                next_advantage[seat] = error + gamma * gae_lambda * next_advantage[seat]
                advantages[row, game] = next_advantage[seat]
            else:
                pending_rows[seat, game] = row
                pending_rewards[seat, game] = paid[seat]
                followed[seat] = True
            next_value[seat] = values[row, game]
            paid[seat] = 0.0
