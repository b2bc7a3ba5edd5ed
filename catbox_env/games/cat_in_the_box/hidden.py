"""What a seat of Cat in the Box cannot see: how worlds are sampled, and how a round came about.

A world is what a seat cannot see: the other hands and discards and the undealt cards. It is possible if a deal and
legal play by all seats lead to it and to the observation. Play reveals hidden cards only by a forced red lead:
``may_hold`` says which ranks that hand can hold. All possible assignments of the unseen cards, with all cards distinct,
to their places are equally likely.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import absolute_seat, one_hot_index, relative_seat
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import HIDDEN, history_rows
from catbox_env.core.rng import random_below
from catbox_env.games.cat_in_the_box.observe import read_public
from catbox_env.games.cat_in_the_box.play import (
    block_cells,
    cards_held,
    cell_at,
    clear_table,
    has_discarded,
    moves_in_round,
)
from catbox_env.games.cat_in_the_box.rules import MAX_COPIES, MAX_PLAYERS, MAX_RANKS
from catbox_env.games.cat_in_the_box.state import BID, NONE, PLAY, RED

# Worlds.


@njit
def sample(params, observation, generators, states):
    """Fill ``states``, all zeros, with worlds consistent with ``observation``; 1, and no world, if there is none."""
    observer = observing_seat(params, observation)
    anywhere = observer == NONE
    if anywhere:
        observer = random_below(generators[0], params.num_players)
    if not read_position(params, observation, observer, states[0]):
        return 1
    deck, filled = np.empty(MAX_RANKS * MAX_COPIES, np.int8), 0
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
        deal_unseen(params, generator, state, seat, deck[:filled])
    return 0


@njit
def observing_seat(params, observation):
    """The observer's seat, inferred from the start player of this round; NONE, any, if the first one is random."""
    if params.start_player == NONE:
        return NONE
    finished = params.num_rounds - 1
    if params.num_rounds > 1:
        finished -= int(observation[params.at.rounds_left])
    start = one_hot_index(observation, params.at.start_player, params.num_players)
    return (params.start_player + finished - start) % params.num_players


@njit
def read_position(params, observation, observer, state):
    """Read what ``observer`` sees into ``state``, with all unseen cards undealt; returns whether these can be dealt.

    They can if their number matches their places, and the seat with a limited hand can be dealt its cards.
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
    if not is_under_way(params, state, observer) or revealed != params.revealed_cards:
        return False
    if own_cards != cards_held(params, state, observer):
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
def is_under_way(params, state, observer):
    """Whether the public part of ``state`` is consistent, so that the round can be played to its end from there.

    It does not check whether the position is reachable.
    """
    players, in_play = params.num_players, state.phase == PLAY
    played = relative_seat(state.current_player, state.leader, players) if in_play else 0
    completed = params.num_tricks - int(state.tricks_left)
    finished = params.num_rounds - 1 - int(state.rounds_left)
    if state.tricks_left == 0 or (state.phase == BID and params.num_bids == 0):
        return False
    if not in_play and (completed > 0 or state.leader != state.start_player):
        return False
    if state.led != (state.trick_color[state.leader] if played > 0 else NONE):
        return False
    won = 0
    for seat in range(players):
        won += int(state.tricks_won[seat])
        has_played = relative_seat(seat, state.leader, players) < played
        if state.num_tokens[seat] != completed + has_played:
            return False
        if (state.trick_color[seat] != NONE) != has_played:
            return False
        if has_played and state.board[state.trick_color[seat], state.trick_rank[seat]] != seat:
            return False
        turn = relative_seat(seat, state.start_player, players)
        bidding = relative_seat(state.current_player, state.start_player, players)
        has_bid = params.num_bids > 0 and (in_play or (state.phase == BID and turn < bidding))
        if (state.bids[seat] != NONE) != has_bid:
            return False
        for color in range(params.num_colors):
            if not in_play and not state.x_tokens[seat, color]:
                return False
        score = int(state.scores[seat]) * params.num_rounds
        if not finished * params.score_bounds[0] <= score <= finished * params.score_bounds[1]:
            return False
    any_red = False
    for rank in range(params.num_ranks):
        any_red = any_red or state.board[RED, rank] >= 0
    if any_red != (state.trump_broken != 0):
        return False
    return won == completed and (state.discarded[observer] != NONE) == has_discarded(params, state, observer)


@njit
def unseen_cards(params, state, observer, rank):
    """The number of cards of ``rank`` unseen by ``observer``: in other hands, discards and undealt cards."""
    unseen = params.copies - int(state.revealed[rank]) - int(state.hand[observer, rank])
    unseen -= 1 if state.discarded[observer] == rank else 0
    for color in range(params.num_colors):
        unseen -= 1 if state.board[color, rank] >= 0 else 0
    return unseen


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
        fitting = move_to_front(deck, int(state.forced_ranks))
        for _ in range(cards_held(params, state, forced)):
            state.hand[forced, draw_from(generator, deck, dealt, fitting)] += 1
            dealt += 1
    for seat in range(params.num_players):
        if seat == observer:
            continue
        if seat != forced:
            for _ in range(cards_held(params, state, seat)):
                state.hand[seat, draw_from(generator, deck, dealt, len(deck))] += 1
                dealt += 1
        if has_discarded(params, state, seat):
            state.discarded[seat] = draw_from(generator, deck, dealt, len(deck))
            dealt += 1
    for rank in range(params.num_ranks):
        state.undealt[rank] = 0
    for i in range(dealt, len(deck)):
        state.undealt[deck[i]] += 1


@njit
def draw_from(generator, deck, dealt, end):
    """Swap a random one of the cards ``deck[dealt:end]`` with the first of them, and return its rank."""
    place = dealt + random_below(generator, end - dealt)
    rank = deck[place]
    deck[place] = deck[dealt]
    deck[dealt] = rank
    return rank


@njit
def move_to_front(deck, ranks):
    """Move the cards of a set of ranks before the others, and return their number."""
    fitting = 0
    for i in range(len(deck)):
        rank = deck[i]
        if (ranks >> int(rank)) & 1:
            deck[i] = deck[fitting]
            deck[fitting] = rank
            fitting += 1
    return fitting


# Pasts.


@njit
def rewind(params, generator, state, observer, history, actions):
    """See ``core.kernels``.

    Worlds are drawn as if the cards of a rank were distinct, so a world in which a seat played one of its c cards of a
    rank comes up c times as often as one in which it had a single one. The action is the same for all c. So each card
    that is taken back multiplies the weight by 1 / c. A world contains the discards, so it has exactly one past, which
    is always accepted.
    """
    players = params.num_players
    num_moves = moves_in_round(params, state)
    first = history_rows(history) - num_moves
    if first < 0:
        return -1.0, 0.0
    for i in range(num_moves):
        action = int(history[first + i, 1])
        if action == HIDDEN:  # a discard
            mover = absolute_seat(int(history[first + i, 0]), observer, players)
            action = int(state.discarded[mover])
        if action < 0:
            return -1.0, 0.0
        actions[i] = action
    weight = 1.0
    for seat in range(players):
        for i in range(state.num_tokens[seat]):
            _, rank = cell_at(params, int(state.tokens[seat, i]))
            weight /= return_to_hand(state, seat, rank)
        if state.discarded[seat] != NONE:
            weight /= return_to_hand(state, seat, int(state.discarded[seat]))
    clear_table(params, state)
    block_cells(params, state)
    return weight, 1.0


@njit
def return_to_hand(state, seat, rank):
    """Return a card to the hand of ``seat``; returns the number of cards of its rank there afterwards."""
    state.hand[seat, rank] += 1
    return int(state.hand[seat, rank])
