"""Sampling what a seat cannot see: a world (a determinization), uniform among all that agree with its observation.

Hidden from the observer: the hands, folded cards and blind choices of the others, and the undealt cards. Known about
them: their numbers; that the claimer held the claimed card when it claimed, so that it is not among the cards folded
before; and that a player who showed a card of another suit had none of the led suit at that time, so that none is in
its hand now, or was folded later.

The places that this restricts are filled first: the number of cards of each suit is sampled in proportion to the ways
(``counting``), then the cards themselves. All other hidden cards are dealt from the rest. Two states differ if a hand,
a blind choice or the set of a seat's folded cards does; the order of the folds is not part of a state.
"""

from __future__ import annotations

from catbox_env.core.bits import bit_index, nth_bit, one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.cat_te.hidden.counting import (
    END,
    IN_HAND,
    IS_FOLDED,
    add_place,
    all_ways,
    bound_chain,
    count_ways,
    new_places,
    random_unit,
    sample_counts,
)
from catbox_env.games.cat_te.hidden.voids import (
    NEVER,
    NO_VOIDS,
    any_fold_is_late,
    claimed_card,
    count_of,
    counts_of,
    folds_without_claimed,
    voids_of,
)
from catbox_env.games.cat_te.observe.observation import read_public, read_set
from catbox_env.games.cat_te.play.cards import (
    fold_tricks,
    has_chosen,
    known_cards,
    num_played,
    packed,
    suit_of,
)
from catbox_env.games.cat_te.play.check_state import check_hand, check_table
from catbox_env.games.cat_te.play.state import ALL_CARDS, NONE, ONE_SUIT
from catbox_env.games.cat_te.play.tricks import leaders_of
from catbox_env.games.cat_te.rules import HAND_SIZE, NUM_CARDS, NUM_SUITS


@njit
def sample(params, observation, generators, states):
    """Sample uniformly from the states that agree with ``observation``; 1 if none does."""
    if len(states) == 0:
        return 0
    state = states[0]
    observer = observing_seat(params, observation)
    if observer == NONE:
        return 1
    read_public(params, observation, observer, state)
    for seat in range(params.num_players):
        own = seat == observer
        state.hand[seat] = read_set(observation, params.at.hand) if own else 0
        state.folded[seat] = read_set(observation, params.at.folded) if own else 0
        state.chosen[seat] = one_hot_index(observation, params.at.chosen, NUM_CARDS) if own else NONE
    if not is_under_way(params, state, observer):
        return 1
    unseen = ALL_CARDS & ~known_cards(params, state)
    claimer, claimed = NONE, 0
    if state.claimed != NONE and state.claimed != observer:
        claimed = unseen & (1 << claimed_card(state))
        if claimed != 0:
            claimer = int(state.claimed)
            unseen &= ~claimed
    places = new_places()
    held, folded, num_places = lay_out(params, state, observer, claimer, places, unseen)
    count_ways(places, num_places, counts_of(unseen))
    held_ways, folded_ways = all_ways(places, held, unseen), all_ways(places, folded, unseen)
    if held_ways + folded_ways <= 0.0:
        return 1
    for i in range(1, len(states)):
        states[i] = state
    for i in range(len(states)):
        place = held
        if claimer != NONE:
            if random_unit(generators[i]) * (held_ways + folded_ways) < held_ways:
                states[i].hand[claimer] = claimed
            else:
                states[i].folded[claimer] = claimed
                place = folded
        sample_hidden(params, generators[i], states[i], observer, places, place, unseen)
    return 0


@njit
def observing_seat(params, observation):
    """The observer's seat: given with several rounds, else inferred from the dealer; NONE if it is unknown."""
    if params.num_rounds > 1:
        return one_hot_index(observation, params.at.seat, params.num_players)
    dealer = one_hot_index(observation, params.at.dealer, params.num_players)
    return (params.dealer - dealer) % params.num_players if dealer >= 0 else NONE


@njit
def is_under_way(params, state, observer):
    """Whether a round is under way with consistent numbers of cards, including those of the ``observer``."""
    if state.current_player == NONE or state.trick == NONE or state.dealer == NONE or state.leader == NONE:
        return False
    if (state.claimed == NONE) != (state.claim_trick == NONE) or (
        params.side_pot > 0 and state.upturned == NONE
    ):
        return False
    no_card_twice = known_cards(params, state) != NONE
    return no_card_twice and check_table(params, state) and check_hand(params, state, observer)


@njit
def num_held(params, state, seat):
    """The number of cards in the hand of ``seat``, including its blind choice."""
    return HAND_SIZE - num_played(params, state, seat) + (1 if has_chosen(params, state, seat) else 0)


@njit
def lay_out(params, state, observer, claimer, places, unseen):
    """Fill in the chain of the places that cannot hold every card.

    ``claimer``: the seat that holds or has folded the claimed card, which is not among the ``unseen`` ones, or NONE.
    Returns the start of the chain if the claimed card is held, the start if it was folded (NONE if it cannot have
    been), and the number of places.
    """
    leaders, left = leaders_of(params, state), counts_of(unseen)
    last, free = END, END + 1
    for seat in range(params.num_players):
        voids = voids_of(params, state, leaders, seat)
        if voids == NO_VOIDS or seat in (observer, claimer):
            continue
        held = num_held(params, state, seat)
        last = add_place(places, free, last, seat, IN_HAND, held, 0, voids, left)
        free += 1
        folds = fold_tricks(params, state, seat)
        if any_fold_is_late(folds, voids):
            num_folds = int(state.num_folded[seat])
            last = add_place(places, free, last, seat, IS_FOLDED, num_folds, folds, voids, left)
            free += 1
    if claimer == NONE:
        bound_chain(places, last, left)
        return last, NONE, free
    return lay_out_claimer(params, state, leaders, claimer, places, left, last, free)


@njit
def lay_out_claimer(params, state, leaders, claimer, places, left, last, free):
    """Add the claimer's hand and folded cards, with the claimed card in either, before the chain that begins at
    ``last``.

    ``free`` is the first free row of ``places``, ``left`` the counts of all other hidden cards.
    """
    voids = voids_of(params, state, leaders, claimer)
    folds, num_folds = fold_tricks(params, state, claimer), int(state.num_folded[claimer])
    num_cards, suit = num_held(params, state, claimer), suit_of(claimed_card(state))
    held, folded = NONE, NONE
    if packed(voids, suit) == NEVER:
        held = add_place(places, free, last, claimer, IS_FOLDED, num_folds, folds, voids, left)
        held = add_place(places, free + 1, held, claimer, IN_HAND, num_cards - 1, 0, voids, left)
        bound_chain(places, held, left)
        free += 2
    folds = folds_without_claimed(folds, voids, suit, int(state.claim_trick))
    if folds != NONE:
        folded = add_place(places, free, last, claimer, IS_FOLDED, num_folds - 1, folds, voids, left)
        folded = add_place(places, free + 1, folded, claimer, IN_HAND, num_cards, 0, voids, left)
        bound_chain(places, folded, left)
        free += 2
    return held, folded, free


@njit
def sample_hidden(params, generator, state, observer, places, place, unseen):
    """Deal the ``unseen`` cards to the others: first to the chain that begins at ``place``, then to other places."""
    left = counts_of(unseen)
    while place != END:
        row = places.rows[place]
        taken = sample_counts(generator, places, place, left)
        cards = 0
        for suit in range(NUM_SUITS):
            one_suit = ONE_SUIT << suit
            number = count_of(left, suit)
            for k in range(count_of(taken, suit)):
                cards |= nth_bit(unseen & ~cards & one_suit, random_below(generator, number - k))
        unseen &= ~cards
        left -= taken
        if row.kind == IN_HAND:
            state.hand[row.seat] |= cards
        else:
            state.folded[row.seat] |= cards
        place = int(row.following)
    number = popcount(unseen)
    for seat in range(params.num_players):
        if seat == observer:
            continue
        held = num_held(params, state, seat)
        for _ in range(held - popcount(int(state.hand[seat]))):
            card = nth_bit(unseen, random_below(generator, number))
            number -= 1
            unseen &= ~card
            state.hand[seat] |= card
        for _ in range(int(state.num_folded[seat]) - popcount(int(state.folded[seat]))):
            card = nth_bit(unseen, random_below(generator, number))
            number -= 1
            unseen &= ~card
            state.folded[seat] |= card
        if has_chosen(params, state, seat):
            card = nth_bit(int(state.hand[seat]), random_below(generator, held))
            state.hand[seat] &= ~card
            state.chosen[seat] = bit_index(card)
