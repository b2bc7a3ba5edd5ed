"""What a seat of Cat Te cannot see: how worlds are sampled, and how a round came about.

A world is what a seat cannot see: the hands, folded cards and blind choices of the others, and the undealt cards. All
worlds that agree with the observation are equally likely. They agree if every place has the right number of cards; if a
player who played off suit has no card of the led suit in hand, and folded such cards only before; and if the claimer
has the claimed card and did not fold it before the claim. Two worlds differ if a hand, a blind choice or the set of a
seat's folded cards does; the order of the folds is not part of a world.
"""

from __future__ import annotations

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
from catbox_env.games.cat_te.counting import (
    NUM_KINDS,
    count_of,
    count_ways,
    find_places,
    num_held,
    sample_counts,
)
from catbox_env.games.cat_te.observe import read_public, read_set
from catbox_env.games.cat_te.play import claiming_card, clear_table, draw_cards, suit_of
from catbox_env.games.cat_te.rules import HAND_SIZE, NUM_CARDS, NUM_TRICKS
from catbox_env.games.cat_te.state import ALL_CARDS, FOLD, NONE

# Worlds.


@njit
def sample(params, observation, generators, states):
    """Fill ``states``, all zeros, with worlds that agree with ``observation``; 1, and no world, if none does."""
    state, observer = states[0], observing_seat(params, observation)
    unseen = read_position(params, observation, observer, state) if observer != NONE else NONE
    if unseen == NONE:
        return 1
    places, left = find_places(params, state, observer, unseen)
    if count_ways(places, left) == 0.0:
        return 1
    for i in range(1, len(states)):
        states[i] = state
    for i in range(len(states)):
        fill_places(generators[i], states[i], places, unseen, left)
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
    if state.claimed != NONE and (not 0 <= state.claim_trick <= state.trick or claiming_card(state) == NONE):
        return NONE
    finished = params.num_rounds - 1 - int(state.rounds_left)
    stakes = params.num_players * params.side_pot  # of a round
    if not stakes <= state.pot <= stakes * (1 + finished) or (stakes > 0 and state.pot % stakes != 0):
        return NONE
    for seat in range(params.num_players):
        if int(state.scores[seat]) * params.num_rounds < finished * params.score_bounds[0]:
            return NONE
    chosen = one_hot_index(observation, params.at.chosen, NUM_CARDS)
    if (chosen != NONE) != (state.chosen[observer] != NONE):
        return NONE
    state.chosen[observer] = chosen
    state.hand[observer] = read_set(observation, params.at.hand)
    state.folded[observer] = read_set(observation, params.at.folded)
    held = num_held(state, observer) - (1 if chosen != NONE else 0)
    if popcount(state.hand[observer]) != held:
        return NONE
    if popcount(state.folded[observer]) != popcount(state.fold_tricks[observer]):
        return NONE
    return unseen_cards(params, state, observer)


@njit
def unseen_cards(params, state, observer):
    """The set of the cards that ``observer`` does not see; NONE if it sees one twice."""
    seen = state.hand[observer] | state.folded[observer]
    number = popcount(state.hand[observer]) + popcount(state.folded[observer])
    for seat in range(params.num_players):
        for trick in range(NUM_TRICKS):
            if state.faceup[seat, trick] != NONE:
                seen |= 1 << int(state.faceup[seat, trick])
                number += 1
    for card in (state.upturned, state.chosen[observer]):
        if card != NONE:
            seen |= 1 << int(card)
            number += 1
    return ALL_CARDS & ~seen if popcount(seen) == number else NONE


@njit
def fill_places(generator, state, places, rest, left):
    """Deal cards from the set ``rest``, whose counts are ``left``, to ``places``."""
    size = popcount(rest)
    for place in range(len(places.rows)):
        row, cards = places.rows[place], 0
        if place < len(places.ways) - 1:
            counts = sample_counts(generator, places, place, left)
            for kind in range(NUM_KINDS):
                of_kind, number = count_of(places, left, kind), count_of(places, counts, kind)
                cards |= draw_cards(generator, places.hidden[kind] & rest, of_kind, number)
            left -= counts
        else:
            cards = draw_cards(generator, rest, size, popcount(row.times))
        rest &= ~cards
        size -= popcount(row.times)
        if row.times >> NUM_TRICKS == 0:
            state.folded[row.seat] = cards
            continue
        state.hand[row.seat] = cards
        if state.chosen[row.seat] != NONE:
            card = draw_cards(generator, cards, popcount(cards), 1)
            state.hand[row.seat] &= ~card
            state.chosen[row.seat] = bit_index(card)


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
    left, folds = int(state.folded[seat]), int(state.fold_tricks[seat])
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
