"""Rewinding a world to the beginning of its round, with every card in the hand it was dealt to; and sampling deals of
earlier rounds, of which only the history is left.

A world tells which cards a seat has folded, but not in which order. The order is drawn uniformly from those consistent
with the seat's voids and with a claim.
"""

from __future__ import annotations

from catbox_env.core.bits import absolute_seat, bit_index, nth_bit, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import HIDDEN, history_rows
from catbox_env.core.rng import random_below
from catbox_env.games.cat_te.hidden.voids import claimed_card, voids_of
from catbox_env.games.cat_te.play.cards import (
    clear_table,
    fold_tricks,
    is_blind,
    pack,
    packed,
    suit_of,
)
from catbox_env.games.cat_te.play.state import ALL_CARDS, CLAIM, FOLD, NONE, SHOW
from catbox_env.games.cat_te.play.tricks import leaders_of
from catbox_env.games.cat_te.rules import BLIND_TRICK, HAND_SIZE, NUM_EARLY_TRICKS, NUM_TRICKS


@njit
def rewind(params, generator, state, observer, history, actions):
    """See ``core.kernels``. The weight is the number of orders in which the cards can have been folded; the
    acceptance probability is that number divided by the number of all orders."""
    players = params.num_players
    num_moves = moves_in_round(params, state)
    first = history_rows(history) - num_moves
    if first < 0:
        return -1.0, 0.0
    played = 0  # cards of each seat so far, packed
    for i in range(num_moves):
        mover = absolute_seat(int(history[first + i, 0]), observer, players)
        action = int(history[first + i, 1])
        if mover == NONE or packed(played, mover) == NUM_TRICKS:
            return -1.0, 0.0
        if action == HIDDEN and is_blind(params, packed(played, mover)):
            action = int(state.chosen[mover])
            if action == NONE:
                return -1.0, 0.0
        if action != CLAIM:
            played += pack(1, mover)
        actions[i] = action  # HIDDEN for a card folded by another seat
    weight, orders = 1.0, 1.0
    leaders = leaders_of(params, state)
    for seat in range(players):
        if seat != observer:
            weight *= sample_folds(
                params, generator, state, observer, history, first, actions, num_moves, leaders, seat
            )
            if weight < 0.0:
                return -1.0, 0.0
            for k in range(popcount(int(state.folded[seat]))):
                orders *= k + 1
    for seat in range(players):
        state.hand[seat] |= state.folded[seat]
        if state.chosen[seat] >= 0:
            state.hand[seat] |= 1 << int(state.chosen[seat])
        for trick in range(NUM_TRICKS):
            if state.faceup[seat, trick] >= 0:
                state.hand[seat] |= 1 << int(state.faceup[seat, trick])
    clear_table(params, state)
    return weight, weight / orders


@njit
def moves_in_round(params, state):
    """Actions taken in this round."""
    moves = 1 if state.claimed != NONE else 0
    for seat in range(params.num_players):
        moves += int(state.num_folded[seat]) + (1 if state.chosen[seat] >= 0 else 0)
        for trick in range(NUM_TRICKS):
            moves += 1 if state.faceup[seat, trick] >= 0 else 0
    return moves


@njit
def sample_folds(params, generator, state, observer, history, first, actions, num_moves, leaders, seat):
    """Write the folds of ``seat`` into ``actions``, in an order drawn from all possible ones; returns their number.

    Returns -1 if the history has a different number of folds than the world.
    """
    number, orders = popcount(int(state.folded[seat])), 1
    for k in range(number):
        orders *= k + 1
    ways, drawn = 0, 0
    for order in range(orders):
        if can_be_order(params, state, leaders, seat, order):
            ways += 1
            if random_below(generator, ways) == 0:
                drawn = order
    left = int(state.folded[seat])
    for i in range(num_moves):
        mover = absolute_seat(int(history[first + i, 0]), observer, params.num_players)
        if mover == seat and actions[i] == HIDDEN:
            if left == 0:
                return -1.0
            card, drawn = next_in_order(left, drawn)
            left &= ~card
            actions[i] = FOLD + bit_index(card)
    return float(ways) if left == 0 else -1.0


@njit
def next_in_order(left, order):
    """The first card, as a set of one, of permutation number ``order`` of a set; and the rest's permutation number."""
    number = popcount(left)
    return nth_bit(left, order % number), order // number


@njit
def can_be_order(params, state, leaders, seat, order):
    """Whether ``seat`` can have folded its cards in permutation number ``order``."""
    folds, voids = fold_tricks(params, state, seat), voids_of(params, state, leaders, seat)
    left = int(state.folded[seat])
    while left != 0 and folds != 0:
        one, order = next_in_order(left, order)
        left &= ~one
        trick, card = bit_index(folds & -folds), bit_index(one)
        folds &= folds - 1
        if trick >= packed(voids, suit_of(card)):  # it had no card of the suit left
            return False
        if state.claimed == seat and card == claimed_card(state) and trick < state.claim_trick:
            return False
    return True


@njit
def draw_round(params, generator, state, observer, known, history, first, actions):
    """See ``core.kernels``."""
    players = params.num_players
    count = place_seen_cards(params, state, observer, known, history, first, actions)
    if count < 0:
        return -1
    unseen = ALL_CARDS
    for seat in range(players):
        unseen &= ~int(state.hand[seat])
    if not known:
        state.upturned = NONE
    elif state.upturned != NONE:
        unseen &= ~(1 << int(state.upturned))
    played = 0  # cards of each seat so far, packed
    for i in range(first, first + count):
        mover = absolute_seat(int(history[i, 0]), observer, players)
        if actions[i] == HIDDEN:
            if popcount(int(state.hand[mover])) == HAND_SIZE:
                return -1
            card = nth_bit(unseen, random_below(generator, popcount(unseen)))
            unseen &= ~card
            state.hand[mover] |= card
            actions[i] = bit_index(card) + (0 if is_blind(params, packed(played, mover)) else FOLD)
        if actions[i] < CLAIM:
            played += pack(1, mover)
    for seat in range(players):
        while popcount(int(state.hand[seat])) < HAND_SIZE:
            card = nth_bit(unseen, random_below(generator, popcount(unseen)))
            unseen &= ~card
            state.hand[seat] |= card
    if params.side_pot > 0 and state.upturned == NONE:
        state.upturned = bit_index(nth_bit(unseen, random_below(generator, popcount(unseen))))
    clear_table(params, state)
    return count


@njit
def place_seen_cards(params, state, observer, known, history, first, actions):
    """Put the cards that ``observer`` saw played into the hands they came from; returns the number of actions.

    Arguments as in `draw_round`. Returns -1 for rows that no round can have.
    """
    players, used = params.num_players, history_rows(history)
    for seat in range(players):
        if not known or seat != observer:
            state.hand[seat] = 0
    seen, count, staying, winners = 0, 0, players, 0
    for trick in range(BLIND_TRICK + 1):
        led, best, winner, left = NONE, NONE, NONE, staying
        while left > 0:
            if first + count >= used:
                return -1
            mover = absolute_seat(int(history[first + count, 0]), observer, players)
            action = int(history[first + count, 1])
            if mover == NONE or action < HIDDEN or (action == HIDDEN and mover == observer):
                return -1
            actions[first + count] = action
            count += 1
            if action == SHOW:
                return count
            if action == CLAIM:
                continue
            left -= 1
            if action == HIDDEN:
                continue
            card = action if action < FOLD else action - FOLD
            if (seen >> card) & 1:
                return -1
            seen |= 1 << card
            if not known or mover != observer:
                if popcount(int(state.hand[mover])) == HAND_SIZE or others_cards(params, state, mover) & (
                    1 << card
                ):
                    return -1
                state.hand[mover] |= 1 << card
            if led == NONE:
                led = suit_of(card)
            if action < FOLD and suit_of(card) == led and card > best:
                best, winner = card, mover
        if winner == NONE:
            return -1
        winners |= 1 << winner
        if trick == NUM_EARLY_TRICKS - 1 and params.eliminates:
            staying = popcount(winners)
            if staying == 1:
                return count
    return count


@njit
def others_cards(params, state, seat):
    """The set of the cards in the hands of all seats except ``seat``."""
    cards = 0
    for other in range(params.num_players):
        if other != seat:
            cards |= int(state.hand[other])
    return cards
