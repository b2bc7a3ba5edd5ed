"""Petrify in words: the position as styled text, descriptions of actions, and a summary of the rules."""

from __future__ import annotations

from catbox_env.games.petrify.play.state import NONE
from catbox_env.games.petrify.rules import COLUMN_LETTERS, NUM_SYMBOLS, Rules
from catbox_env.games.petrify.show.view import View, color_of_tile, steps_of, tile_in_words

Piece = tuple[str, str]
#: Colours 0-4 of the tiles.
STYLES = ("", "red", "blue", "yellow", "green")


def describe_actions(rules: Rules) -> list[tuple[int, int, str]]:
    """Rows (first id, last id, what they do)."""
    last = rules.num_cells - 1
    cells = f"{rules.cell_name(0)} .. {rules.cell_name(last)}"
    what = f"move to the cell row * {rules.size} + column: {cells}"
    return [(0, last, what + (" (also where to come out of a teleport)" if rules.teleports else ""))]


def energy(rules: Rules, tile: str) -> str:
    """How many steps a tile gives: ``"exactly 3 steps"``, ``"1 to 3 steps"``, ``"no steps"``."""
    steps = steps_of(rules, tile)
    if "\u2013" in steps:
        return steps.replace("\u2013", " to ")
    return steps if steps.startswith("no") else f"exactly {steps}"


def render(view: View) -> list[Piece]:
    """Pieces (text, rich style) that together show the position."""
    legend = [("[0]: the pawn of player_0; #: closed", "dim")]
    lines = [[(f"Petrify: {_headline(view)}", "bold")], [], *_board(view), legend, [], *_seats(view)]
    return [piece for line in lines for piece in [*line, ("\n", "")]]


def _headline(view: View) -> str:
    if view.mover < 0:
        return "the game is over"
    tile = view.tile_under(view.mover)
    if view.teleporting:
        color = color_of_tile(tile)
        where = f"colour {color}" if color else "any colour"
        return f"player_{view.mover} comes out of the teleport on a free tile of {where}"
    return f"player_{view.mover} to move, {energy(view.rules, tile)}"


def _board(view: View) -> list[list[Piece]]:
    """A tile is symbol.colour, * wildcard, 0 zero, Tc teleport of colour c, W wall; # is closed; [k] is player k."""
    size = view.rules.size
    letters = "".join(f"{letter:^9}" for letter in COLUMN_LETTERS[:size])
    rows: list[list[Piece]] = [[(f"   {letters}".rstrip(), "bold")]]
    for row in range(size):
        line: list[Piece] = [(f"{row + 1:>2} ", "bold")]
        for cell in range(row * size, (row + 1) * size):
            tile = view.tile_left(cell)
            pawn = f"[{view.pawns[cell]}]" if cell in view.pawns else ""
            name = tile_in_words(view.rules, tile) if tile else "#"
            line.append((f"{name:>5}", STYLES[color_of_tile(tile)] if tile else "dim"))
            line.append((f"{pawn:<4}", "bold"))
        last, style = line[-1]
        rows.append([*line[:-1], (last.rstrip(), style)])
    return rows


def _seats(view: View) -> list[list[Piece]]:
    rows: list[list[Piece]] = []
    for seat, (cell, place) in enumerate(zip(view.positions, view.places, strict=True)):
        turn = seat == view.mover
        tile = tile_in_words(view.rules, view.tiles[cell])
        text = f"{'>' if turn else ' '} player_{seat}  on {view.rules.cell_name(cell)} ({tile})"
        if place != NONE:
            last = view.rules.num_players
            text += f", {'winner' if place == 0 else f'petrified, place {place + 1} of {last}'}"
        rows.append([(text, "bold" if turn else "dim" if place > 0 else "")])
    return rows


def describe_rules(rules: Rules) -> list[str]:
    """A summary of the rules."""
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
