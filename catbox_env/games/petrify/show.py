"""Petrify in words: actions, refusals, the rules, a position as styled text, and what an action did.

Everybody sees everything.

| kind of event | what happened |
|---|---|
| ``move`` | a pawn walked to another cell, and the one it left was closed |
| ``teleport`` | a pawn landed on a teleport: it may come out elsewhere, or has to stay |
| ``teleport_exit`` | a pawn came out of a teleport |
| ``rotation`` | a pawn came to a zero tile: all pawns still in the game have changed places |
| ``petrified`` | a player could not move and is out, in this place |
| ``score``, ``game_end`` | the points of each seat by its place; who has won |
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.game import Game
from catbox_env.core.spec import GameSpec
from catbox_env.core.state import Event, GameState
from catbox_env.core.text import Segment
from catbox_env.games.petrify.play import points
from catbox_env.games.petrify.rules import COLUMN_LETTERS, NUM_SYMBOLS, TILES, WALL_NAME, ZERO_NAME, Rules
from catbox_env.games.petrify.state import NONE

#: Rich styles of colours 0-4.
STYLES = ("", "red", "blue", "yellow", "green")


class View:
    """A position.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        teleporting: whether the mover is to come out of a teleport.
        tiles: the tile of each cell, by name; open: the cells that are not closed.
        positions, places: cell and finishing place of each seat (NONE: not decided).
        pawns: the seat whose pawn stands on a cell: cell -> seat.
    """

    def __init__(self, rules: Rules, record: np.record) -> None:
        self.rules, self.mover = rules, int(record.current_player)
        self.teleporting = bool(record.teleporting)
        self.tiles = [TILES[tile] for tile in record.tile[: rules.num_cells]]
        self.open = cells_in(record.open)
        self.positions: list[int] = record.position[: rules.num_players].tolist()
        self.places: list[int] = record.place[: rules.num_players].tolist()
        self.pawns = {cell: seat for seat, cell in enumerate(self.positions)}

    @property
    def turn(self) -> int:
        """The turn under way, from 1. Each turn closes the cell that it begins on."""
        closed = sum(tile == "" for tile in map(self.tile_left, range(self.rules.num_cells)))
        return closed + (0 if self.mover < 0 or self.teleporting else 1)

    def tile_left(self, cell: int) -> str:
        """The tile of ``cell``; "" if the cell was closed during the game."""
        tile = self.tiles[cell]
        return tile if cell in self.open or tile == WALL_NAME else ""

    def tile_under(self, seat: int) -> str:
        """The tile on which the pawn of ``seat`` stands."""
        return self.tiles[self.positions[seat]]


def cells_in(cells: int) -> list[int]:
    """The cells of a set."""
    cells = int(cells)
    return [cell for cell in range(cells.bit_length()) if cells >> cell & 1]


# Tiles, by name.


def color_of_tile(tile: str) -> int:
    """The colour of a tile, 1 to 4; 0: colourless."""
    return int(tile[-1]) if tile[-1].isdigit() else 0


def colors_matter(rules: Rules) -> bool:
    """Whether a teleport leads to tiles of its colour."""
    return rules.teleports > 1


def tile_in_words(rules: Rules, tile: str) -> str:
    """A tile without a colour that does not matter: ``"3"`` instead of ``"3.2"``."""
    return tile if colors_matter(rules) else tile.partition(".")[0]


def steps_of(rules: Rules, tile: str) -> str:
    """How far a tile lets its player walk: ``"3 steps"``, ``"1\\u20134 steps"``, ``"no steps"``."""
    fewest, most = rules.steps(tile)
    if fewest < most:
        return f"{fewest}\u2013{most} steps"
    return {0: "no steps", 1: "1 step"}.get(most, f"{most} steps")


def ordinal(place: int) -> str:
    """A place, counted from 0, in words: ``"1st"``."""
    return {0: "1st", 1: "2nd", 2: "3rd"}.get(place, f"{place + 1}th")


def energy(rules: Rules, tile: str) -> str:
    """The same in a sentence: ``"exactly 3 steps"``, ``"1 to 4 steps"``, ``"no steps"``."""
    fewest, most = rules.steps(tile)
    exactly = "exactly " if fewest == most > 0 else ""
    return exactly + steps_of(rules, tile).replace("\u2013", " to ")


# Actions and rules.


class Words(Game):
    """Petrify in words."""

    rules: Rules

    def _action_text(self, action: int) -> str:
        """``"move to b3"``."""
        rules = self.rules
        return f"move to {rules.cell_name(action)}"

    def describe_actions(self) -> list[tuple[int, int, str]]:
        """A single row (first id, last id, what they do)."""
        rules = self.rules
        last = rules.num_cells - 1
        cells = f"{rules.cell_name(0)} .. {rules.cell_name(last)}"
        what = f"move to the cell row * {rules.size} + column: {cells}"
        return [(0, last, what + (" (also where to come out of a teleport)" if rules.teleports else ""))]

    def _illegal_reason(self, record: np.record, action: int) -> str:
        """The rule that forbids an illegal ``action`` in ``record``."""
        rules = self.rules
        view = View(rules, record)
        where, tile, own = view.rules.cell_name(action), view.tiles[action], view.tile_under(view.mover)
        if action in view.pawns:
            return f"{where} is taken by player_{view.pawns[action]}"
        if tile == WALL_NAME:
            return f"{where} is a wall"
        if action not in view.open:
            return f"{where} is closed"
        if not view.teleporting:
            return f"no path of {energy(view.rules, own)} over free cells ends on {where}"
        if tile[0] == "T":
            return f"{where} is a teleport, and a teleport does not lead to another"
        return f"the teleport has colour {color_of_tile(own)} and {where} has colour {color_of_tile(tile)}"

    def describe_rules(self) -> list[str]:
        """A summary of the rules."""
        rules = self.rules
        how_far = "at most" if rules.move_rule == "up_to" else "exactly"
        paragraphs = [
            f"{rules.num_players} pawns stand on a board of {rules.size} x {rules.size} tiles. A player that cannot "
            "move is petrified and out; the last one left wins.",
            f"Move: the number below your pawn says how many steps you walk, {how_far}. A step goes up, down, left or "
            "right, onto a tile that is open, has no pawn on it, and was not visited on this walk. Only where the walk "
            "ends is chosen.",
            "The tile that you leave is closed for good. Petrified pawns stay where they are, in the way.",
        ]
        if rules.wildcards:
            paragraphs.append(f"Wildcard (*): from it you walk 1 to {NUM_SYMBOLS} steps.")
        if rules.walls:
            paragraphs.append("Wall (W): closed from the beginning.")
        if rules.teleports:
            paragraphs.append(
                "Teleport (T and its colour): if your walk ends there, you choose at once a free tile of that colour "
                "to come out on; T0 leads to every colour, no teleport leads to another. It gives no steps: if you "
                "have to stay there, you are petrified at your next turn."
            )
        if rules.zeros:
            paragraphs.append(
                "Zero (0): if you come to it, all pawns still in the game change places, each to that of the next "
                "player; the zero becomes a copy of the tile from which a pawn was brought to it."
            )
        if rules.num_players > 2:
            paragraphs.append(
                "The later you are petrified, the better: places are paid evenly from +1 to -1."
            )
        return paragraphs

    def _styled_text(self, record: np.record, seat: int | None) -> list[Segment]:
        """The headline, the board and the seats."""
        rules = self.rules
        view = View(rules, record)
        legend = [("[0]: the pawn of player_0; #: closed", "dim")]
        legal = self._legal_actions(record) if seat in (None, view.mover) else []
        board = _board(view, seat, legal)
        lines = [[(f"Petrify: {_headline(view)}", "bold")], [], *board, legend, [], *_seats(view)]
        return [segment for line in lines for segment in [*line, ("\n", "")]]

    def _events(self, before: GameState, action: int, after: GameState, viewer: int | None) -> list[Event]:
        """What ``action`` did."""
        rules = self.rules
        was, now = View(rules, before.record), View(rules, after.record)
        found = _move(was, action, now)
        if was.tiles[action] == ZERO_NAME:
            found.append(_rotation(was, action, now))
        changes = enumerate(zip(was.places, now.places, strict=True))
        out = [(place, viewer) for viewer, (earlier, place) in changes if earlier == NONE and place > 0]
        for place, loser in sorted(out, reverse=True):
            text = f"player_{loser} cannot move and turns to stone: {ordinal(place)} place"
            found.append(Event("petrified", loser, text, {"place": place + 1}))
        return found + (_game_end(now, after.game) if after.is_terminal() else [])


# A position as styled text.


def _headline(view: View) -> str:
    if view.mover < 0:
        return "the game is over"
    tile = view.tile_under(view.mover)
    if view.teleporting:
        color = color_of_tile(tile)
        where = f"colour {color}" if color else "any colour"
        return f"player_{view.mover} comes out of the teleport on a free tile of {where}"
    return f"player_{view.mover} to move, {energy(view.rules, tile)}"


def _board(view: View, viewer: int | None, legal: list[int]) -> list[list[Segment]]:
    """A tile is symbol.colour, * wildcard, 0 zero, Tc teleport of colour c, W wall; # is closed; [k] is player k.

    The viewer's own pawn is reversed, and the ``legal`` tiles are underlined.
    """
    size = view.rules.size
    letters = "".join(f"{letter:^9}" for letter in COLUMN_LETTERS[:size])
    rows: list[list[Segment]] = [[(f"   {letters}".rstrip(), "bold")]]
    for row in range(size):
        line: list[Segment] = [(f"{row + 1:>2} ", "bold")]
        for cell in range(row * size, (row + 1) * size):
            tile = view.tile_left(cell)
            pawn = f"[{view.pawns[cell]}]" if cell in view.pawns else ""
            name = tile_in_words(view.rules, tile) if tile else "#"
            style = STYLES[color_of_tile(tile)] if tile else "dim"
            line.append((" " * (5 - len(name)), ""))
            line.append((name, f"bold underline {style}" if cell in legal else style))
            line.append((pawn, "bold reverse" if pawn and view.pawns[cell] == viewer else "bold"))
            line.append((" " * (4 - len(pawn)), ""))
        rows.append(line[:-1])
    return rows


def _seats(view: View) -> list[list[Segment]]:
    rows: list[list[Segment]] = []
    for seat, (cell, place) in enumerate(zip(view.positions, view.places, strict=True)):
        turn = seat == view.mover
        tile = tile_in_words(view.rules, view.tiles[cell])
        text = f"{'>' if turn else ' '} player_{seat}  on {view.rules.cell_name(cell)} ({tile})"
        if place != NONE:
            text += ", winner" if place == 0 else f", petrified, {_of_all(view.rules, place)}"
        rows.append([(text, "bold" if turn else "dim" if place > 0 else "")])
    return rows


def _of_all(rules: Rules, place: int) -> str:
    return f"{ordinal(place)} of {rules.num_players}"


# What an action did.


def _move(was: View, action: int, now: View) -> list[Event]:
    mover, tile = was.mover, was.tiles[action]
    start, end = was.rules.cell_name(was.positions[mover]), was.rules.cell_name(action)
    data = {"from": start, "to": end, "tile": tile}
    special = {"*": "a wildcard", "0": "a zero", "T": "a teleport"}
    onto = special.get(tile[0], f"a {tile_in_words(was.rules, tile)}")
    if was.teleporting:
        text = f"player_{mover} comes out of the teleport on {start} at {end}, onto {onto}"
        return [Event("teleport_exit", mover, text, data)]
    own = was.tile_under(mover)
    fewest, most = was.rules.steps(own)
    steps = f" {steps_of(was.rules, own)}" if fewest == most else ""
    text = f"player_{mover} walks{steps} from {start} to {end}, onto {onto}. Tile {start} closes"
    found = [Event("move", mover, text, data)]
    if tile[0] == "T":
        color = color_of_tile(tile)
        where = f"a free tile of colour {color}" if color else "any free tile"
        leads = "may come out on" if now.teleporting else "stays there, because it does not lead to"
        text = f"player_{mover} is on a teleport and {leads} {where}"
        found.append(Event("teleport", mover, text, {"color": color, "leads_on": now.teleporting}))
    return found


def _rotation(was: View, action: int, now: View) -> Event:
    name = was.rules.cell_name
    cells = {seat: name(now.positions[seat]) for seat, place in enumerate(was.places) if place == NONE}
    words = ", ".join(f"player_{seat} to {cell}" for seat, cell in cells.items())
    zero, tile = name(action), now.tiles[action]
    text = (
        f"player_{was.mover} came to the zero on {zero}, so all change places: {words}; {zero} is now {tile}"
    )
    moved = [{"seat": seat, "cell": cell} for seat, cell in cells.items()]
    return Event("rotation", was.mover, text, {"zero": zero, "tile": tile, "moved": moved})


def _game_end(now: View, game: GameSpec) -> list[Event]:
    found = []
    for place, seat in sorted((place, seat) for seat, place in enumerate(now.places)):
        paid = points(game.params[0], place)
        text = f"player_{seat}: {_of_all(now.rules, place)} = {f'{paid:+.3g}' if paid else '0'}"
        found.append(Event("score", seat, text, {"place": place + 1, "score": paid}))
    winner = now.places.index(0)
    text = f"player_{winner} is the last one able to move and wins"
    return [*found, Event("game_end", winner, text, {"winners": [winner]})]
