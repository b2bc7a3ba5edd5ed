"""What a seat sees, as one int8 vector of planes, and how to read the state back from it.

Nothing is hidden, so the state vector is the same vector. Seats are relative: 0 is the observer, 1 the next in turn.
Where a part begins is ``params.at.NAME``; ``layout`` says what the parts are.
"""

from __future__ import annotations

from catbox_env.core.bits import absolute_seat, clear, next_seat, popcount
from catbox_env.core.compilation import njit
from catbox_env.games.petrify.board import (
    EMPTY,
    color_of,
    holds,
    kind_of,
    set_of,
    symbol_of,
    tile_of,
)
from catbox_env.games.petrify.layout import MOST_COUNTED
from catbox_env.games.petrify.reach import end_cells_after, legal_cells, reachable_cells
from catbox_env.games.petrify.rules import KINDS, NUM_COLORS, NUM_SYMBOLS
from catbox_env.games.petrify.state import FIRST_TELEPORT, NONE

#: Several ones where one at most can be.
MANY = -2
NUM_KINDS = len(KINDS)


@njit
def write_observation(params, state, seat, out):
    """Everything, seats relative to ``seat``, into ``out`` (O,)."""
    players, cells = params.num_players, params.num_cells
    seat = int(seat)
    clear(out)
    at_symbols, at_colors, at_kinds = params.at.symbols - cells, params.at.colors, params.at.kinds
    at_open, opened = params.at.open, state.open
    for cell in range(cells):
        tile = int(state.tile[cell])
        if tile < FIRST_TELEPORT:
            out[at_symbols + symbol_of(tile) * cells + cell] = 1
        out[at_colors + color_of(tile) * cells + cell] = 1
        out[at_kinds + kind_of(tile) * cells + cell] = 1
        out[at_open + cell] = holds(opened, cell)
    other = seat
    for i in range(players):
        out[params.at.positions + i * cells + state.position[other]] = 1
        place = int(state.place[other])
        out[params.at.in_game + i] = place <= 0
        if place != NONE:
            out[params.at.place + i * players + place] = 1
        if other == state.current_player:
            out[params.at.to_move + i] = 1
        other = next_seat(other, players)
    out[params.at.teleporting] = state.teleporting
    out[params.at.seat + seat] = 1
    if state.current_player != NONE:
        write_reach(params, state, seat, out)


@njit
def number_after(params, state, seat, legal, cell):
    """1 + how many end cells ``seat`` would have (`MOST_COUNTED` at most) once the seat to move stands on ``cell``.

    0 if it may not go there, or ``seat`` is petrified.
    """
    if state.place[seat] != NONE or not holds(legal, cell):
        return 0
    return 1 + min(popcount(end_cells_after(params, state, seat, cell)), MOST_COUNTED)


@njit
def write_reach(params, state, seat, out):
    """The last two parts of what ``seat`` sees before the end, into ``out`` (O,)."""
    players, cells, legal = params.num_players, params.num_cells, legal_cells(params, state)
    at_ends, at_after = params.at.end_cells, params.at.end_cells_after
    for i in range(players):
        other = absolute_seat(i, seat, players)
        ends = reachable_cells(params, state, other, legal)
        for cell in range(cells):
            out[at_ends + i * cells + cell] = holds(ends, cell)
            out[at_after + i * cells + cell] = number_after(params, state, other, legal, cell)


@njit
def shows_reach(params, state, seat, observation):
    """Whether the last two parts of ``observation`` are what ``seat`` sees before the end."""
    players, cells, legal = params.num_players, params.num_cells, legal_cells(params, state)
    at_ends, at_after = params.at.end_cells, params.at.end_cells_after
    for i in range(players):
        other = absolute_seat(i, seat, players)
        ends = reachable_cells(params, state, other, legal)
        for cell in range(cells):
            if observation[at_ends + i * cells + cell] != holds(ends, cell):
                return False
            number = number_after(params, state, other, legal, cell)
            if observation[at_after + i * cells + cell] != number:
                return False
    return True


@njit
def one_of(vector, start, stride, length):
    """The index of the only 1 among ``length`` elements, ``stride`` apart; NONE if all are zero, MANY otherwise."""
    found = NONE
    for i in range(length):
        value = vector[start + i * stride]
        if value != 0:
            if value != 1 or found != NONE:
                return MANY
            found = i
    return found


@njit
def read_board(params, observation, state):
    """Set the tiles and the open cells of ``state``; 1 if the planes show no tile, or several, on some cell."""
    cells, at = params.num_cells, params.at
    state.open = EMPTY
    for cell in range(cells):
        symbol = one_of(observation, at.symbols + cell, cells, NUM_SYMBOLS) + 1
        color = one_of(observation, at.colors + cell, cells, NUM_COLORS)
        tile = tile_of(one_of(observation, at.kinds + cell, cells, NUM_KINDS), symbol, color)
        opened = observation[at.open + cell]
        if tile == NONE or opened < 0 or opened > 1:
            return 1
        state.tile[cell] = tile
        if opened:
            state.open |= set_of(cell)
    return 0


@njit
def read_seats(params, observation, state):
    """Set the players' fields of ``state``; 1 if a seat has no cell, or several, or nobody is to move."""
    players, cells, at = params.num_players, params.num_cells, params.at
    observer = one_of(observation, at.seat, 1, players)
    to_move = one_of(observation, at.to_move, 1, players)
    teleporting = observation[at.teleporting]
    if observer < 0 or to_move < 0 or teleporting < 0 or teleporting > 1:
        return 1
    for i in range(players):
        seat = absolute_seat(i, observer, players)
        position = one_of(observation, at.positions + i * cells, 1, cells)
        place = one_of(observation, at.place + i * players, 1, players)
        if position < 0 or place == MANY or observation[at.in_game + i] != (1 if place == NONE else 0):
            return 1
        state.position[seat] = position
        state.place[seat] = place
    state.current_player = absolute_seat(to_move, observer, players)
    state.teleporting = teleporting
    return 0
