"""The board of Petrify: tiles, sets of cells, turn order, and where a pawn can go.

A set of cells is one unsigned 64-bit integer, one bit per cell, so that one shift takes a step of every walk at once.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import next_seat
from catbox_env.core.compilation import njit
from catbox_env.games.petrify.play.state import (
    FIRST_TELEPORT,
    NONE,
    NUMBER,
    TELEPORT,
    WALL,
    WALL_TILE,
    WILDCARD_TILE,
)
from catbox_env.games.petrify.rules import NUM_NUMBER_COLORS, NUM_SYMBOLS

ONE, EMPTY = np.uint64(1), np.uint64(0)


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
def free_cells(params, state):
    """The set of open cells without a pawn."""
    free = state.open
    for seat in range(params.num_players):
        free &= ~set_of(state.position[seat])
    return free


@njit
def next_in_game(params, state, seat):
    """The next seat in turn order that is not petrified."""
    while True:
        seat = next_seat(seat, params.num_players)
        if state.place[seat] == NONE:
            return seat


@njit
def walk_ends(params, tile, start, free):
    """The set of cells on which a walk over the ``free`` cells from cell ``start``, on ``tile``, may end.

    A walk of at most four steps that never turns straight back, and never enters the cell it began on, visits no cell
    twice: the shortest cycle of a grid has four cells, so in so few steps only the first cell could be revisited, and
    it is not free. So it suffices to track, step by step, four sets of cells: those reachable by a last step to the
    right, to the left, down and up. Every open cell accepts a walker: walls are never open, and a pawn on a teleport
    has no energy to walk to another one.
    """
    energy, up_to = symbol_of(tile), params.up_to != 0
    if tile == WILDCARD_TILE:
        energy, up_to = NUM_SYMBOLS, True
    width = int(params.width)
    free_right, free_left = free & params.not_first_column, free & params.not_last_column
    ends = EMPTY
    right = left = down = up = set_of(start)
    for _ in range(energy):
        was_right, was_left, was_down, was_up = right, left, down, up
        right = ((was_right | was_down | was_up) << 1) & free_right
        left = ((was_left | was_down | was_up) >> 1) & free_left
        down = ((was_down | was_right | was_left) << width) & free
        up = ((was_up | was_right | was_left) >> width) & free
        reached = right | left | down | up
        ends = ends | reached if up_to else reached
    return ends


@njit
def end_cells(params, state, seat):
    """The set of cells on which a walk of ``seat`` may end."""
    start = int(state.position[seat])
    return walk_ends(params, int(state.tile[start]), start, free_cells(params, state))


@njit
def all_can_move(params, state):
    """Whether every player would have an end cell if it were to move."""
    able = 0
    for seat in range(params.num_players):
        able += end_cells(params, state, seat) != EMPTY
    return able == params.num_players


@njit
def teleport_cells(params, state, seat):
    """The set of cells to which ``seat`` can teleport from its cell."""
    color = color_of(int(state.tile[state.position[seat]]))
    free, cells = free_cells(params, state), EMPTY
    for cell in range(params.num_cells):
        tile = int(state.tile[cell])
        fits = color == 0 or color_of(tile) == color
        if fits and kind_of(tile) != TELEPORT and holds(free, cell):
            cells |= set_of(cell)
    return cells


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
    mover = int(state.current_player)
    free = free_cells(params, state) & ~set_of(cell)
    if state.teleporting:  # the teleport stays open; any other cell closes when the pawn leaves it
        free |= set_of(state.position[mover])
    start = cell if seat == mover else int(state.position[seat])
    return walk_ends(params, int(state.tile[start]), start, free)
