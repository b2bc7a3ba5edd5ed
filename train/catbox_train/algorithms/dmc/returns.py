"""The returns of decisions: what the seat is paid from its decision to the end of the game.

The rows of a window are one game's decisions, the oldest first: decisions of earlier windows that wait for the end of
their game, and then those of this window. Returns are undiscounted (DouZero, Zha et al. 2021, section 3.1, with
gamma = 1).
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import cached_njit


@cached_njit(nogil=True)
def compute_returns(
    seats: np.ndarray,
    learns: np.ndarray,
    rewards: np.ndarray,
    terminated: np.ndarray,
    num_carried: int,
    returns: np.ndarray,
    known: np.ndarray,
) -> None:
    """Fill ``returns`` (R, N) float32 and ``known`` (R, N) bool in place.

    Takes ``seats`` (R, N) int8, the seat that decided (-1: an empty row); ``learns`` (R, N) bool, whether it is one of
    the learner's; ``rewards`` (R, N, P) float32, what each seat was paid by the step; ``terminated`` (R, N) bool,
    whether the step ended the game. The first ``num_carried`` rows are carried over: their ``returns`` hold what their
    seat was paid before this window, and of the rest only their ``seats`` count.

    ``returns`` are complete where ``known``; otherwise the game is not over, and they are what was paid so far. Rows
    that are empty or of a seat that does not learn have the return 0 and are not known.
    """
    num_rows, num_games = seats.shape
    num_players = rewards.shape[2]
    if (
        min(learns.shape[0], rewards.shape[0], terminated.shape[0], returns.shape[0], known.shape[0])
        < num_rows
    ):
        return
    if (
        min(learns.shape[1], rewards.shape[1], terminated.shape[1], returns.shape[1], known.shape[1])
        < num_games
    ):
        return
    paid = np.zeros(num_players)
    for game in range(num_games):
        paid[:] = 0.0
        ended = False
        for row in range(num_rows - 1, -1, -1):
            seat = seats[row, game]
            carried = row < num_carried
            if not carried:
                if terminated[row, game]:  # later rows belong to another game
                    paid[:] = 0.0
                    ended = True
                for player in range(num_players):
                    paid[player] += rewards[row, game, player]
            if seat < 0 or seat >= num_players or not (carried or learns[row, game]):
                returns[row, game] = 0.0
                known[row, game] = False
                continue
            before = returns[row, game] if carried else np.float32(0.0)
            returns[row, game] = before + paid[seat]
            known[row, game] = ended
