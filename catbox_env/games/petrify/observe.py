"""What a seat of Petrify sees, as one int8 vector of planes: its parts, how they are written, and how they are read.

Nothing is hidden, so the state vector is the same vector. Seats are relative: 0 is the observer, 1 the next in turn.
``params.at.NAME`` is the offset of a part.
"""

from __future__ import annotations

from catbox_env.core.bits import absolute_seat, next_seat, one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.layout import Layout, Part
from catbox_env.games.petrify.play import (
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
from catbox_env.games.petrify.rules import KINDS, NUM_COLORS, NUM_NUMBER_COLORS, NUM_SYMBOLS, Rules
from catbox_env.games.petrify.state import FIRST_TELEPORT, NONE, NUMBER, TELEPORT, WALL, WALL_TILE

#: End cells after an action are counted up to here: the difference between none, one or two matters, not nine or ten.
MAX_COUNTED = 6


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation, and of the full state, under ``rules``."""
    players, board = rules.num_players, (rules.size, rules.size)
    return Layout(
        [
            Part(
                "symbols", (NUM_SYMBOLS, *board), "symbol 1-4 of each cell, one-hot; zeros: not a number card"
            ),
            Part("colors", (NUM_COLORS, *board), "colour 0-4 of each cell, one-hot; 0: colourless"),
            Part("kinds", (len(KINDS), *board), f"{', '.join(KINDS)}: kind of each tile, one-hot"),
            Part("open", board, "1: the cell is not closed; closed cells keep their planes above"),
            Part("positions", (players, *board), "cell of each pawn, one-hot, petrified ones included"),
            Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
            Part(
                "teleporting", (1,), "1: the seat to move stands on a teleport and chooses where it comes out"
            ),
            Part("in_game", (players,), "1: the seat is not petrified"),
            Part("seat", (players,), "own absolute seat, one-hot"),
            Part(
                "place",
                (players, players),
                "finishing place of each seat, one-hot, 0 the winner's; zeros: not decided",
            ),
            Part(
                "end_cells",
                (players, *board),
                "where each seat in the game could go if it were to move now; for the seat to move: the legal actions",
            ),
            Part(
                "end_cells_after",
                (players, *board),
                "for each legal action, 1 + how many end cells each seat in the game would have once the pawn stands "
                f"there (before the landing takes effect; counted up to {MAX_COUNTED}); zeros elsewhere",
                high=1 + MAX_COUNTED,
            ),
        ]
    )


@njit
def write_observation(params, state, seat, out):
    """Write everything, seats relative to ``seat``, into ``out`` (O,)."""
    players, cells = params.num_players, params.num_cells
    seat = int(seat)
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
        write_end_cells(params, state, seat, out)


@njit
def write_end_cells(params, state, seat, out):
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
                out[at_after + cell] = 1 + min(number, MAX_COUNTED)


@njit
def read_position(params, observation, observer, state):
    """Set the game's own fields and the mover of ``state`` to what ``observation`` (O,) of seat ``observer`` shows.

    With 0 for any ``observer`` the seats of ``state`` are relative. The last two parts are not read. Any vector gives
    fields within their ranges; a missing pawn is put on cell 0.
    """
    players, cells, at = params.num_players, params.num_cells, params.at
    state.open = EMPTY
    for cell in range(cells):
        state.tile[cell] = read_tile(params, observation, cell)
        if observation[at.open + cell]:
            state.open |= set_of(cell)
    for i in range(players):
        seat = absolute_seat(i, observer, players)
        state.position[seat] = max(0, one_hot_index(observation, at.positions + i * cells, cells))
        state.place[seat] = one_hot_index(observation, at.place + i * players, players)
    state.current_player = absolute_seat(one_hot_index(observation, at.to_move, players), observer, players)
    state.teleporting = observation[at.teleporting]


@njit
def read_tile(params, observation, cell):
    """The tile that ``observation`` (O,) shows on ``cell``; a wall if it shows none."""
    at, cells = params.at, params.num_cells
    kind = plane_of(observation, at.kinds + cell, len(KINDS), cells)
    if kind == NUMBER:
        symbol = plane_of(observation, at.symbols + cell, NUM_SYMBOLS, cells)
        color = plane_of(observation, at.colors + cells + cell, NUM_NUMBER_COLORS, cells)
        return max(0, symbol) * NUM_NUMBER_COLORS + max(0, color)
    if kind == TELEPORT:
        return FIRST_TELEPORT + max(0, plane_of(observation, at.colors + cell, NUM_COLORS, cells))
    return WALL_TILE if kind == NONE else WALL_TILE + kind - WALL


@njit
def plane_of(observation, start, planes, cells):
    """The first of ``planes`` planes of ``cells`` elements whose element at ``start``, counted in the first, is set."""
    for i in range(planes):
        if observation[start + i * cells]:
            return i
    return NONE
