"""The check of external states: every seat has its cards, and the round can be played to its end.

It does not check whether a position is reachable: who won which trick, say, need not follow from the cards.
"""

from __future__ import annotations

from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.play.cards import (
    fold_tricks,
    has_chosen,
    known_cards,
    num_played,
    packed,
    suit_of,
)
from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.play.tricks import leaders_of
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    DOUBLE,
    HAND_SIZE,
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_TRICKS,
)


@njit
def check_state(params, state):
    """Whether the game can be played to its end from ``state``; see ``core.kernels.Kernels``."""
    if known_cards(params, state) == NONE or (state.claimed == NONE) != (state.claim_trick == NONE):
        return False
    if state.terminated:
        return True
    if not check_table(params, state):
        return False
    moves = 0 if state.claimed == NONE else 1
    for seat in range(params.num_players):
        if not check_hand(params, state, seat):
            return False
        moves += num_played(params, state, seat)
    finished = params.num_rounds - 1 - int(state.rounds_left)
    a_round = params.num_players * LAST_TRICK + (1 if params.side_pot > 0 else 0)
    return state.rounds_ended <= finished and state.num_moves <= finished * a_round + moves


@njit
def check_hand(params, state, seat):
    """Whether ``seat`` holds, has chosen and has folded as many cards as its turns and the table imply."""
    held = HAND_SIZE - num_played(params, state, seat)
    if popcount(int(state.hand[seat])) != held or popcount(int(state.folded[seat])) != state.num_folded[seat]:
        return False
    return (state.chosen[seat] >= 0) == has_chosen(params, state, seat)


@njit
def check_table(params, state):
    """Whether the public information is consistent: tricks and folds, who is in, who led, what was paid."""
    trick, leader, mover = int(state.trick), int(state.leader), int(state.current_player)
    if trick > BLIND_TRICK or not state.in_round[leader] or not state.in_round[mover]:
        return False
    leaders, led = leaders_of(params, state), int(state.faceup[leader, trick])
    if leaders == NONE or packed(leaders, trick) != leader or (led >= 0) != (mover != leader):
        return False
    if state.led != (suit_of(led) if led >= 0 else NONE):
        return False
    paid = DOUBLE + params.side_pot  # at most, by each seat in each round
    least = -paid * (params.num_rounds - 1 - int(state.rounds_left))
    antes, tricks, early = int(state.pot), 0, 0
    for seat in range(params.num_players):
        antes += int(state.scores[seat])
        tricks += int(state.tricks_won[seat])
        early += int(state.early_tricks[seat])
        out = params.eliminates != 0 and trick >= NUM_EARLY_TRICKS and state.early_tricks[seat] == 0
        if state.scores[seat] < least or state.in_round[seat] == out:
            return False
        if state.num_folded[seat] != popcount(fold_tricks(params, state, seat)):
            return False
        shown = num_played(params, state, seat) - (1 if has_chosen(params, state, seat) else 0)
        for later in range(shown, NUM_TRICKS):
            if state.faceup[seat, later] >= 0:
                return False
    if state.pot < 0 or antes != params.num_players * params.side_pot:
        return False
    return tricks == trick and early == min(trick, NUM_EARLY_TRICKS)
