"""From a world back to the beginning of its round: every card returns to the hand that it was dealt to."""

from __future__ import annotations

import numba

from catbox_env.core.bits import absolute_seat
from catbox_env.core.kernels import HIDDEN, history_rows
from catbox_env.games.cat_in_the_box.board import block_cells, clear_table, turns_before
from catbox_env.games.cat_in_the_box.state import BID, DISCARD, NONE


@numba.njit
def rewind(params, generator, state, history, actions):
    """See ``core.kernels``.

    A world is drawn as if the cards of a rank were told apart, and so each action of a seat with c cards of the rank
    comes c times. To play the rank is one action, so each card that goes back is a factor 1 / c.
    """
    players, observer = params.num_players, int(state.current_player)
    num_moves = moves_in_round(params, state)
    first = history_rows(history) - num_moves
    if first < 0:
        return -1.0
    for i in range(num_moves):
        action = int(history[first + i, 1])
        if action == HIDDEN:  # a discard
            mover = absolute_seat(int(history[first + i, 0]), observer, players)
            action = int(state.discarded[mover])
        if action < 0:
            return -1.0
        actions[i] = action
    weight = 1.0
    for seat in range(players):
        for i in range(state.num_tokens[seat]):
            weight /= take_back(state, seat, int(state.tokens[seat, i]) % params.num_ranks)
        if state.discarded[seat] != NONE:
            weight /= take_back(state, seat, int(state.discarded[seat]))
    clear_table(params, state)
    block_cells(params, state)
    return weight


@numba.njit
def take_back(state, seat, rank):
    """Put a card into the hand of ``seat``; how many cards of its rank are there then."""
    state.hand[seat, rank] += 1
    return int(state.hand[seat, rank])


@numba.njit
def moves_in_round(params, state):
    """Actions taken in this round."""
    turn = turns_before(params, state, state.start_player, state.current_player)
    if state.phase == DISCARD:
        return turn
    if state.phase == BID:
        return params.num_players + turn
    moves = params.num_players * (2 if params.num_bids > 0 else 1)
    for seat in range(params.num_players):
        moves += int(state.num_tokens[seat])
    return moves
