"""Drawing what a seat cannot see: a uniform state among all those that agree with its observation.

What is hidden from the observer: the hands, folded cards and blind choices of the others, and the undealt cards. What
is known about them: their numbers; that the claimed card is one of its claimer's, in hand when it was claimed, and so
not among the cards folded before; and that a player who showed a card of another suit had none of the led suit at
that time, so that none is in its hand now, or was folded later.

The places where that matters are filled first: how many cards of each suit lie there is drawn by the number of ways
(``counting``), then which. All other hidden cards are dealt from what is left. Two states are different when a hand,
a blind choice or the set of a seat's folded cards is; in which order they were folded is not part of a state.
"""

from __future__ import annotations

from catbox_env.core.bits import bit_index, nth_bit, one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.cat_te.cards import (
    NEVER,
    NO_VOIDS,
    any_fold_is_late,
    claimed_card,
    count_of,
    counts_of,
    fold_tricks,
    folds_without_claimed,
    has_chosen,
    known_cards,
    leaders_of,
    nobody_swept,
    num_held,
    num_played,
    packed,
    shows,
    suit_of,
    voids_of,
)
from catbox_env.games.cat_te.counting import (
    END,
    IN_HAND,
    IS_FOLDED,
    add_place,
    all_ways,
    bound_chain,
    count_ways,
    draw_counts,
    new_places,
    random_unit,
)
from catbox_env.games.cat_te.observation import read_public, read_set
from catbox_env.games.cat_te.rules import LAST_TRICK, NUM_CARDS, NUM_SUITS
from catbox_env.games.cat_te.scores import balance
from catbox_env.games.cat_te.state import ALL_CARDS, NONE, ONE_SUIT
from catbox_env.games.cat_te.state_check import is_sound_hand, is_sound_public


@njit
def sample(params, observation, generators, states):
    """Uniform draws among the states that agree with ``observation``; 1 if none does."""
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
    if not is_sound(params, state, observer):
        return 1
    unseen = ALL_CARDS & ~known_cards(params, state)
    claimer, claimed = NONE, 0
    if state.claimed != NONE and state.claimed != observer:
        claimed = unseen & (1 << claimed_card(state))
        if claimed != 0:
            claimer = int(state.claimed)
            unseen &= ~claimed
        elif not shows(state, int(state.claimed), claimed_card(state)):
            return 1
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
        draw_hidden(params, generators[i], states[i], observer, places, place, unseen)
    return 0


@njit
def observing_seat(params, observation):
    """The observer's seat: told in a match, else known from where the dealer sits; NONE if it cannot be."""
    if params.num_rounds > 1:
        return one_hot_index(observation, params.at.seat, params.num_players)
    dealer = one_hot_index(observation, params.at.dealer, params.num_players)
    return (params.dealer - dealer) % params.num_players if dealer >= 0 else NONE


@njit
def is_sound(params, state, observer):
    """Whether the game runs and what everybody sees, with the observer's own cards, is consistent."""
    if state.current_player == NONE or state.trick == NONE or state.dealer == NONE or state.leader == NONE:
        return False
    if state.trick >= LAST_TRICK or (params.side_pot > 0 and state.upturned == NONE):
        return False
    tricks, mover = int(state.trick), int(state.current_player)
    return (
        known_cards(params, state) != NONE
        and is_sound_public(params, state, tricks, mover)
        and nobody_swept(params, state)
        and is_sound_hand(params, state, leaders_of(params, state, tricks), observer, tricks, mover)
        and balance(params, state, True)
    )


@njit
def lay_out(params, state, observer, claimer, places, unseen):
    """Fill in the chain of the places that cannot hold every card.

    ``claimer``: the seat that holds or has folded the claimed card, which is not among the ``unseen`` ones, or NONE.
    Returns where the chain begins if the claimed card is held, where if it was folded (NONE where it cannot have
    been), and the number of places.
    """
    tricks, mover, left = int(state.trick), int(state.current_player), counts_of(unseen)
    leaders = leaders_of(params, state, tricks)
    last, free = END, END + 1
    for seat in range(params.num_players):
        played = num_played(params, state, seat, tricks, mover)
        voids = voids_of(params, state, leaders, seat, played)
        if voids == NO_VOIDS or seat in (observer, claimer):
            continue
        held = num_held(params, state, seat, played)
        last = add_place(places, free, last, seat, IN_HAND, held, 0, voids, left)
        free += 1
        folds = fold_tricks(params, state, seat, played)
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
    """The claimer's hand and folded cards before the chain that begins at ``last``: with the claimed card in either.

    ``free`` is the first free row of ``places``, ``left`` the counts of all other hidden cards.
    """
    played = num_played(params, state, claimer, int(state.trick), int(state.current_player))
    voids = voids_of(params, state, leaders, claimer, played)
    folds, num_folds = fold_tricks(params, state, claimer, played), int(state.num_folded[claimer])
    num_cards, suit = num_held(params, state, claimer, played), suit_of(claimed_card(state))
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
def draw_hidden(params, generator, state, observer, places, place, unseen):
    """Deal the ``unseen`` cards to the others: first the chain that begins at ``place``, then what may be any."""
    left = counts_of(unseen)
    while place != END:
        row = places.rows[place]
        taken = draw_counts(generator, places, place, left)
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
    tricks, mover = int(state.trick), int(state.current_player)
    for seat in range(params.num_players):
        if seat == observer:
            continue
        played = num_played(params, state, seat, tricks, mover)
        held = num_held(params, state, seat, played)
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
        if has_chosen(params, state, seat, tricks, played):
            card = nth_bit(int(state.hand[seat]), random_below(generator, held))
            state.hand[seat] &= ~card
            state.chosen[seat] = bit_index(card)
