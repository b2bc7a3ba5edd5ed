"""The rules of Petrify as kernels: setup, where a pawn can go, moves, landing effects, petrification.

An action is a cell, ``row * size + column``: where the walk ends, or where the player comes out of a teleport. A set of
cells is one unsigned 64-bit integer, one bit per cell, so that one shift takes a step of every walk at once.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import next_seat
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.rng import random_below
from catbox_env.games.petrify.rules import NUM_NUMBER_COLORS
from catbox_env.games.petrify.state import (
    FIRST_TELEPORT,
    INFO_PLACE,
    NONE,
    NUMBER,
    TELEPORT,
    WALL,
    WALL_TILE,
    ZERO_TILE,
)

ONE, EMPTY = np.uint64(1), np.uint64(0)


# Tiles and sets of cells.


@njit
def kind_of(tile):
    """NUMBER, WALL, WILDCARD, ZERO or TELEPORT."""
    if tile < FIRST_TELEPORT:
        return NUMBER
    return TELEPORT if tile < WALL_TILE else tile - WALL_TILE + WALL


@njit
def symbol_of(tile):
    """The symbol of a number card, 1-4; 0 for any other tile."""
    return tile // NUM_NUMBER_COLORS + 1 if tile < FIRST_TELEPORT else 0


@njit
def color_of(tile):
    """The colour, 0 (none) to 4."""
    if tile < FIRST_TELEPORT:
        return tile % NUM_NUMBER_COLORS + 1
    return tile - FIRST_TELEPORT if tile < WALL_TILE else 0


@njit
def set_of(cell):
    """The set of one cell."""
    return ONE << int(cell)


@njit
def holds(cells, cell):
    """Whether ``cell`` is in the set ``cells``."""
    return (cells >> int(cell)) & ONE != EMPTY


@njit
def lowest_cell(cells):
    """The lowest cell of a set that is not empty."""
    one, cell = cells & ~(cells - ONE), 0
    for shift in (32, 16, 8, 4, 2, 1):
        if one >> shift:
            one >>= shift
            cell += shift
    return cell


@cached_njit
def free_cells(params, state):
    """The set of open cells without a pawn."""
    free = state.open
    for seat in range(params.num_players):
        free &= ~set_of(state.position[seat])
    return free


@njit
def free_cells_after(params, state, cell):
    """The set of free cells with the pawn to move on ``cell``, before the landing takes effect."""
    free = free_cells(params, state) & ~set_of(cell)
    if state.teleporting:  # the teleport stays open; any other cell closes when the pawn leaves it
        free |= set_of(state.position[state.current_player]) & state.open
    return free


# Where a pawn can go.


@cached_njit
def walk_ends(params, tile, start, free):
    """The set of cells on which a walk over the ``free`` cells from cell ``start``, on ``tile``, may end.

    A walk of at most four steps that never turns straight back, and never enters the cell it began on, visits no cell
    twice: the shortest cycle of a grid has four cells, so in so few steps only the first cell could be revisited, and
    it is not free. So it suffices to track, step by step, four sets of cells: those reachable by a last step to the
    right, to the left, down and up. Every open cell accepts a walker: walls are never open, and a pawn on a teleport
    has no energy to walk to another one.
    """
    fewest, most, width = params.fewest_steps[tile], params.most_steps[tile], int(params.width)
    free_right, free_left = free & params.not_first_column, free & params.not_last_column
    ends = EMPTY
    right = left = down = up = set_of(start)
    for steps in range(1, most + 1):
        was_right, was_left, was_down, was_up = right, left, down, up
        right = ((was_right | was_down | was_up) << 1) & free_right
        left = ((was_left | was_down | was_up) >> 1) & free_left
        down = ((was_down | was_right | was_left) << width) & free
        up = ((was_up | was_right | was_left) >> width) & free
        if steps >= fewest:
            ends |= right | left | down | up
    return ends


@cached_njit
def end_cells(params, state, seat):
    """The set of cells on which a walk of ``seat`` may end."""
    start = int(state.position[seat])
    return walk_ends(params, int(state.tile[start]), start, free_cells(params, state))


@njit
def exit_cells(params, state, color, free):
    """The set of the ``free`` cells to which a teleport of ``color`` leads."""
    cells = EMPTY
    for cell in range(params.num_cells):
        tile = int(state.tile[cell])
        fits = color == 0 or color_of(tile) == color
        if fits and kind_of(tile) != TELEPORT and holds(free, cell):
            cells |= set_of(cell)
    return cells


@njit
def teleport_cells(params, state, seat):
    """The set of cells to which ``seat`` can teleport from its cell."""
    color = color_of(int(state.tile[state.position[seat]]))
    return exit_cells(params, state, color, free_cells(params, state))


@njit
def legal_cells(params, state):
    """The set of legal actions of the seat to move."""
    if state.current_player < 0:
        return EMPTY
    if state.teleporting:
        return teleport_cells(params, state, state.current_player)
    return end_cells(params, state, state.current_player)


@njit
def end_cells_after(params, state, seat, cell):
    """The end cells that ``seat`` would have with the pawn to move on ``cell``, before the landing takes effect."""
    start = cell if seat == state.current_player else int(state.position[seat])
    return walk_ends(params, int(state.tile[start]), start, free_cells_after(params, state, cell))


@njit
def write_mask(params, state, mask):
    """Write the legal actions of the seat to move into ``mask`` (A,)."""
    legal = legal_cells(params, state)
    for cell in range(len(mask)):
        mask[cell] = holds(legal, cell)


# Setup.


@njit
def deal(params, generator, state):
    """Begin a new game: draw boards and positions until every player could move if it were first."""
    while True:
        lay_tiles(params, generator, state)
        place_pawns(params, generator, state)
        if begin_play(params, state) == NONE:
            return


@njit
def lay_tiles(params, generator, state):
    """Shuffle the deck of number cards, some of them replaced by the special tiles, over the board."""
    cells = params.num_cells
    for i in range(cells):
        state.tile[i] = params.deck[i]
    for i in range(params.num_specials):
        # The cards before i have been replaced: replace one of the others, and bring it to place i.
        state.tile[i + random_below(generator, cells - i)] = state.tile[i]
        state.tile[i] = params.specials[i]
    for i in range(cells - 1):
        other, tile = i + random_below(generator, cells - i), int(state.tile[i])
        state.tile[i] = state.tile[other]
        state.tile[other] = tile


@njit
def place_pawns(params, generator, state):
    """Put every player on a random tile of its own that it can walk from: a number or a wildcard."""
    taken = EMPTY
    for seat in range(params.num_players):
        while True:
            cell = random_below(generator, params.num_cells)
            if params.most_steps[state.tile[cell]] > 0 and not holds(taken, cell):
                break
        taken |= set_of(cell)
        state.position[seat] = cell


@cached_njit
def begin_play(params, state):
    """Begin with these tiles and positions: open every cell except walls; nobody is petrified, seat 0 is to move.

    Returns NONE, or the first seat that could not move if it were first: a game does not begin so.
    """
    state.open = EMPTY
    for cell in range(params.num_cells):
        if state.tile[cell] != WALL_TILE:
            state.open |= set_of(cell)
    for seat in range(params.num_players):
        state.place[seat] = NONE
    state.teleporting = 0
    state.current_player = 0
    for seat in range(params.num_players):
        if end_cells(params, state, seat) == EMPTY:
            return seat
    return NONE


# Actions.


@njit
def apply(params, generator, state, action):
    """Take a legal action of the seat to move."""
    seat = int(state.current_player)
    start = int(state.position[seat])
    state.position[seat] = action
    if state.teleporting:
        state.teleporting = 0
    else:
        state.open &= ~set_of(start)
        landed_on_teleport = kind_of(int(state.tile[action])) == TELEPORT
        if landed_on_teleport and teleport_cells(params, state, seat) != EMPTY:
            state.teleporting = 1
            return
    if state.tile[action] == ZERO_TILE:
        rotate(params, state, seat)
    pass_turn(params, state)


@njit
def next_in_game(params, state, seat):
    """The next seat in turn order that is not petrified."""
    while True:
        seat = next_seat(seat, params.num_players)
        if state.place[seat] == NONE:
            return seat


@njit
def rotate(params, state, seat):
    """``seat`` has landed on a zero: every player moves to the cell of the next one still in the game.

    The one before ``seat`` moves to the zero tile, which becomes a copy of the tile that player stood on.
    """
    zero = int(state.position[seat])
    current = seat
    while True:
        following = next_in_game(params, state, current)
        if following == seat:
            break
        state.position[current] = state.position[following]
        current = following
    state.tile[zero] = state.tile[state.position[current]]
    state.position[current] = zero


@njit
def pass_turn(params, state):
    """Give the turn to the next player that can move; those before it are petrified.

    When one is left, it wins, the game is over, and all places are paid.
    """
    num_in = 0
    for seat in range(params.num_players):
        num_in += state.place[seat] == NONE
    seat = next_in_game(params, state, int(state.current_player))
    while num_in > 1:
        if end_cells(params, state, seat) != EMPTY:
            state.current_player = seat
            return
        num_in -= 1
        state.place[seat] = num_in
        seat = next_in_game(params, state, seat)
    state.place[seat] = 0
    for other in range(params.num_players):
        place = int(state.place[other])
        state.rewards[other] = points(params, place)
        state.win_shares[other] = 1.0 if place == 0 else 0.0
        state.info[INFO_PLACE, other] = place
    state.round_ended = 1
    state.terminated = 1
    state.current_player = NONE


@cached_njit
def points(params, place):
    """What a place pays: 1 the first, -1 the last, evenly spaced between."""
    return 1.0 - 2.0 * place / (params.num_players - 1)
