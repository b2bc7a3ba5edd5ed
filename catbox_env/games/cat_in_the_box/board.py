"""Facts about the research board and the cards that the rules, the observation and the checks all need."""

from __future__ import annotations

import numba

from catbox_env.games.cat_in_the_box.state import DISCARD


@numba.njit
def neutral_color(params, k):
    """Colour that the k-th (from 0) revealed card of a rank blocks: the last one first, never red."""
    color = params.num_colors - 1 - k
    return color if color > 1 else 1


@numba.njit
def lay_token(params, state, seat, color, rank):
    """A token of ``seat`` on the research board."""
    state.board[color, rank] = seat
    state.tokens[seat, state.num_tokens[seat]] = color * params.num_ranks + rank
    state.num_tokens[seat] += 1


@numba.njit
def turns_before(params, state, first, seat):
    """Seats that come before ``seat`` in the order of play that begins with ``first``."""
    return relative_seat(int(seat), int(first), params.num_players)


@numba.njit
def relative_seat(seat, observer, players):
    """``seat`` counted clockwise from ``observer``."""
    return seat - observer if seat >= observer else seat - observer + players


@numba.njit
def has_discarded(params, state, seat):
    """Whether ``seat`` has put its card aside: seats do so in turn from the start player."""
    if state.phase != DISCARD:
        return True
    turn = turns_before(params, state, state.start_player, state.current_player)
    return turns_before(params, state, state.start_player, seat) < turn


@numba.njit
def cards_held(params, state, seat):
    """Cards in the hand of ``seat``, from what everybody sees."""
    aside = 1 if has_discarded(params, state, seat) else 0
    return params.hand_size - aside - int(state.num_tokens[seat])


@numba.njit
def largest_group(params, state, seat):
    """Cells in the largest orthogonally connected group of the tokens of ``seat``.

    Cells are bits, a row of the board after the other with an empty column between, so that a step to a
    neighbour is a shift that cannot run over an edge; a group is flooded until it grows no more.
    """
    stride = params.num_ranks + 1
    own = 0
    for color in range(params.num_colors):
        for rank in range(params.num_ranks):
            if state.board[color, rank] == seat:
                own |= 1 << (color * stride + rank)
    largest = 0
    while own:
        group = own & -own
        grown = 0
        while grown != group:
            grown = group
            group |= own & ((group << 1) | (group >> 1) | (group << stride) | (group >> stride))
        own &= ~group
        size = 0
        while group:
            group &= group - 1
            size += 1
        largest = max(largest, size)
    return largest


@numba.njit
def made_bid(params, state, seat):
    """Whether ``seat`` won exactly its bid, or few enough tricks where there are no bids."""
    won = int(state.tricks_won[seat])
    if params.num_bids == 0:
        return won <= params.bonus_max_tricks
    return won == params.bids[state.bids[seat]]
