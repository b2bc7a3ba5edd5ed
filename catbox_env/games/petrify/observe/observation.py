"""What a seat sees, as one int8 vector of planes, and how to read the position back from it.

Nothing is hidden, so the state vector is the same vector. Seats are relative: 0 is the observer, 1 the next in turn.
``params.at.NAME`` is the offset of a part; ``layout`` describes the parts.
"""

from __future__ import annotations

from catbox_env.core.bits import absolute_seat, clear, next_seat, one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.games.petrify.observe.layout import MOST_COUNTED
from catbox_env.games.petrify.play.board import (
    EMPTY,
    color_of,
    end_cells,
    end_cells_after,
    holds,
    kind_of,
    legal_cells,
    set_of,
    symbol_of,
)
from catbox_env.games.petrify.play.state import FIRST_TELEPORT, NONE, NUMBER, TELEPORT, WALL, WALL_TILE
from catbox_env.games.petrify.rules import KINDS, NUM_COLORS, NUM_NUMBER_COLORS, NUM_SYMBOLS

NUM_KINDS = len(KINDS)


@njit
def write_observation(params, state, seat, out):
    """Write everything, seats relative to ``seat``, into ``out`` (O,)."""
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
def write_reach(params, state, seat, out):
    """Write the last two parts of what ``seat`` sees before the end into ``out`` (O,), which is 0 there."""
    players, cells, legal = params.num_players, params.num_cells, legal_cells(params, state)
    for i in range(players):
        other = absolute_seat(i, seat, players)
        if state.place[other] != NONE:
            continue
        ends = legal if other == state.current_player else end_cells(params, state, other)
        at_ends, at_after = params.at.end_cells + i * cells, params.at.end_cells_after + i * cells
        for cell in range(cells):
            out[at_ends + cell] = holds(ends, cell)
            if holds(legal, cell):
                number = popcount(end_cells_after(params, state, other, cell))
                out[at_after + cell] = 1 + min(number, MOST_COUNTED)


@njit
def read_position(params, observation, observer, state):
    """Set the game's own fields and the mover of ``state`` to what ``observation`` (O,) of seat ``observer`` shows.

    With 0 for any ``observer`` the seats of ``state`` are relative. The last two parts are not read. Any vector gives a
    state within its bounds: a cell without a tile becomes a wall, and a missing pawn is put on cell 0.
    """
    players, cells, at = params.num_players, params.num_cells, params.at
    state.open = EMPTY
    for cell in range(cells):
        state.tile[cell] = tile_shown(params, observation, cell)
        if observation[at.open + cell]:
            state.open |= set_of(cell)
    for i in range(players):
        seat = absolute_seat(i, observer, players)
        state.position[seat] = max(0, one_hot_index(observation, at.positions + i * cells, cells))
        state.place[seat] = one_hot_index(observation, at.place + i * players, players)
    state.current_player = absolute_seat(one_hot_index(observation, at.to_move, players), observer, players)
    state.teleporting = 1 if observation[at.teleporting] else 0


@njit
def tile_shown(params, observation, cell):
    """The tile that ``observation`` (O,) shows on ``cell``."""
    kind = plane_of(params, observation, params.at.kinds, NUM_KINDS, cell)
    if kind == NUMBER:
        symbol = plane_of(params, observation, params.at.symbols, NUM_SYMBOLS, cell)
        color = plane_of(params, observation, params.at.colors + params.num_cells, NUM_NUMBER_COLORS, cell)
        return max(0, symbol) * NUM_NUMBER_COLORS + max(0, color)
    if kind == TELEPORT:
        return FIRST_TELEPORT + max(0, plane_of(params, observation, params.at.colors, NUM_COLORS, cell))
    return WALL_TILE if kind == NONE else WALL_TILE + kind - WALL


@njit
def plane_of(params, observation, start, planes, cell):
    """The index of the first of ``planes`` planes from ``start`` on that contains ``cell``; NONE if none does."""
    for i in range(planes):
        if observation[start + i * params.num_cells + cell]:
            return i
    return NONE
