"""A position of Petrify as a picture: the board with its pawns, the seats, and what the tiles mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from catbox_env.core.picture import (
    GAP,
    PANEL,
    Sheet,
    box,
    choice,
    disc,
    figure,
    group,
    last_action,
    number,
    path,
    text,
    texts,
    token,
)
from catbox_env.core.state import GameState
from catbox_env.games.petrify.rules import NUM_SYMBOLS, Rules
from catbox_env.games.petrify.state import NONE, TILE_NAMES
from catbox_env.games.petrify.text import COLUMN_LETTERS, cell_name

PADDING, TITLE, ROW, LEGEND_ROW = 12, 34, 46, 38
#: Where the cells of the board begin, and the room for a row or a column of them.
LEFT, TOP, ROOM = 26, 26, 310
#: Tiles below this size have less room for a pawn, and for the number of their colour.
SMALL = 44


def draw(rules: Rules, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture; everybody sees everything, but only the seat to move, and all together, see what it may do."""
    view = View.of(rules, state, seat)
    drawing = _Drawing(view, sheet)
    sheet.panel(0, TOP + ROOM + GAP, drawing.board(), "board")
    sheet.panel(1, TITLE + rules.num_players * ROW + 6, drawing.seats(), "players")
    legend = _legend(rules)
    sheet.panel(1, TITLE + len(legend) * LEGEND_ROW + 6, drawing.legend(legend))
    return sheet.svg(
        title="Petrify",
        note=f"{rules.num_players} players · turn {view.turn}",
        line=_line(view),
        last=view.last,
        seat=view.mover if view.mover >= 0 else None,
    )


@dataclass(frozen=True)
class View:
    """A position.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        legal: its legal actions, where whoever looks may know them.
        tiles: the tiles by name; is_open: whether each cell is.
        positions, places: cell and finishing place of each seat (NONE: not decided).
        teleporting: whether the mover is to come out of a teleport.
        turn: how many turns were begun.
        last: the last action, in words.
    """

    rules: Rules
    seat: int | None
    mover: int
    legal: list[int]
    tiles: list[str]
    is_open: list[bool]
    positions: list[int]
    places: list[int]
    teleporting: bool
    turn: int
    last: str

    @classmethod
    def of(cls, rules: Rules, state: GameState, seat: int | None) -> View:
        """What ``seat`` sees of ``state``."""
        record, cells = state.record, rules.num_cells
        mover, opened = state.current_player, int(record.open)
        tiles = [TILE_NAMES[tile] for tile in record.tile[:cells].tolist()]
        is_open = [bool(opened >> cell & 1) for cell in range(cells)]
        closed = sum(not is_open[cell] and tiles[cell] != "W" for cell in range(cells))
        last = last_action(state, seat)
        return cls(
            rules=rules,
            seat=seat,
            mover=mover,
            legal=state.legal_actions() if seat in (None, mover) else [],
            tiles=tiles,
            is_open=is_open,
            positions=record.position[: rules.num_players].tolist(),
            places=record.place[: rules.num_players].tolist(),
            teleporting=bool(record.teleporting),
            turn=closed + (0 if record.terminated or record.teleporting else 1),
            last="" if last is None else f"player_{last[0]} moved to {cell_name(rules, last[1])}.",
        )


def _line(view: View) -> str:
    if view.mover < 0:
        return f"player_{view.places.index(0)} wins"
    if view.teleporting:
        color = view.tiles[view.positions[view.mover]][1]
        where = "any colour" if color == "0" else f"colour {color}"
        return f"player_{view.mover} comes out on {where}"
    steps = _steps(view.rules, view.tiles[view.positions[view.mover]])
    return f"player_{view.mover} walks {steps} {'step' if steps == '1' else 'steps'}"


def _steps(rules: Rules, tile: str) -> str:
    """How many steps a tile gives: ``"3"``, ``"1\u20134"``; ``"no"`` for a tile without energy."""
    if tile == "*":
        return f"1\u2013{NUM_SYMBOLS}"
    if "." not in tile:
        return "no"
    symbol = tile[0]
    return f"1\u2013{symbol}" if rules.move_rule == "up_to" and symbol != "1" else symbol


def _legend(rules: Rules) -> list[tuple[str, str]]:
    """Pairs (tile, what it means) of the kinds of tiles that these rules have; "" is a closed cell."""
    rows = [("3.2", f"gives {_steps(rules, '3.2')} steps; its colour is 2"), ("", "closed for good")]
    special = (
        ("*", f"gives 1\u2013{NUM_SYMBOLS} steps", rules.wildcards),
        ("T1", "leads to a free tile of its colour", rules.teleports),
        ("T0", "leads to a free tile of any colour", rules.teleports),
        ("0", "all players change places", rules.zeros),
        ("W", "a wall", rules.walls),
    )
    return rows + [(tile, words) for tile, words, count in special if count > (tile == "T1")]


class _Drawing:
    """The panels of one picture."""

    def __init__(self, view: View, sheet: Sheet) -> None:
        self.view, self.theme = view, sheet.theme
        self.pitch = math.floor(2 * ROOM / view.rules.size) / 2

    def board(self) -> str:
        """The cells, the pawns on them, and a frame around those where the seat to move may go."""
        view, theme, size = self.view, self.theme, self.view.rules.size
        middles = [(k + 0.5) * self.pitch - 2 for k in range(size)]
        heads = texts([LEFT + x for x in middles], 14, COLUMN_LETTERS[:size], 14, theme.soft)
        heads += "".join(text(13, TOP + y, row + 1, 14, fill=theme.soft, anchor="middle") for row, y in enumerate(middles))
        pawns = {position: seat for seat, position in enumerate(view.positions)}
        cells = "".join(self._cell(cell, pawns.get(cell, NONE)) for cell in range(size * size))
        return f'<g aria-hidden="true">{heads}</g>{cells}'

    def _cell(self, cell: int, pawn: int) -> str:
        view = self.view
        row, column = divmod(cell, view.rules.size)
        x, y, side = LEFT + column * self.pitch, TOP + row * self.pitch, self.pitch - 4
        tile = view.tiles[cell] if view.is_open[cell] or view.tiles[cell] == "W" else ""
        legal = cell in view.legal
        drawn = self._tile(x, y, side, tile, framed=legal, small=pawn >= 0)
        if pawn >= 0:
            out = view.places[pawn] > 0
            radius = min(22.0, 0.3 * side)
            middle = x + (0.5 if side >= SMALL else 0.42) * side
            ringed = pawn == view.mover
            drawn += token(self.theme, pawn, middle, y + 0.6 * side, radius, faded=out, ringed=ringed)
        if legal:
            return choice(cell, f"move to {cell_name(view.rules, cell)}", drawn)
        what = {"": "closed", "W": "wall", "*": "wildcard", "0": "zero"}.get(tile, tile)
        return figure(drawn, f"{cell_name(view.rules, cell)} {what}{f', player_{pawn}' if pawn >= 0 else ''}")

    def _tile(
        self, x: float, y: float, side: float, tile: str, *, framed: bool = False, small: bool = False, chip: bool = True
    ) -> str:
        """A tile, "" for a closed cell. ``small``: its number leaves room for a pawn; ``chip``: it tells its colour."""
        theme = self.theme
        if not tile:
            return box(x, y, side, side, theme.page, radius=5, line=theme.line, dashed=True)
        if tile == "W":
            return box(x, y, side, side, theme.back, radius=5) + self._bricks(x, y, side)
        color = int(tile[-1]) if tile[-1] in "1234" else 0
        fill = theme.tints[color - 1] if color else theme.face
        drawn = box(x, y, side, side, fill, radius=5, line=theme.ink if framed else theme.line, weight=3 if framed else 1)
        if color and chip:
            size = min(18.0, max(13.0, 0.26 * side))
            drawn += box(x + side - size - 2.5, y + 2.5, size, size, theme.colors[color - 1], radius=4)
            at, on = x + side - size / 2 - 2.5, theme.on_colors[color - 1]
            drawn += text(at, y + 2.5 + size / 2, color, 12, fill=on, anchor="middle", bold=True)
        beside = bool(color) and side < SMALL  # the chip, which takes a large part of a small tile
        middle = x + (0.38 if beside else 0.5) * side
        if tile.startswith("T"):
            line = theme.words[color - 1] if color else theme.ink
            rings = disc(middle, y + 0.6 * side, round(0.28 * side, 1)) + disc(middle, y + 0.6 * side, round(0.16 * side, 1))
            return drawn if small else drawn + path(rings, "none", line=line, weight=2.5)
        words = f"1\u2013{NUM_SYMBOLS}" if tile == "*" else tile[0]
        if small:  # on a small tile there is no room for it; the panel of the players tells it
            return drawn if side < SMALL else drawn + text(x + 5, y + 13, words, min(18, 0.26 * side + 2), bold=True)
        if tile == "0":
            drawn += path(self._turning(middle, y + 0.5 * side, 0.34 * side), "none", line=theme.soft, weight=2)
        down = 0.62 if beside else 0.55 if color else 0.5
        return drawn + text(middle, y + down * side, words, min(34, 0.42 * side), anchor="middle", bold=True)

    def _bricks(self, x: float, y: float, side: float) -> str:
        rows = [y + side * k / 4 for k in (1, 2, 3)]
        lines = "".join(f"M{number(x)} {number(row)}h{number(side)}" for row in rows)
        for k in range(4):
            at = (1 / 3, 2 / 3) if k % 2 else (1 / 2,)
            lines += "".join(f"M{number(x + side * part)} {number(y + side * k / 4)}v{number(side / 4)}" for part in at)
        return path(lines, "none", line=self.theme.panel, weight=2)

    @staticmethod
    def _turning(x: float, y: float, radius: float) -> str:
        """Two arrows that turn clockwise around a zero."""
        r, across, up = number(radius), 0.94 * radius, 0.34 * radius
        parts = []
        for way in (1, -1):
            start, end = f"{number(x - way * across)} {number(y - way * up)}", number(2 * way * across)
            head = f"m{number(-0.5 * way * radius)} {number(-0.1 * way * radius)}l{number(0.5 * way * radius)} {number(0.1 * way * radius)}"
            parts.append(f"M{start}a{r} {r} 0 0 1 {end} 0{head}l{number(0.1 * way * radius)} {number(-0.5 * way * radius)}")
        return "".join(parts)

    def seats(self) -> str:
        """Where each seat stands, and how it fares."""
        view, theme = self.view, self.theme
        drawn = text(PADDING, 19, "Players", 15, bold=True)
        for seat, (position, place) in enumerate(zip(view.positions, view.places, strict=True)):
            y = TITLE + seat * ROW
            out, mine = place > 0, seat in (view.mover, view.seat)
            row = box(6, y + 2, PANEL - 12, ROW - 4, theme.turn, radius=8) if seat == view.mover else ""
            row += token(theme, seat, 28, y + ROW / 2, 14, faded=out)
            you = seat == view.seat
            row += text(50, y + ROW / 2 - (8 if you else 0), f"player_{seat}", 15, fill=theme.soft if out else "", bold=mine)
            row += text(50, y + ROW / 2 + 11, "you", 12, fill=theme.soft) if you else ""
            steps = _steps(view.rules, view.tiles[position])
            if place == NONE:
                how = f"on {cell_name(view.rules, position)}: {steps} {'step' if steps == '1' else 'steps'}"
            else:
                how = "wins" if place == 0 else f"petrified on {cell_name(view.rules, position)}, place {place + 1}"
            row += text(PANEL - PADDING - 6, y + ROW / 2, how, 14, anchor="end", bold=place == 0, fill=theme.soft if out else "")
            turn = ", to move" if seat == view.mover else ""
            drawn += figure(row, f"player_{seat}{', you' if you else ''}{turn}: {how}")
        return drawn

    def legend(self, rows: list[tuple[str, str]]) -> str:
        """What the tiles mean."""
        drawn = text(PADDING, 19, "Tiles", 15, bold=True)
        for k, (tile, words) in enumerate(rows):
            y = TITLE + k * LEGEND_ROW
            drawn += self._tile(PADDING, y, 32, tile, chip="." in tile)
            drawn += text(56, y + 16, words, 14, fill=self.theme.soft)
        return group(drawn)
