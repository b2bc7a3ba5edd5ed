"""Positions to test Petrify on: lay out a board, move by cell, look at what is left.

A board is a list of rows such as "2 . W T0": a symbol, a symbol and a colour ("2.3"), "." for any other number
card, or a special tile. Cells are (row, column), from (0, 0).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import catbox_env
from tests.petrify.reference import Cell, ReferenceState, Rules, tile_named

SPECIAL = {"W": "walls", "*": "wildcards", "0": "zeros", "T": "teleports"}


def lay_out(rows: Sequence[str]) -> list[list[str]]:
    """The tiles' full names; a number's colour is 1 unless it is given, and "." is 1.1."""

    def full(name: str) -> str:
        if name == ".":
            return "1.1"
        return f"{name}.1" if name in ("1", "2", "3", "4") else name

    return [[full(name) for name in row.split()] for row in rows]


def start(rows: Sequence[str], places: Sequence[Cell], **options: Any) -> Any:
    """A game on this board; the numbers of special tiles follow from it."""
    tiles = lay_out(rows)
    names = [name for row in tiles for name in row]
    counts = {
        option: sum(name.startswith(letter) and "." not in name for name in names)
        for letter, option in SPECIAL.items()
    }
    game = catbox_env.make_game("petrify_v0", num_players=len(places), size=len(rows), **counts, **options)
    deal = {"tiles": tiles, "positions": [row * len(rows) + column for row, column in places]}
    return game.new_initial_state(seed=0, deal=deal)


def play(state: Any, *cells: Cell) -> Any:
    """Move the players in turn to these end cells (a teleport choice is a move of its own)."""
    for row, column in cells:
        state.apply_action(row * state.game.rules.size + column)
    return state


def legal(state: Any) -> set[Cell]:
    """Where the player to move may go."""
    return {divmod(action, state.game.rules.size) for action in state.legal_actions()}


def view(state: Any, seat: int = 0) -> dict[str, np.ndarray]:
    """The named parts of what a seat sees; from seat 0 seats are absolute."""
    return state.game.observation_layout.unpack(state.observation(seat))


def place_of(state: Any, player: int) -> Cell:
    """Where a player's pawn stands."""
    (cell,) = np.argwhere(view(state)["positions"][player]).tolist()
    return tuple(cell)


def is_open(state: Any, cell: Cell) -> bool:
    return bool(view(state)["open"][cell])


def tile_at(state: Any, cell: Cell) -> str:
    """The name of a tile: "2.3", "W", "*", "0", "T1"."""
    row, column = cell
    parts = view(state)
    (kind,) = np.flatnonzero(parts["kinds"][:, row, column])
    (colour,) = np.flatnonzero(parts["colors"][:, row, column])
    symbols = np.flatnonzero(parts["symbols"][:, row, column])
    assert len(symbols) == (1 if kind == 0 else 0)
    return [f"{symbols[0] + 1 if kind == 0 else ''}.{colour}", "W", "*", "0", f"T{colour}"][kind]


def in_game(state: Any) -> list[int]:
    return view(state)["in_game"].tolist()


def places(state: Any) -> list[int]:
    """The finishing places of a finished game, by seat."""
    return [state.info(seat)["place"] for seat in range(state.game.num_players)]


def as_reference(state: Any) -> ReferenceState:
    """The beginning of a game in the plain reference, read from what seat 0 sees."""
    rules = state.game.rules
    cells = range(rules.size)
    tiles = [[tile_named(tile_at(state, (row, column))) for column in cells] for row in cells]
    begun = [place_of(state, player) for player in range(rules.num_players)]
    return ReferenceState(Rules(**vars(rules)), tiles, begun, state.game.reward)
