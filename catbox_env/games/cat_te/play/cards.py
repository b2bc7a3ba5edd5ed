"""The cards of Cat Te: suits and ranks, blind choices, and how many cards a seat has played.

A set of cards is one integer. ``leaders`` packs the leaders of tricks 0, 1, .. up to the current one into one integer,
3 bits each.
"""

from __future__ import annotations

from catbox_env.core.bits import next_seat
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
)

#: Low bits of a card that hold its suit; the higher ones hold its rank.
SUIT_BITS = 2
#: Bits per seat or trick among packed numbers.
PACKED_BITS = 3
PACKED_MASK = (1 << PACKED_BITS) - 1


@njit
def suit_of(card):
    """The suit of a card."""
    return card & (NUM_SUITS - 1)


@njit
def rank_of(card):
    """The rank of a card."""
    return card >> SUIT_BITS


@njit
def card_at(rank, suit):
    """The card of that rank and suit."""
    return rank * NUM_SUITS + suit


@njit
def packed(numbers, i):
    """The i-th of the numbers packed into one integer, 3 bits each."""
    return (numbers >> (PACKED_BITS * i)) & PACKED_MASK


@njit
def pack(number, i):
    """``number`` as the i-th of packed numbers, all others 0."""
    return number << (PACKED_BITS * i)


@njit
def clear_table(params, state):
    """Begin a round except for the hands: nothing played or claimed, everybody in, the first seat to lead."""
    first = next_seat(int(state.dealer), params.num_players)
    state.leader = first
    state.current_player = first
    state.led = NONE
    state.trick = 0
    state.claimed = NONE
    state.claim_trick = NONE
    for seat in range(params.num_players):
        state.folded[seat] = 0
        state.chosen[seat] = NONE
        state.num_folded[seat] = 0
        state.early_tricks[seat] = 0
        state.tricks_won[seat] = 0
        state.in_round[seat] = 1
        for trick in range(NUM_TRICKS):
            state.faceup[seat, trick] = NONE


@njit
def is_blind(params, trick):
    """Whether the followers of ``trick`` choose cards face down, which are shown together."""
    return params.eliminates != 0 and trick == BLIND_TRICK


@njit
def num_played(params, state, seat):
    """The number of cards ``seat`` has played, face up or down: one in each trick in which it had its turn."""
    if not state.in_round[seat]:
        return NUM_EARLY_TRICKS
    leader, mover = int(state.leader), int(state.current_player)
    had_turn = (int(seat) - leader) % params.num_players < (mover - leader) % params.num_players
    return int(state.trick) + (1 if had_turn else 0)


@njit
def has_chosen(params, state, seat):
    """Whether ``seat`` has made a blind choice that is not shown yet."""
    trick = int(state.trick)
    return is_blind(params, trick) and seat != state.leader and num_played(params, state, seat) > trick


@njit
def fold_tricks(params, state, seat):
    """The set of the tricks in which ``seat`` folded."""
    folds = 0
    for trick in range(min(num_played(params, state, seat), LAST_TRICK)):
        if state.faceup[seat, trick] < 0 and not is_blind(params, trick):
            folds |= 1 << trick
    return folds


@njit
def known_cards(params, state):
    """The set of all cards in ``state``, including the upturned one; NONE if a card occurs twice."""
    known = 0
    if state.upturned >= 0:
        known = 1 << int(state.upturned)
    for seat in range(params.num_players):
        for cards in (int(state.hand[seat]), int(state.folded[seat])):
            if known & cards:
                return NONE
            known |= cards
        for place in range(NUM_TRICKS + 1):
            card = int(state.faceup[seat, place]) if place < NUM_TRICKS else int(state.chosen[seat])
            if card >= 0:
                if (known >> card) & 1:
                    return NONE
                known |= 1 << card
    return known
