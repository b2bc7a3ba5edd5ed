"""The research board and the cards: initial layout, what each seat has left, order of play.

As bits, the cells are numbered ``color * num_ranks + rank``, and the ranks from 0.
"""

from __future__ import annotations

from catbox_env.core.bits import lowest_bit, popcount, relative_seat
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.cat_in_the_box.play.state import BID, DISCARD, NEUTRAL, NONE, RED


@njit
def neutral_color(params, k):
    """The colour that the k-th (from 0) revealed card of a rank blocks: the last colour first, never red."""
    return max(RED + 1, params.num_colors - 1 - k)


@njit
def lay_token(params, state, seat, color, rank):
    """Lay a token of ``seat`` on the research board."""
    state.board[color, rank] = seat
    state.tokens[seat, state.num_tokens[seat]] = color * params.num_ranks + rank
    state.num_tokens[seat] += 1


@njit
def clear_table(params, state):
    """Begin a round except for the cards: an empty board, nothing discarded or bid, all X-tokens."""
    state.phase = DISCARD
    state.leader = state.start_player
    state.current_player = state.start_player
    state.led = NONE
    state.trump_broken = 0
    state.forced_leader = NONE
    state.forced_ranks = 0
    state.tricks_left = params.num_tricks
    for rank in range(params.num_ranks):
        for color in range(params.num_colors):
            state.board[color, rank] = NONE
    for seat in range(params.num_players):
        state.discarded[seat] = NONE
        state.bids[seat] = NONE
        state.num_tokens[seat] = 0
        state.tricks_won[seat] = 0
        state.trick_color[seat] = NONE
        state.trick_rank[seat] = NONE
        for color in range(params.num_colors):
            state.x_tokens[seat, color] = 1


@njit
def draw(generator, state, left):
    """Take one of the ``left`` undealt cards at random and return its rank."""
    card = random_below(generator, left)
    rank = 0
    while card >= state.undealt[rank]:
        card -= state.undealt[rank]
        rank += 1
    state.undealt[rank] -= 1
    return rank


@njit
def block_cells(params, state):
    """Lay the neutral tokens of the revealed cards."""
    for rank in range(params.num_ranks):
        for k in range(state.revealed[rank]):
            state.board[neutral_color(params, k), rank] = NEUTRAL


@njit
def turns_before(params, state, first, seat):
    """The number of seats before ``seat`` in the order of play that begins with ``first``."""
    return relative_seat(int(seat), int(first), params.num_players)


@njit
def has_discarded(params, state, seat):
    """Whether ``seat`` has discarded; seats do so in turn from the start player."""
    if state.phase != DISCARD:
        return True
    turn = turns_before(params, state, state.start_player, state.current_player)
    return turns_before(params, state, state.start_player, seat) < turn


@njit
def cards_held(params, state, seat):
    """The number of cards in the hand of ``seat``, from public information."""
    aside = 1 if has_discarded(params, state, seat) else 0
    return params.hand_size - aside - int(state.num_tokens[seat])


@njit
def moves_in_round(params, state):
    """Actions taken in this round, which is not over."""
    turn = turns_before(params, state, state.start_player, state.current_player)
    if state.phase == DISCARD:
        return turn
    if state.phase == BID:
        return params.num_players + turn
    moves = params.num_players * (2 if params.num_bids > 0 else 1)
    for seat in range(params.num_players):
        moves += int(state.num_tokens[seat])
    return moves


@njit
def ranks_without_declaration(params, state, seat):
    """The set of ranks that ``seat`` could declare in no colour except red."""
    ranks = 0
    for rank in range(params.num_ranks):
        is_open = False
        for color in range(RED + 1, params.num_colors):
            is_open |= (state.x_tokens[seat, color] != 0) & (state.board[color, rank] == NONE)
        ranks |= 0 if is_open else 1 << rank
    return ranks


@njit
def unseen_cards(params, state, observer, rank):
    """The number of cards of ``rank`` unseen by ``observer``: in other hands, discards and undealt cards."""
    unseen = params.copies - int(state.revealed[rank]) - int(state.hand[observer, rank])
    unseen -= 1 if state.discarded[observer] == rank else 0
    for color in range(params.num_colors):
        unseen -= 1 if state.board[color, rank] >= 0 else 0
    return unseen


@njit
def start_player_of(params, rounds_left):
    """The start player of the round with ``rounds_left`` more to come; NONE, unknown, if the first one is drawn."""
    if params.start_player == NONE:
        return NONE
    return (params.start_player + params.num_rounds - 1 - rounds_left) % params.num_players


@njit
def neighbours(cells, stride):
    """The neighbours of a set of cells, and bits that are not cells: intersect with a set of cells.

    Cell (colour, rank) is bit ``colour * stride + rank`` of the set, with ``stride`` one more than the number of ranks:
    the bit between two rows stays empty, so that a step to a neighbour is a shift that cannot cross an edge.
    """
    return (cells << 1) | (cells >> 1) | (cells << stride) | (cells >> stride)


@njit
def lowest_group(cells, stride):
    """The orthogonally connected group of the lowest member of a set of cells, encoded as for `neighbours`."""
    group, grown = lowest_bit(cells), 0
    while grown != group:
        grown = group
        group |= neighbours(group, stride) & cells
    return group


@njit
def largest_group(params, state, seat):
    """The size of the largest orthogonally connected group of tokens of ``seat``."""
    stride = params.num_ranks + 1
    own = 0
    for color in range(params.num_colors):
        for rank in range(params.num_ranks):
            if state.board[color, rank] == seat:
                own |= 1 << (color * stride + rank)
    largest = 0
    while own:
        group = lowest_group(own, stride)
        own &= ~group
        largest = max(largest, popcount(group))
    return largest


@njit
def made_bid(params, state, seat):
    """Whether ``seat`` won exactly its bid, or without bids at most ``bonus_max_tricks``."""
    won = int(state.tricks_won[seat])
    if params.num_bids == 0:
        return won <= params.bonus_max_tricks
    return won == params.bids[state.bids[seat]]
