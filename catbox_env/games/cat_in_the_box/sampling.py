"""Drawing what a seat cannot see: the other hands and discards and the undealt cards, each possible world as likely.

A world is possible when a deal and legal play by all seats lead to it and to the observation. Play tells about hidden
cards in one way alone, by a red lead that was forced (``courses``): it leaves a hand some ranks. Every way to give the
unseen cards, each of them told apart, their places is equally likely among those that are possible.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import one_hot_index
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.cat_in_the_box.board import (
    cards_held,
    has_discarded,
    holds_only,
    start_player_of,
    unseen_cards,
)
from catbox_env.games.cat_in_the_box.course_search import IMPOSSIBLE, LIMITED, SEARCH, num_unseen
from catbox_env.games.cat_in_the_box.courses import find_courses
from catbox_env.games.cat_in_the_box.observation import read_public
from catbox_env.games.cat_in_the_box.rules import MAX_PLAYERS
from catbox_env.games.cat_in_the_box.state import NONE
from catbox_env.games.cat_in_the_box.state_check import check_public

#: Draws after which a world is taken though it was counted for another set. With ``course_search.MOST_SETS`` sets, a
#: world is refused so often with a probability under 1e-60.
MOST_TRIES = 10_000
#: Values of each half of a random number with 62 bits.
HALF_WORD = 1 << 31


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
    searches = np.zeros(1, SEARCH)
    outcome = find_courses(params, states[0], observer, searches)
    if outcome == IMPOSSIBLE:
        return 1
    weights = np.empty(searches[0].num_sets if outcome == LIMITED else 0, np.float64)
    weigh_sets(params, states[0], searches, weights)
    deck = np.empty(num_unseen(searches[0], (1 << params.num_ranks) - 1), np.int8)
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
        draw_world(params, generator, state, seat, observer, deck, searches, weights)
    return 0


@njit
def observing_seat(params, observation, relative_start):
    """The observer's seat, known by who began this round; NONE, any, where the first start player was drawn."""
    rounds_left = int(observation[params.at.rounds_left]) if params.num_rounds > 1 else 0
    start = start_player_of(params, rounds_left)
    return (start - relative_start) % params.num_players if start != NONE else NONE


@njit
def read_position(params, observation, observer, state):
    """What ``observer`` sees, into ``state``, with all cards that it does not see undealt; whether it is sound."""
    ranks = params.num_ranks
    if not read_public(params, observation, observer, state):
        return False
    if state.current_player == NONE or not check_public(params, state):
        return False
    own_cards = 0
    for rank in range(ranks):
        state.hand[observer, rank] = observation[params.at.hand + rank]
        own_cards += int(state.hand[observer, rank])
    for seat in range(params.num_players):
        state.discarded[seat] = NONE
    own_discard = one_hot_index(observation, params.at.discarded, ranks)
    state.discarded[observer] = own_discard
    if own_cards != cards_held(params, state, observer):
        return False
    if (own_discard != NONE) != has_discarded(params, state, observer):
        return False
    for rank in range(ranks):
        unseen = unseen_cards(params, state, observer, rank)
        if unseen < 0:
            return False
        state.undealt[rank] = unseen
    return True


@njit
def deal_unseen(params, generator, state, observer, deck, limited, ranks):
    """Give the unseen cards, ``deck``, their places; the seat ``limited``, if any, holds ``ranks`` alone.

    ``deck`` is shuffled as far as it is dealt, so that any order of it will do.
    """
    for seat in range(params.num_players):
        if seat != observer:
            state.discarded[seat] = NONE
            for rank in range(params.num_ranks):
                state.hand[seat, rank] = 0
    dealt = np.int64(0)
    if limited != NONE:
        fitting = bring_forward(deck, ranks)
        for _ in range(cards_held(params, state, limited)):
            state.hand[limited, take(generator, deck, dealt, fitting)] += 1
            dealt += 1
    for seat in range(params.num_players):
        if seat == observer:
            continue
        if seat != limited:
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


@njit
def weigh_sets(params, state, searches, weights):
    """``weights``: of all worlds, the share in which each set of ranks holds the hand that it is about."""
    search = searches[0]
    left = num_unseen(search, (1 << params.num_ranks) - 1)
    for i in range(len(weights)):
        fitting = num_unseen(search, search.set_ranks[i])
        weights[i] = 1.0
        for k in range(cards_held(params, state, search.set_seat[i])):
            weights[i] *= (fitting - k) / (left - k)


@njit
def draw_world(params, generator, state, seat, observer, deck, searches, weights):
    """A world, in one of the sets if there are any. The observer sits on ``seat``, in the sets on ``observer``.

    A set is drawn by its number of worlds, and then a world of it; this counts only in the first of the sets that it
    lies in, so that each world of them all is as likely.
    """
    search = searches[0]
    turn = params.num_players + seat - observer
    for _ in range(MOST_TRIES):
        drawn, limited, ranks = 0, NONE, 0
        if len(weights) > 0:
            drawn = draw_set(generator, weights)
            limited = (search.set_seat[drawn] + turn) % params.num_players
            ranks = search.set_ranks[drawn]
        deal_unseen(params, generator, state, seat, deck, limited, ranks)
        earlier = False
        for i in range(drawn):
            holder = (search.set_seat[i] + turn) % params.num_players
            earlier = earlier or holds_only(params, state, holder, search.set_ranks[i])
        if not earlier:
            return


@njit
def draw_set(generator, weights):
    """One of the sets, by weight."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
    high, low = random_below(generator, HALF_WORD), random_below(generator, HALF_WORD)
    point = (high + low / HALF_WORD) / HALF_WORD * total
    drawn = 0
    while drawn < len(weights) - 1 and point >= weights[drawn]:
        point -= weights[drawn]
        drawn += 1
    return drawn
