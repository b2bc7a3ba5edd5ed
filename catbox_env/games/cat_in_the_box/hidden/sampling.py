"""Sampling worlds, what a seat cannot see, uniformly: the other hands and discards and the undealt cards.

A world is possible if a deal and legal play by all seats lead to it and to the observation. Play reveals hidden cards
only by a forced red lead: ``may_hold`` says which ranks that hand can hold. All possible assignments of the unseen
cards, with all cards distinct, to their places are equally likely.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import one_hot_index
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.cat_in_the_box.observe.observation import read_public
from catbox_env.games.cat_in_the_box.play.board import (
    cards_held,
    has_discarded,
    start_player_of,
    unseen_cards,
)
from catbox_env.games.cat_in_the_box.play.state import NONE
from catbox_env.games.cat_in_the_box.rules import MAX_PLAYERS


@njit
def sample(params, observation, generators, states):
    """Fill ``states``, all zeros, with worlds consistent with ``observation``; 1, and no world, if there is none."""
    if len(states) == 0:
        return 0
    start = one_hot_index(observation, params.at.start_player, params.num_players)
    if start == NONE:
        return 1
    observer = observing_seat(params, observation, start)
    anywhere = observer == NONE
    if anywhere:
        observer = random_below(generators[0], params.num_players)
    if not read_position(params, observation, observer, states[0]):
        return 1
    unseen = 0
    for rank in range(params.num_ranks):
        unseen += int(states[0].undealt[rank])
    deck = np.empty(unseen, np.int8)
    filled = 0
    for rank in range(params.num_ranks):
        for _ in range(states[0].undealt[rank]):
            deck[filled] = rank
            filled += 1
    # For each seat that the observer can be, the first state that uses it: later ones copy its public fields.
    first = np.full(MAX_PLAYERS, -1, np.int64)
    first[observer] = 0
    for i in range(len(states)):
        state, generator = states[i], generators[i]
        seat = random_below(generator, params.num_players) if anywhere and i > 0 else observer
        if first[seat] < 0:
            first[seat] = i
            read_position(params, observation, seat, state)
        elif i > 0:
            states[i] = states[first[seat]]
        deal_unseen(params, generator, state, seat, deck)
    return 0


@njit
def observing_seat(params, observation, relative_start):
    """The observer's seat, inferred from the start player of this round; NONE, any, if the first one is random."""
    rounds_left = int(observation[params.at.rounds_left]) if params.num_rounds > 1 else 0
    start = start_player_of(params, rounds_left)
    return (start - relative_start) % params.num_players if start != NONE else NONE


@njit
def read_position(params, observation, observer, state):
    """Read what ``observer`` sees into ``state``, with all unseen cards undealt; returns whether these can be dealt.

    The number of unseen cards then matches their places, and a seat with a limited hand can be dealt its cards.
    """
    ranks = params.num_ranks
    if not read_public(params, observation, observer, state):
        return False
    revealed, own_cards = 0, 0
    for rank in range(ranks):
        revealed += int(state.revealed[rank])
        state.hand[observer, rank] = observation[params.at.hand + rank]
        own_cards += int(state.hand[observer, rank])
    for seat in range(params.num_players):
        state.discarded[seat] = NONE
    state.discarded[observer] = one_hot_index(observation, params.at.discarded, ranks)
    if revealed != params.revealed_cards or own_cards != cards_held(params, state, observer):
        return False
    if (state.discarded[observer] != NONE) != has_discarded(params, state, observer):
        return False
    fitting = 0
    for rank in range(ranks):
        unseen = unseen_cards(params, state, observer, rank)
        if unseen < 0:
            return False
        state.undealt[rank] = unseen
        if (state.forced_ranks >> rank) & 1:
            fitting += unseen
    forced = int(state.forced_leader)
    return forced == NONE or fitting >= cards_held(params, state, forced)


@njit
def deal_unseen(params, generator, state, observer, deck):
    """Deal the unseen cards, ``deck``, to their places; the seat that had to lead red gets only ranks it can hold.

    ``deck`` is shuffled as it is dealt, so its initial order does not matter.
    """
    for seat in range(params.num_players):
        if seat != observer:
            state.discarded[seat] = NONE
            for rank in range(params.num_ranks):
                state.hand[seat, rank] = 0
    dealt, forced = np.int64(0), int(state.forced_leader)
    if forced != NONE:
        fitting = bring_forward(deck, int(state.forced_ranks))
        for _ in range(cards_held(params, state, forced)):
            state.hand[forced, take(generator, deck, dealt, fitting)] += 1
            dealt += 1
    for seat in range(params.num_players):
        if seat == observer:
            continue
        if seat != forced:
            for _ in range(cards_held(params, state, seat)):
                state.hand[seat, take(generator, deck, dealt, len(deck))] += 1
                dealt += 1
        if has_discarded(params, state, seat):
            state.discarded[seat] = take(generator, deck, dealt, len(deck))
            dealt += 1
    for rank in range(params.num_ranks):
        state.undealt[rank] = 0
    for i in range(dealt, len(deck)):
        state.undealt[deck[i]] += 1


@njit
def take(generator, deck, dealt, end):
    """Swap a random one of the cards ``deck[dealt:end]`` with the first of them, and return its rank."""
    place = dealt + random_below(generator, end - dealt)
    rank = deck[place]
    deck[place] = deck[dealt]
    deck[dealt] = rank
    return rank


@njit
def bring_forward(deck, ranks):
    """Move the cards of a set of ranks before the others, and return their number."""
    fitting = 0
    for i in range(len(deck)):
        rank = deck[i]
        if (ranks >> int(rank)) & 1:
            deck[i] = deck[fitting]
            deck[fitting] = rank
            fitting += 1
    return fitting
