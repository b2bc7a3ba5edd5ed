"""Rewinding a world to the beginning of its round, with every card in the hand it was dealt to; and sampling deals of
earlier rounds, of which only the history is left."""

from __future__ import annotations

from catbox_env.core.bits import absolute_seat
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import HIDDEN, history_rows
from catbox_env.games.cat_in_the_box.play.board import block_cells, clear_table, draw, moves_in_round
from catbox_env.games.cat_in_the_box.play.state import NONE


@njit
def rewind(params, generator, state, observer, history, actions):
    """See ``core.kernels``.

    A world is drawn as if the cards of a rank were distinct, so each action of a seat with c cards of the rank counts
    c times. Playing the rank is a single action, so each returned card multiplies the weight by 1 / c. A world contains
    the discards, so it has exactly one past, which is always accepted.
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
            weight /= take_back(state, seat, int(state.tokens[seat, i]) % params.num_ranks)
        if state.discarded[seat] != NONE:
            weight /= take_back(state, seat, int(state.discarded[seat]))
    clear_table(params, state)
    block_cells(params, state)
    return weight, 1.0


@njit
def draw_round(params, generator, state, observer, known, history, first, actions):
    """See ``core.kernels``."""
    players, ranks = params.num_players, params.num_ranks
    used = history_rows(history)
    if first >= used:
        return -1
    state.start_player = absolute_seat(int(history[first, 0]), observer, players)
    for rank in range(ranks):
        state.undealt[rank] = params.copies
        if not known:
            state.revealed[rank] = 0
        state.undealt[rank] -= state.revealed[rank]
        for seat in range(players):
            if not known or seat != observer:
                state.hand[seat, rank] = 0
        state.undealt[rank] -= state.hand[observer, rank]
    count, to_play = 0, players * params.num_tricks
    while to_play > 0:
        if first + count >= used:
            return -1
        mover = absolute_seat(int(history[first + count, 0]), observer, players)
        action, discards = int(history[first + count, 1]), count < players
        if mover == NONE or (action < 0 and not (discards and mover != observer)):
            return -1
        if discards != (action < ranks):
            return -1
        actions[first + count] = action
        count += 1
        rank = rank_of_action(params, action)
        if not discards and action >= ranks + params.num_bids:
            to_play = to_play - 1 if action < params.num_actions - 1 else 0
        if rank != NONE and not (known and mover == observer):
            if state.undealt[rank] == 0:
                return -1
            state.undealt[rank] -= 1
            state.hand[mover, rank] += 1
    if too_many_cards(params, state, history, first, actions, observer):
        return -1
    left = 0
    for rank in range(ranks):
        left += int(state.undealt[rank])
    for i in range(first, first + players):
        if actions[i] < 0:
            actions[i] = draw(generator, state, left)
            state.hand[absolute_seat(int(history[i, 0]), observer, players), actions[i]] += 1
            left -= 1
    for seat in range(players):
        held = 0
        for rank in range(ranks):
            held += int(state.hand[seat, rank])
        for _ in range(params.hand_size - held):
            state.hand[seat, draw(generator, state, left)] += 1
            left -= 1
    if not known:
        for _ in range(params.revealed_cards):
            state.revealed[draw(generator, state, left)] += 1
            left -= 1
    clear_table(params, state)
    block_cells(params, state)
    return count


@njit
def too_many_cards(params, state, history, first, actions, observer):
    """Whether a seat played more cards than it was dealt, counting its hidden discard, which is not drawn yet."""
    for seat in range(params.num_players):
        held = 0
        for rank in range(params.num_ranks):
            held += int(state.hand[seat, rank])
        for i in range(first, first + params.num_players):
            if actions[i] < 0 and absolute_seat(int(history[i, 0]), observer, params.num_players) == seat:
                held += 1
        if held > params.hand_size:
            return True
    return False


@njit
def rank_of_action(params, action):
    """The rank of the card that an action discards or plays; NONE for a bid, a paradox and a hidden discard."""
    first_play = params.num_ranks + params.num_bids
    if action < params.num_ranks:
        return max(action, NONE)
    return (action - first_play) % params.num_ranks if first_play <= action < params.num_actions - 1 else NONE


@njit
def take_back(state, seat, rank):
    """Return a card to the hand of ``seat``; returns the number of cards of its rank there afterwards."""
    state.hand[seat, rank] += 1
    return int(state.hand[seat, rank])
