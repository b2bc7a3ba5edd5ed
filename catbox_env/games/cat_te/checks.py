"""Whether a record is a state of Cat Te that play, a given deal or a draw can lead to, whatever bytes it holds."""

from __future__ import annotations

import numba

from catbox_env.games.cat_te.cards import (
    is_sound_hand,
    is_sound_table,
    known_cards,
    leaders_of,
    nobody_swept,
    num_played,
)
from catbox_env.games.cat_te.rules import NUM_CARDS, NUM_SUITS, NUM_TRICKS
from catbox_env.games.cat_te.scores import balance
from catbox_env.games.cat_te.state import (
    ALL_CARDS,
    BLIND_TRICK,
    INFO_CLAIMED,
    INFO_ELIMINATED,
    INFO_SCORE,
    INFO_SHOWED,
    INFO_TRICKS,
    INFO_WON,
    LAST_TRICK,
    NONE,
    NUM_EARLY_TRICKS,
)


@numba.njit
def check_state(params, state):
    """Whether the game can be played on from ``state``, or is over; see ``core.kernels.Kernels``."""
    if not in_range(params, state) or not info_in_range(params, state):
        return False
    tricks, mover = int(state.trick), int(state.current_player)
    if state.terminated:
        mover = int(state.leader)
        if tricks == 0:
            mover = shower_of(params, state)
        else:
            tricks += 1
        if mover == NONE or not is_sound_end(params, state):
            return False
    elif tricks > BLIND_TRICK or not nobody_swept(params, state) or not balance(params, state, False):
        return False
    if known_cards(params, state) == NONE or not is_sound_table(params, state, tricks, mover):
        return False
    leaders = leaders_of(params, state, tricks)
    moves = 1 if state.claimed != NONE else 0
    for seat in range(params.num_players):
        if not is_sound_hand(params, state, leaders, seat, tricks, mover):
            return False
        moves += num_played(params, state, seat, tricks, mover)
    return is_sound_history(params, state, moves)


@numba.njit
def between(low, value, high):
    """Whether ``value`` is one of ``low`` .. ``high``."""
    return low <= value and value <= high


@numba.njit
def in_range(params, state):
    """Whether every field of the round has a value that it can have by itself."""
    seats = params.num_players - 1
    if not between(0, state.dealer, seats) or not between(0, state.leader, seats):
        return False
    if not between(0, state.trick, LAST_TRICK) or not between(NONE, state.led, NUM_SUITS - 1):
        return False
    if not between(NONE, state.claimed, seats) or not between(NONE, state.claim_trick, BLIND_TRICK):
        return False
    if not between(
        0 if params.side_pot > 0 else NONE, state.upturned, NUM_CARDS - 1 if params.side_pot > 0 else NONE
    ):
        return False
    if not between(0, state.rounds_left, params.num_rounds - 1):
        return False
    for seat in range(params.num_players):
        cards = int(state.hand[seat]) | int(state.folded[seat])
        if cards & ~ALL_CARDS or not between(NONE, state.chosen[seat], NUM_CARDS - 1):
            return False
        for trick in range(NUM_TRICKS):
            if not between(NONE, state.faceup[seat, trick], NUM_CARDS - 1):
                return False
        if not between(0, state.num_folded[seat], LAST_TRICK) or not between(0, state.in_round[seat], 1):
            return False
    return True


@numba.njit
def info_in_range(params, state):
    """Whether the last finished round, which may be one of the game before, can have been such."""
    most = params.num_players * (2 + params.num_rounds * params.side_pot)
    for seat in range(params.num_players):
        for row in (INFO_WON, INFO_ELIMINATED, INFO_SHOWED, INFO_CLAIMED):
            if not between(0, state.info[row, seat], 1):
                return False
        if not between(0, state.info[INFO_TRICKS, seat], NUM_TRICKS):
            return False
        if not between(-most, state.info[INFO_SCORE, seat], most):
            return False
    return True


@numba.njit
def shower_of(params, state):
    """The seat that has shown an instant win in the round that ended the game; NONE if none has, or several."""
    shower = NONE
    for seat in range(params.num_players):
        if state.info[INFO_SHOWED, seat]:
            if shower != NONE or params.instant_wins == 0:
                return NONE
            shower = seat
    return shower


@numba.njit
def is_sound_end(params, state):
    """Whether the last round ended as one can, everything is paid, and the win is given away once."""
    if state.rounds_left != 0 or state.pot != 0 or not state.round_ended:
        return False
    if state.trick not in (0, NUM_EARLY_TRICKS - 1, LAST_TRICK):
        return False
    if (state.trick == NUM_EARLY_TRICKS - 1) == nobody_swept(params, state):
        return False
    most = params.num_rounds * params.num_players * (2 + params.side_pot)
    total, shares = 0, 0.0
    for seat in range(params.num_players):
        if not between(-most, state.scores[seat], most):
            return False
        total += int(state.scores[seat])
        shares += state.win_shares[seat]
    return total == 0 and abs(shares - 1.0) < 1e-4


@numba.njit
def is_sound_history(params, state, moves):
    """Whether the game can have taken the moves that it counts; ``moves`` were taken in this round.

    A state that was drawn begins to count at 0 in the middle of a game.
    """
    finished = params.num_rounds - int(state.rounds_left) - (0 if state.terminated else 1)
    if not between(state.terminated, state.rounds_ended, finished) or state.num_moves < state.rounds_ended:
        return False
    if not state.terminated:
        if state.round_ended and (moves > 0 or state.rounds_ended == 0):
            return False
        for seat in range(params.num_players):
            if state.win_shares[seat] != 0.0:
                return False
    a_round = params.num_players * LAST_TRICK + (1 if params.side_pot > 0 else 0)
    return state.num_moves <= state.rounds_ended * a_round + (0 if state.terminated else moves)
