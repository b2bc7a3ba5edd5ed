"""A position of Petrify as styled text: the board with its pawns, and the seats."""

from __future__ import annotations

import numpy as np

from catbox_env.games.petrify.board import color_of, kind_of
from catbox_env.games.petrify.rules import Rules
from catbox_env.games.petrify.state import NONE, TILE_NAMES, WALL
from catbox_env.games.petrify.text import COLUMN_LETTERS, cell_name, energy, is_open

Piece = tuple[str, str]
#: Colours 0-4 of the tiles.
STYLES = ("", "red", "blue", "yellow", "green")


def render(rules: Rules, state: np.record) -> list[Piece]:
    """Pieces (text, rich style) that together show the position."""
    lines = [_headline(rules, state), [], *_board(rules, state), [], *_seats(rules, state)]
    return [piece for line in lines for piece in [*line, ("\n", "")]]


def _headline(rules: Rules, state: np.record) -> list[Piece]:
    seat = int(state.current_player)
    if state.terminated:
        what = "the game is over"
    elif state.teleporting:
        color = color_of(int(state.tile[state.position[seat]]))
        where = f"colour {color}" if color else "any colour"
        what = f"player_{seat} comes out of the teleport on a free tile of {where}"
    else:
        what = f"player_{seat} to move, {energy(rules, state, seat)}"
    return [(f"Petrify: {what}", "bold")]


def _board(rules: Rules, state: np.record) -> list[list[Piece]]:
    """A tile is symbol.colour, * wildcard, 0 zero, Tc teleport of colour c, W wall; # is closed; [k] is player k."""
    pawns = {int(state.position[seat]): seat for seat in range(rules.num_players)}
    letters = "".join(f"{COLUMN_LETTERS[column]:^9}" for column in range(rules.size))
    rows: list[list[Piece]] = [[(f"   {letters}".rstrip(), "bold")]]
    for row in range(rules.size):
        line: list[Piece] = [(f"{row + 1:>2} ", "bold")]
        for cell in range(row * rules.size, (row + 1) * rules.size):
            tile = int(state.tile[cell])
            closed = not is_open(state, cell) and kind_of(tile) != WALL
            name = "#" if closed else TILE_NAMES[tile]
            pawn = f"[{pawns[cell]}]" if cell in pawns else ""
            line.append((f"{name:>5}", "dim" if closed else STYLES[color_of(tile)]))
            line.append((f"{pawn:<4}", "bold"))
        last, style = line[-1]
        rows.append([*line[:-1], (last.rstrip(), style)])
    return rows


def _seats(rules: Rules, state: np.record) -> list[list[Piece]]:
    rows: list[list[Piece]] = []
    for seat in range(rules.num_players):
        turn = seat == state.current_player
        place = int(state.place[seat])
        tile = TILE_NAMES[state.tile[state.position[seat]]]
        where = cell_name(rules, int(state.position[seat]))
        text = f"{'>' if turn else ' '} player_{seat}  on {where} ({tile})"
        if place != NONE:
            text += f", {'winner' if place == 0 else f'petrified, place {place + 1} of {rules.num_players}'}"
        rows.append([(text, "bold" if turn else "dim" if place > 0 else "")])
    return rows
