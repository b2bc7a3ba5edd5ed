"""What a seat of Cat Te cannot see: how worlds are sampled, and how a round came about.

A world is what a seat cannot see: the hands, folded cards and blind choices of the others, and the undealt cards. All
worlds that agree with the observation are equally likely. They agree if every place has the right number of cards; if a
player who played off suit has no card of the led suit in hand, and folded such cards only before; and if the claimer
has the claimed card and did not fold it before the claim. Two worlds differ if a hand, a blind choice or the set of a
seat's folded cards does; the order of the folds is not part of a world.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import (
    bit_index,
    lowest_bit,
    nth_bit,
    one_hot_index,
    popcount,
    relative_seat,
)
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import HIDDEN, history_rows
from catbox_env.core.rng import random_below
from catbox_env.games.cat_te.counting import NUM_KINDS, find_places, num_held, sample_counts
from catbox_env.games.cat_te.observe import read_public, read_set
from catbox_env.games.cat_te.play import claiming_card, clear_table, fold_tricks, is_blind, suit_of
from catbox_env.games.cat_te.rules import DOUBLE, HAND_SIZE, NUM_CARDS, NUM_TRICKS
from catbox_env.games.cat_te.state import ALL_CARDS, FOLD, NONE

# Worlds.


@njit
def sample(params, observation, generators, states):
    """Fill ``states``, all zeros, with worlds that agree with ``observation``; 1, and no world, if none does."""
    state, observer = states[0], observing_seat(params, observation)
    unseen = read_position(params, observation, observer, state) if observer != NONE else NONE
    if unseen == NONE:
        return 1
    # The places that cannot hold every card are filled first, all others from the rest.
    places = find_places(params, state, observer, unseen)
    if places.ways[0, -1] == 0.0:
        return 1
    deck = np.empty(NUM_CARDS, np.int8)
    for i in range(1, len(states)):
        states[i] = state
    for i in range(len(states)):
        rest = fill_places(generators[i], states[i], places, unseen)
        deal_rest(params, generators[i], states[i], observer, rest, deck)
    return 0


@njit
def observing_seat(params, observation):
    """The observer's seat: given with several rounds, else inferred from the dealer; NONE if it is unknown."""
    if params.num_rounds > 1:
        return one_hot_index(observation, params.at.seat, params.num_players)
    dealer = one_hot_index(observation, params.at.dealer, params.num_players)
    return (params.dealer - dealer) % params.num_players if dealer >= 0 else NONE


@njit
def read_position(params, observation, observer, state):
    """Read what ``observer`` sees into ``state``; returns the set of the cards that it does not see.

    NONE if the round cannot be played to its end from there. It does not check whether the position is reachable.
    """
    if not read_public(params, observation, observer, state):
        return NONE
    if params.side_pot > 0 and state.upturned == NONE:
        return NONE
    if state.claimed == NONE:
        if state.claim_trick != NONE:
            return NONE
    elif not 0 <= state.claim_trick <= state.trick or claiming_card(state) == NONE:
        return NONE
    finished = params.num_rounds - 1 - int(state.rounds_left)
    stakes = params.num_players * params.side_pot  # of a round
    if not stakes <= state.pot <= stakes * (1 + finished):
        return NONE
    for seat in range(params.num_players):
        if state.scores[seat] < -finished * (DOUBLE + params.side_pot):
            return NONE
    state.hand[observer] = read_set(observation, params.at.hand)
    state.folded[observer] = read_set(observation, params.at.folded)
    state.chosen[observer] = one_hot_index(observation, params.at.chosen, NUM_CARDS)
    chosen = 1 if has_chosen(params, state, observer) else 0
    if (
        popcount(state.hand[observer]) != num_held(state, observer) - chosen
        or popcount(state.folded[observer]) != state.num_folded[observer]
        or (state.chosen[observer] != NONE) != (chosen > 0)
    ):
        return NONE
    return unseen_cards(params, state)


@njit
def has_chosen(params, state, seat):
    """Whether ``seat`` has made a blind choice that is not shown yet, from public information."""
    turn = relative_seat(int(seat), int(state.leader), params.num_players)
    now = relative_seat(int(state.current_player), int(state.leader), params.num_players)
    return is_blind(params, state.trick) and state.in_round[seat] != 0 and 0 < turn < now


@njit
def unseen_cards(params, state):
    """The set of the cards that are not in ``state``; NONE if a card occurs twice."""
    seen, number = 0, 0
    if state.upturned != NONE:
        seen, number = 1 << int(state.upturned), 1
    for seat in range(params.num_players):
        seen |= state.hand[seat] | state.folded[seat]
        number += popcount(state.hand[seat]) + popcount(state.folded[seat])
        for place in range(NUM_TRICKS + 1):
            card = int(state.faceup[seat, place]) if place < NUM_TRICKS else int(state.chosen[seat])
            if card != NONE:
                seen |= 1 << card
                number += 1
    return ALL_CARDS & ~seen if popcount(seen) == number else NONE


@njit
def fill_places(generator, state, places, rest):
    """Deal cards from the set ``rest`` to ``places``; returns the set of those left."""
    index = places.ways.shape[1] - 1
    for place in range(len(places.rows)):
        row = places.rows[place]
        k = sample_counts(generator, places, place, index)
        cards = 0
        for kind in range(NUM_KINDS):
            for i in range(places.counts[place, k, kind]):
                number = int(places.left[place, index, kind]) - i
                card = nth_bit(places.hidden[kind] & rest, random_below(generator, number))
                rest &= ~card
                cards |= card
        index -= places.taken[place, k]
        if row.is_folded:
            state.folded[row.seat] = cards
        else:
            state.hand[row.seat] = cards
    return rest


@njit
def deal_rest(params, generator, state, observer, rest, deck):
    """Deal the set ``rest`` to the places of the others that are not filled; the blind choices are among the hands.

    ``deck`` (NUM_CARDS,) is scratch.
    """
    number = 0
    for card in range(NUM_CARDS):
        deck[number] = card
        number += (rest >> card) & 1
    for seat in range(params.num_players):
        if seat == observer:
            continue
        held = num_held(state, seat)
        for _ in range(held - popcount(state.hand[seat])):
            state.hand[seat] |= take_card(generator, deck, number)
            number -= 1
        for _ in range(int(state.num_folded[seat]) - popcount(state.folded[seat])):
            state.folded[seat] |= take_card(generator, deck, number)
            number -= 1
        if has_chosen(params, state, seat):
            card = nth_bit(state.hand[seat], random_below(generator, held))
            state.hand[seat] &= ~card
            state.chosen[seat] = bit_index(card)


@njit
def take_card(generator, deck, number):
    """A random one of the first ``number`` cards of ``deck``, as a set of one; the last of them takes its place."""
    place = random_below(generator, number)
    card = 1 << int(deck[place])
    deck[place] = deck[number - 1]
    return card


# Pasts.


@njit
def rewind(params, generator, state, observer, history, actions):
    """See ``core.kernels``.

    A world tells which cards a seat has folded, but not in which order: that is drawn uniformly from those that agree
    with the seat's voids and its claim. The weight is the number of these orders, for all seats together; the
    acceptance probability is that number divided by the number of all orders.
    """
    num_moves = 1 if state.claimed != NONE else 0
    for seat in range(params.num_players):
        num_moves += HAND_SIZE - num_held(state, seat) + (1 if state.chosen[seat] != NONE else 0)
    first = history_rows(history) - num_moves
    if first < 0:
        return -1.0, 0.0
    for i in range(num_moves):
        actions[i] = history[first + i, 1]
    weight, orders = 1.0, 1.0
    for seat in range(params.num_players):
        if seat != observer:
            order, possible, all_orders = sample_order(generator, state, seat)
            weight *= possible
            orders *= all_orders
            mover = relative_seat(seat, observer, params.num_players)
            if not reveal_actions(state, seat, order, mover, history[first : first + num_moves], actions):
                return -1.0, 0.0
    for i in range(num_moves):
        if actions[i] == HIDDEN:
            return -1.0, 0.0
    for seat in range(params.num_players):
        state.hand[seat] |= state.folded[seat]
        if state.chosen[seat] != NONE:
            state.hand[seat] |= 1 << int(state.chosen[seat])
        for trick in range(NUM_TRICKS):
            if state.faceup[seat, trick] != NONE:
                state.hand[seat] |= 1 << int(state.faceup[seat, trick])
    clear_table(params, state)
    return weight, weight / orders


@njit
def sample_order(generator, state, seat):
    """The number of a permutation in which ``seat`` can have folded its cards, drawn uniformly.

    Also returns how many such permutations there are, and how many in all.
    """
    orders = 1
    for k in range(popcount(state.folded[seat])):
        orders *= k + 1
    drawn, possible = 0, 0
    for order in range(orders):
        if can_be_order(state, seat, order):
            possible += 1
            if random_below(generator, possible) == 0:
                drawn = order
    return drawn, possible, orders


@njit
def can_be_order(state, seat, order):
    """Whether ``seat`` can have folded its cards in permutation number ``order``."""
    left, folds = int(state.folded[seat]), fold_tricks(state, seat)
    while left != 0:
        card, order = next_in_order(left, order)
        trick = bit_index(lowest_bit(folds))
        left &= ~card
        folds &= folds - 1
        card = bit_index(card)
        if trick >= state.void_since[seat, suit_of(card)]:  # it had no card of the suit left
            return False
        if state.claimed == seat and card == claiming_card(state) and trick < state.claim_trick:
            return False
    return True


@njit
def next_in_order(left, order):
    """The first card, as a set of one, of permutation number ``order`` of a set; and the rest's permutation number."""
    number = popcount(left)
    return nth_bit(left, order % number), order // number


@njit
def reveal_actions(state, seat, order, mover, rows, actions):
    """Fill in the hidden actions of ``seat``: its folds, in permutation number ``order``, and then its blind choice.

    ``rows`` (n, 2): the history of the round, in which the seat is called ``mover``. Returns whether it has as many.
    """
    left, choice = int(state.folded[seat]), int(state.chosen[seat])
    for i in range(len(rows)):
        if rows[i, 0] == mover and rows[i, 1] == HIDDEN:
            if left != 0:
                card, order = next_in_order(left, order)
                left &= ~card
                actions[i] = FOLD + bit_index(card)
            elif choice != NONE:
                actions[i] = choice
                choice = NONE
    return left == 0 and choice == NONE
