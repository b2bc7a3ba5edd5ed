"""What a seat sees, as one int8 vector of planes, and how to read the state back from it.

Nothing is hidden, so the state vector is the same vector. Seats are relative: 0 is the observer, 1 the next in turn.
The layout is built from the rules; its offsets reach the kernels through ``params.at``, so no offset is ever typed.
"""

from __future__ import annotations

import numba

from catbox_env.core.layout import Layout, Part
from catbox_env.games.petrify.reach import (
    EMPTY,
    end_cells,
    free_cells,
    holds,
    legal_cells,
    set_of,
    size,
    walk_ends,
)
from catbox_env.games.petrify.rules import KINDS, NUM_COLORS, NUM_NUMBER_COLORS, NUM_SYMBOLS, Rules
from catbox_env.games.petrify.state import (
    FIRST_TELEPORT,
    NONE,
    NUMBER,
    PARTS,
    TELEPORT,
    WALL,
    WALL_TILE,
    color_of,
    kind_of,
    symbol_of,
)

(
    SYMBOLS,
    COLORS,
    KIND,
    OPEN,
    POSITIONS,
    TO_MOVE,
    TELEPORTING,
    IN_GAME,
    SEAT,
    PLACE,
    END_CELLS,
    END_CELLS_AFTER,
) = range(len(PARTS))

#: Several ones where one at most can be.
MANY = -2
NUM_KINDS = len(KINDS)
#: End cells after an action are counted up to here: whether there are none, one or two matters, not nine or ten.
MOST_COUNTED = 6


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation, and of the state vector, under ``rules``."""
    players, board = rules.num_players, (rules.size, rules.size)
    return Layout(
        [
            Part(
                "symbols", (NUM_SYMBOLS, *board), "symbol 1-4 of each cell, one-hot; zeros: not a number card"
            ),
            Part("colors", (NUM_COLORS, *board), "colour 0-4 of each cell, one-hot; 0: colourless"),
            Part("kinds", (NUM_KINDS, *board), f"{', '.join(KINDS)}: kind of each tile, one-hot"),
            Part("open", board, "1: the cell is not closed"),
            Part("positions", (players, *board), "cell of each figure, one-hot, petrified ones included"),
            Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
            Part(
                "teleporting", (1,), "1: the seat to move stands on a teleport and chooses where it comes out"
            ),
            Part("in_game", (players,), "1: the seat is not petrified"),
            Part("seat", (players,), "own absolute seat, one-hot"),
            Part("place", (players, players), "finishing place of each seat, one-hot; zeros: not decided"),
            Part(
                "end_cells",
                (players, *board),
                "where each seat in the game could go if it were to move now; for the seat to move: the legal actions",
            ),
            Part(
                "end_cells_after",
                (players, *board),
                "for each legal action, 1 + how many end cells each seat in the game would have once the figure stands "
                f"there (before the landing takes effect; counted up to {MOST_COUNTED}); zeros elsewhere",
                high=1 + MOST_COUNTED,
            ),
        ]
    )


def offsets(layout: Layout) -> list[int]:
    """Where each of ``PARTS`` begins in ``layout``."""
    return [layout[name].offset for name in PARTS]


@numba.njit
def write_observation(params, state, seat, out):
    """Everything, seats relative to ``seat``, into ``out`` (O,)."""
    players, cells = params.num_players, params.num_cells
    seat = int(seat)
    for i in range(len(out)):
        out[i] = 0
    at_symbols, at_colors, at_kinds = params.at[SYMBOLS] - cells, params.at[COLORS], params.at[KIND]
    at_open, opened = params.at[OPEN], state.open
    for cell in range(cells):
        tile = int(state.tile[cell])
        if tile < FIRST_TELEPORT:
            out[at_symbols + symbol_of(tile) * cells + cell] = 1
        out[at_colors + color_of(tile) * cells + cell] = 1
        out[at_kinds + kind_of(tile) * cells + cell] = 1
        out[at_open + cell] = holds(opened, cell)
    other = seat
    for i in range(players):
        out[params.at[POSITIONS] + i * cells + state.position[other]] = 1
        place = int(state.place[other])
        out[params.at[IN_GAME] + i] = place <= 0
        if place != NONE:
            out[params.at[PLACE] + i * players + place] = 1
        if other == state.current_player:
            out[params.at[TO_MOVE] + i] = 1
        other = other + 1 if other + 1 < players else 0
    out[params.at[TELEPORTING]] = state.teleporting
    out[params.at[SEAT] + seat] = 1
    if state.current_player != NONE:
        write_reach(params, state, seat, out)


@numba.njit
def ends_now(params, state, seat, legal):
    """The set of cells where ``seat`` could go if it were to move; ``legal`` is that of the seat to move."""
    if state.place[seat] != NONE:
        return EMPTY
    return legal if seat == state.current_player else end_cells(params, state, seat)


@numba.njit
def number_after(params, state, seat, legal, cell):
    """1 + how many end cells ``seat`` would have (`MOST_COUNTED` at most) once the seat to move stands on ``cell``.

    0 if it may not go there, or ``seat`` is petrified.
    """
    if state.place[seat] != NONE or not holds(legal, cell):
        return 0
    mover = int(state.current_player)
    free = free_cells(params, state) & ~set_of(cell)
    if state.teleporting:  # the teleport stays open; any other cell is closed when the figure leaves it
        free |= set_of(state.position[mover])
    start = cell if seat == mover else int(state.position[seat])
    ends = walk_ends(params, int(state.tile[start]), start, free)
    return 1 + min(size(ends), MOST_COUNTED)


@numba.njit
def write_reach(params, state, seat, out):
    """The last two parts of what ``seat`` sees before the end, into ``out`` (O,)."""
    players, cells, legal = params.num_players, params.num_cells, legal_cells(params, state)
    for i in range(players):
        other = (seat + i) % players
        ends = ends_now(params, state, other, legal)
        for cell in range(cells):
            out[params.at[END_CELLS] + i * cells + cell] = holds(ends, cell)
            out[params.at[END_CELLS_AFTER] + i * cells + cell] = number_after(
                params, state, other, legal, cell
            )


@numba.njit
def shows_reach(params, state, seat, observation):
    """Whether the last two parts of ``observation`` are what ``seat`` sees before the end."""
    players, cells, legal = params.num_players, params.num_cells, legal_cells(params, state)
    for i in range(players):
        other = (seat + i) % players
        ends = ends_now(params, state, other, legal)
        for cell in range(cells):
            if observation[params.at[END_CELLS] + i * cells + cell] != holds(ends, cell):
                return False
            number = number_after(params, state, other, legal, cell)
            if observation[params.at[END_CELLS_AFTER] + i * cells + cell] != number:
                return False
    return True


@numba.njit
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


@numba.njit
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


@numba.njit
def read_board(params, observation, state):
    """Set the tiles and the open cells of ``state``; 1 if the planes show no tile, or several, on some cell."""
    cells, at = params.num_cells, params.at
    state.open = EMPTY
    for cell in range(cells):
        symbol = one_of(observation, at[SYMBOLS] + cell, cells, NUM_SYMBOLS) + 1
        color = one_of(observation, at[COLORS] + cell, cells, NUM_COLORS)
        tile = tile_of(one_of(observation, at[KIND] + cell, cells, NUM_KINDS), symbol, color)
        opened = observation[at[OPEN] + cell]
        if tile == NONE or opened < 0 or opened > 1:
            return 1
        state.tile[cell] = tile
        if opened:
            state.open |= set_of(cell)
    return 0


@numba.njit
def read_seats(params, observation, state):
    """Set the players' fields of ``state``; 1 if a seat has no cell, or several, or nobody is to move."""
    players, cells, at = params.num_players, params.num_cells, params.at
    observer = one_of(observation, at[SEAT], 1, players)
    to_move = one_of(observation, at[TO_MOVE], 1, players)
    teleporting = observation[at[TELEPORTING]]
    if observer < 0 or to_move < 0 or teleporting < 0 or teleporting > 1:
        return 1
    for i in range(players):
        seat = (observer + i) % players
        position = one_of(observation, at[POSITIONS] + i * cells, 1, cells)
        place = one_of(observation, at[PLACE] + i * players, 1, players)
        if position < 0 or place == MANY or observation[at[IN_GAME] + i] != (1 if place == NONE else 0):
            return 1
        state.position[seat] = position
        state.place[seat] = place
    state.current_player = (observer + to_move) % players
    state.teleporting = teleporting
    return 0
