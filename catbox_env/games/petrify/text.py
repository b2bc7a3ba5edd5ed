"""Petrify in words: names of cells, and why an action is illegal."""

from __future__ import annotations

import numpy as np

from catbox_env.core.events import counted
from catbox_env.games.petrify.board import color_of, kind_of, symbol_of
from catbox_env.games.petrify.rules import NUM_SYMBOLS, Rules
from catbox_env.games.petrify.state import TELEPORT, WALL, WILDCARD_TILE

#: The columns of the largest board.
COLUMN_LETTERS = "abcdefgh"


def is_open(state: np.record, cell: int) -> bool:
    """Whether ``cell`` is not closed."""
    return bool(int(state.open) >> cell & 1)


def cell_name(rules: Rules, cell: int) -> str:
    """The column's letter and the row's number, from 1: ``"a1"`` is the corner above on the left, cell 0."""
    row, column = divmod(cell, rules.size)
    return f"{COLUMN_LETTERS[column]}{row + 1}"


def describe_actions(rules: Rules) -> list[tuple[int, int, str]]:
    """Rows (first id, last id, what they do)."""
    last = rules.num_cells - 1
    what = f"move to the cell row * {rules.size} + column: {cell_name(rules, 0)} .. {cell_name(rules, last)}"
    return [(0, last, what + (" (also where to come out of a teleport)" if rules.teleports else ""))]


def energy(rules: Rules, state: np.record, seat: int) -> str:
    """How many steps the tile under ``seat`` gives: ``"exactly 3 steps"``, ``"1 to 3 steps"``, ``"no steps"``."""
    tile = int(state.tile[state.position[seat]])
    if tile == WILDCARD_TILE:
        return f"1 to {NUM_SYMBOLS} steps"
    symbol = symbol_of(tile)
    if symbol == 0:
        return "no steps"
    if rules.move_rule == "up_to" and symbol > 1:
        return f"1 to {symbol} steps"
    return f"exactly {counted(symbol, 'step')}"


def why_illegal(rules: Rules, state: np.record, action: int) -> str:
    """The rule that forbids an illegal ``action`` in ``state``."""
    seat = int(state.current_player)
    where = cell_name(rules, action)
    tile = int(state.tile[action])
    for other in range(rules.num_players):
        if state.position[other] == action:
            return f"{where} holds the pawn of player_{other}"
    if kind_of(tile) == WALL:
        return f"{where} is a wall"
    if not is_open(state, action):
        return f"{where} is closed"
    if not state.teleporting:
        return f"no path of {energy(rules, state, seat)} over free cells ends on {where}"
    if kind_of(tile) == TELEPORT:
        return f"{where} is a teleport, and a teleport does not lead to another"
    color = color_of(int(state.tile[state.position[seat]]))
    return f"the teleport has colour {color} and {where} has colour {color_of(tile)}"


def describe_rules(rules: Rules) -> list[str]:
    """The rules in short."""
    how_far = "at most" if rules.move_rule == "up_to" else "exactly"
    told = [
        f"{rules.num_players} pawns stand on a board of {rules.size} x {rules.size} tiles. A player that cannot move "
        "is petrified and out; the last one left wins.",
        f"Move: the number below your pawn says how many steps you walk, {how_far}. A step goes up, down, left or "
        "right, onto a tile that is open, has no pawn on it, and was not visited on this walk. Only where the walk "
        "ends is chosen.",
        "The tile that you leave is closed for good. Petrified pawns stay where they are, in the way.",
    ]
    if rules.wildcards:
        told.append(f"Wildcard (*): from it you walk 1 to {NUM_SYMBOLS} steps.")
    if rules.walls:
        told.append("Wall (W): closed from the beginning.")
    if rules.teleports:
        told.append(
            "Teleport (T and its colour): if your walk ends there, you choose at once a free tile of that colour to "
            "come out on; T0 leads to every colour, no teleport leads to another. It gives no steps: if you have to "
            "stay there, you are petrified at your next turn."
        )
    if rules.zeros:
        told.append(
            "Zero (0): if you come to it, all pawns still in the game change places, each to that of the next "
            "player; the zero becomes a copy of the tile from which a pawn was brought to it."
        )
    if rules.num_players > 2:
        told.append("The later you are petrified, the better: places are paid evenly from +1 to -1.")
    return told
