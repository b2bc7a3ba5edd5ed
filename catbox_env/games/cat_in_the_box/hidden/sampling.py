"""Worlds: what a seat cannot see, sampled. The other hands and discards and the undealt cards, each world as likely.

A world is possible when a deal and legal play by all seats lead to it and to the observation. Play tells about hidden
cards in one way alone, by a red lead that was forced: ``may_hold`` says which ranks are left to that hand. Every way to
give the unseen cards, each of them told apart, their places is equally likely among those that are possible.
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
    """Fill ``states``, all zeros, with worlds that ``observation`` leaves possible; 1, and no world, if none is."""
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
    # Where each seat that the observer can be was first put: its public fields are copied from there.
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
    """The observer's seat, known by who began this round; NONE, any, where the first start player was drawn."""
    rounds_left = int(observation[params.at.rounds_left]) if params.num_rounds > 1 else 0
    start = start_player_of(params, rounds_left)
    return (start - relative_start) % params.num_players if start != NONE else NONE


@njit
def read_position(params, observation, observer, state):
    """What ``observer`` sees, into ``state``, with all cards that it does not see undealt; whether these can be dealt.

    ``state`` then has as many unseen cards as places for them, of which the seat with a limited hand can fill its own.
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
    """Give the unseen cards, ``deck``, their places; the seat that had to lead red holds the ranks left to it alone.

    ``deck`` is shuffled as far as it is dealt, so that any order of it will do.
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
    """One of the cards ``deck[dealt:end]`` at random, which changes places with the first of them; its rank."""
    place = dealt + random_below(generator, end - dealt)
    rank = deck[place]
    deck[place] = deck[dealt]
    deck[dealt] = rank
    return rank


@njit
def bring_forward(deck, ranks):
    """Put the cards of a set of ranks before the others; how many they are."""
    fitting = 0
    for i in range(len(deck)):
        rank = deck[i]
        if (ranks >> int(rank)) & 1:
            deck[i] = deck[fitting]
            deck[fitting] = rank
            fitting += 1
    return fitting
