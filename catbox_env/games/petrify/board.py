"""Facts about the board of Petrify: what a tile is, sets of cells, which cells are free, who comes next.

A set of cells is one unsigned 64-bit integer, bit by cell, so that a step of every walk at once is a shift.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import next_seat
from catbox_env.core.compilation import njit
from catbox_env.games.petrify.rules import NUM_NUMBER_COLORS
from catbox_env.games.petrify.state import FIRST_TELEPORT, NONE, NUMBER, TELEPORT, WALL, WALL_TILE

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
def tile_of(kind, symbol, color):
    """The tile of that kind, symbol (0: none) and colour; NONE if there is no such tile."""
    if kind == NUMBER:
        valid = symbol > 0 and color > 0
        return (symbol - 1) * NUM_NUMBER_COLORS + color - 1 if valid else NONE
    if kind < 0 or symbol != 0 or color < 0:
        return NONE
    if kind == TELEPORT:
        return FIRST_TELEPORT + color
    return kind - WALL + WALL_TILE if color == 0 else NONE


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
def turns_taken(params, state):
    """Turns since the beginning: each closed a cell."""
    closed = 0
    for cell in range(params.num_cells):
        closed += kind_of(int(state.tile[cell])) != WALL and not holds(state.open, cell)
    return closed


@njit
def seat_in_place(params, state, place):
    """The seat with that finishing place; there is one."""
    found = 0
    for seat in range(params.num_players):
        if state.place[seat] == place:
            found = seat
    return found


@njit
def next_in_game(params, state, seat):
    """The next seat in turn order that is not petrified."""
    while True:
        seat = next_seat(seat, params.num_players)
        if state.place[seat] == NONE:
            return seat
