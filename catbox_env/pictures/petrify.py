"""A position of Petrify as a picture: the board with its pawns, the players, and what the tiles mean."""

from __future__ import annotations

import numpy as np

from catbox_env.core.state import GameState
from catbox_env.core.text import counted
from catbox_env.games.petrify.play import end_cells, free_cells, points, walk_ends
from catbox_env.games.petrify.rules import COLUMN_LETTERS, NUM_SYMBOLS, TILES, WALL_NAME, WILDCARD_NAME, Rules
from catbox_env.games.petrify.show import View, cells_in, color_of_tile, colors_matter, ordinal, steps_of
from catbox_env.games.petrify.state import NONE
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import GAP, PADDING, PANEL, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: The corner of the first cell of the board, and the width of a row.
LEFT, TOP, ROOM = 26, 26, 310
#: Heights of the board, and of a row of the players and of the legend; beside the board at least, and at most.
BOARD, ROW, LEGEND_ROW = TOP + ROOM + GAP, 46, 28
LOWEST_LEGEND_ROW, LARGEST_ROW, LARGEST_LEGEND_ROW = 34, 120, 48
#: The height of a row that is not enlarged, and how much a row and its words on the right are enlarged at most.
GROWN_ROW, LARGEST, LARGEST_WORDS = 60, 1.3, 1.2
#: A tile of the legend: where the seat to move may go, whatever its symbol.
OPEN = " "
#: Tiles smaller than this have less room beside the chip.
SMALL = 44
#: A tile from which a walk has one step.
ONE_STEP = TILES.index("1.1")


def draw(sheet: Sheet) -> str:
    """The picture; all of it is public, and only who may choose depends on the viewer."""
    view = View(sheet.state.game.rules, sheet.state.record)
    rules = view.rules
    _put_board(view, sheet)
    legend = _legend(rules)
    row, legend_row = _rows(rules.num_players, len(legend), sheet)
    _put_players(view, sheet, row)
    _put_legend(legend, sheet, legend_row)
    return sheet.picture(
        f"{rules.num_players} players · turn {view.turn}",
        _line(view, sheet),
        lambda mover, action: f"player_{mover} moved to {rules.cell_name(action)}",
    )


def _line(view: View, sheet: Sheet) -> str:
    """Who is to move, and what to do."""
    tile = view.tile_under(view.mover)
    if view.teleporting:
        color = color_of_tile(tile)
        where = f"on {f'colour {color}' if color else 'any colour'}"
        return sheet.turn_line(f"comes out {where}", f"Come out {where}")
    steps = steps_of(view.rules, tile)
    return sheet.turn_line(f"walks {steps}", f"Walk {steps}")


def _rows(players: int, tiles: int, sheet: Sheet) -> tuple[float, float]:
    """The heights of a row of the players and of the legend: beside the board they fill its height."""
    if not sheet.is_wide:
        return ROW, LEGEND_ROW
    room = sheet.larger * BOARD - GAP - 2 * (TITLE + 6)
    legend = max(LOWEST_LEGEND_ROW, min(LARGEST_LEGEND_ROW, room // (tiles + 1.15 * players)))
    return max(ROW, min(LARGEST_ROW, (room - tiles * legend) // players)), legend


def _put_board(view: View, sheet: Sheet) -> None:
    """The cells, the pawns on them, and a frame around those where the seat to move may go."""
    theme, size = sheet.theme, view.rules.size
    pitch = 2 * ROOM // size / 2  # in halves of a unit
    side, middles = pitch - 4, [(k + 0.5) * pitch - 2 for k in range(size)]
    heads = svg.letters([LEFT + x for x in middles], 14, COLUMN_LETTERS[:size], 14, theme.soft)
    heads += "".join(svg.centred(13, TOP + y, row + 1, 14, theme.soft) for row, y in enumerate(middles))
    walks = shortest_walks(sheet.state) if sheet.legal else {}
    # A walk crosses the grounds of the cells, and lies below what is on them.
    grounds, choices, tops, pawns = "", "", "", ""
    for cell in range(size * size):
        row, column = view.rules.place_of(cell)
        x, y = LEFT + column * pitch, TOP + row * pitch
        tile, pawn, stands_out = view.tile_left(cell), view.pawns.get(cell), cell in sheet.legal
        label = f"{view.rules.cell_name(cell)} {tile or 'closed'}"
        label += "" if pawn is None else f", player_{pawn}"
        grounds += svg.figure(_ground(sheet, x, y, side, tile, stands_out=stands_out), label)
        tops += _symbols(sheet, x, y, side, tile, holds_pawn=pawn is not None, stands_out=stands_out)
        pawns += "" if pawn is None else _pawn(view, sheet, x, y, side, pawn)
        if stands_out:
            choices += sheet.choice(cell, x, y, side, side, radius=5)
            if cell in walks:  # hidden until a page shows it
                places = map(view.rules.place_of, walks[cell])
                way = [(LEFT + middles[column], TOP + middles[row]) for row, column in places]
                choices += _walk(theme.seats[view.mover], way, side)
        elif sheet.explains_illegal:
            choices += sheet.choice(cell, x, y, side, side, radius=5)
    drawn = f'<g aria-hidden="true">{heads}</g>{grounds}{choices}'
    drawn += f'<g aria-hidden="true" pointer-events="none">{tops}{pawns}</g>'
    sheet.panel(0, BOARD, drawn, "board")


def shortest_walks(state: GameState) -> dict[int, list[int]]:
    """For each cell where a walk of the seat to move may end, a shortest way: end -> [start, .., end].

    None out of a teleport, which gives no steps.
    """
    params, record, legal = state.game.params[0], state.record, state.legal_actions()
    start, free = int(record.position[state.current_player]), np.uint64(free_cells(params, record))
    fewest, most = state.game.rules.steps(TILES[record.tile[start]])
    found: dict[int, list[int]] = {}
    ways = [[start]]
    for steps in range(1, most + 1):
        ways = [
            [*way, cell]
            for way in ways
            for cell in cells_in(walk_ends(params, ONE_STEP, way[-1], free))
            if cell not in way
        ]
        for way in ways:
            if steps >= fewest and way[-1] in legal:
                found.setdefault(way[-1], way)
    return found


def _pawn(view: View, sheet: Sheet, x: float, y: float, side: float, seat: int) -> str:
    theme, moves = sheet.theme, seat == view.mover
    middle, low, radius = x + (0.5 if side >= SMALL else 0.42) * side, y + 0.6 * side, min(22, 0.3 * side)
    glow = ""
    if moves:
        disc = svg.disc(middle, low, round(min(1.5 * radius, 0.36 * side), 1))
        glow = svg.path(disc, theme.turn, line=theme.seats[seat], weight=2)
    pawn = sheet.token(seat, middle, low, radius, ringed=moves, faded=view.places[seat] > 0)
    return glow + svg.with_key(f"pawn-{seat}", pawn)


def _walk(color: str, way: list[tuple[float, float]], side: float) -> str:
    """An arrow along the middles ``way``, from the rim of the pawn to just before the middle of the last cell."""
    (x, y), (x1, y1) = way[:2]
    (x2, y2), (x3, y3) = way[-2:]
    part = 0.5 * side / (abs(x1 - x) + abs(y1 - y))
    start = (x + part * (x1 - x), y + part * (y1 - y))
    right, down = (x3 > x2) - (x3 < x2), (y3 > y2) - (y3 < y2)
    tip, head = 0.3 * side, 0.12 * side
    end = (x3 - tip * right, y3 - tip * down)
    line = "L".join(f"{number(px)} {number(py)}" for px, py in [start, *way[1:-1], end])
    wings = [(-right - down, right - down), (-right + down, -right - down)]
    (ax, ay), (bx, by) = [(end[0] + head * wx, end[1] + head * wy) for wx, wy in wings]
    arrow = f"M{number(ax)} {number(ay)}L{number(end[0])} {number(end[1])}L{number(bx)} {number(by)}"
    return (
        f'<path data-walk="" d="M{line}{arrow}" fill="none" stroke="{color}" stroke-width="3.5" '
        'stroke-opacity="0.5" stroke-linecap="round" stroke-linejoin="round" visibility="hidden" '
        'pointer-events="none"/>'
    )


def _put_players(view: View, sheet: Sheet, height: float) -> None:
    """The position and status of each seat, and how many tiles it could walk to now."""
    params, record = sheet.state.game.params[0], sheet.state.record
    free = len(cells_in(free_cells(params, record)))
    has_ended, soft = view.mover < 0, sheet.theme.soft
    note = "1 point for the first, \u22121 for the last" if has_ended else f"free tiles: {free}"
    drawn = sheet.heading("Players", note)
    larger = max(1.0, min(LARGEST, height / GROWN_ROW))
    panel, words = PANEL / larger, min(larger, LARGEST_WORDS) / larger
    right, y = panel - PADDING - 6, height / larger / 2
    for seat, (cell, place) in enumerate(zip(view.positions, view.places, strict=True)):
        top, out, reach = TITLE + seat * height, place > 0, ""
        row, who = sheet.seat_row(seat, 0, height / larger, [], width=panel - 12, faded=out)
        if place == NONE:
            how = f"on {view.rules.cell_name(cell)}: {steps_of(view.rules, view.tiles[cell])}"
            is_walking = not (view.teleporting and seat == view.mover)
            ends = cells_in(end_cells(params, record, seat))
            reach = f"{counted(len(ends), 'tile')} in reach" if is_walking else ""
        else:
            how = f"petrified, {ordinal(place)}" if out else "wins"
            if has_ended:
                paid = points(params, place)
                reach = f"{svg.signed(paid)} {'point' if paid == 1 else 'points'}"
        fill = soft if out else ""
        row += svg.text(
            right, y - 9 * bool(reach), how, round(14 * words, 1), fill, anchor="end", bold=place == 0
        )
        row += svg.text(right, y + 11, reach, round(12 * words, 1), soft, anchor="end") if reach else ""
        place_of_row = f'<g transform="translate(0 {number(top)}) scale({number(larger)})">{row}</g>'
        drawn += svg.figure(place_of_row, f"{who}: {how}{', ' * bool(reach)}{reach}")
    sheet.panel(1, TITLE + view.rules.num_players * height + 6, drawn, "players")


def _legend(rules: Rules) -> list[tuple[str, str]]:
    """The tiles under these rules, and what they mean."""
    rows = [("3.2", f"from here you walk {steps_of(rules, '3.2')}"), (OPEN, "you can go here")]
    rows += [("", "closed: nobody can go here")]
    rows += [("*", f"from here you walk {steps_of(rules, '*')}")] * bool(rules.wildcards)
    rows += [("T0", "jumps to any free tile")] * bool(rules.teleports)
    rows += [("T1", "jumps to a free tile of its colour")] * (rules.teleports > 1)
    rows += [("0", "all pawns change places")] * bool(rules.zeros)
    return rows + [(WALL_NAME, "a wall: nobody can go here")] * bool(rules.walls)


def _put_legend(legend: list[tuple[str, str]], sheet: Sheet, height: float) -> None:
    """What the tiles mean: in a narrow picture, where that is cut off first, without a title unless it has a note."""
    note = "big: steps · small: colour" if colors_matter(sheet.state.game.rules) else ""
    has_title, side = bool(note) or sheet.is_wide, height - 6
    drawn, top = (sheet.heading("Tiles", note), TITLE) if has_title else ("", 10)
    for k, (tile, words) in enumerate(legend):
        y = top + k * height
        drawn += _ground(sheet, PADDING, y, side, tile, stands_out=tile == OPEN)
        drawn += _symbols(sheet, PADDING, y, side, tile, stands_out=tile != OPEN)
        drawn += svg.text(PADDING + side + 12, y + side / 2, words, fill=sheet.theme.soft)
    sheet.panel(1, top + len(legend) * height + 6, drawn)


def _has_chip(sheet: Sheet, name: str) -> bool:
    return bool(color_of_tile(name)) and colors_matter(sheet.state.game.rules)


def _ground(sheet: Sheet, x: float, y: float, side: float, name: str, *, stands_out: bool) -> str:
    """The ground of the tile named ``name`` in a ``Deal``, "" for a closed cell.

    ``stands_out``: it can be chosen.
    """
    theme = sheet.theme
    if not name:
        depth = round(0.08 * side, 1)  # a hole, whose upper edge casts a shadow
        floor = svg.box(x + depth / 2, y + depth, side - depth, side - depth, theme.page, radius=4)
        return svg.box(x, y, side, side, theme.shade, radius=5) + floor
    if name == WALL_NAME:
        return svg.box(x, y, side, side, theme.back, radius=5) + _bricks(theme, x, y, side)
    pale = theme.tints[color_of_tile(name) - 1] if _has_chip(sheet, name) else theme.panel
    line, weight = (theme.ink, 2.5) if name == OPEN else (theme.line, 1)
    return svg.box(x, y, side, side, theme.open if stands_out else pale, radius=5, line=line, weight=weight)


def _symbols(
    sheet: Sheet, x: float, y: float, side: float, name: str, *, holds_pawn: bool = False, stands_out: bool = True
) -> str:  # fmt: skip
    """What is on that tile: its symbol, and its colour as a number on a chip.

    ``holds_pawn``: there is room for the pawn.
    """
    if name in ("", WALL_NAME):
        return ""
    theme, color, has_chip, drawn = sheet.theme, color_of_tile(name), _has_chip(sheet, name), ""
    look = theme.ink if stands_out else theme.soft
    if has_chip:
        chip = min(18.0, max(13.0, 0.26 * side))
        left, top = x + side - chip - 2.5, y + 2.5
        drawn += svg.box(left, top, chip, chip, theme.colors[color - 1], radius=4)
        on = theme.on_colors[color - 1]
        drawn += svg.centred(left + chip / 2, top + chip / 2, color, 12, on, bold=True)
    words = f"1\u2013{NUM_SYMBOLS}" if name == WILDCARD_NAME else name[0]
    if holds_pawn:  # a small tile has no room for the number: the players' panel shows the steps
        is_shown = side >= SMALL and words != "T"
        return drawn + (
            svg.text(x + 5, y + 13, words, min(18, 0.26 * side + 2), look, bold=True) if is_shown else ""
        )
    middle = x + (0.38 if has_chip and side < SMALL else 0.5) * side
    if words == "T":
        ink = theme.words[color - 1] if color else theme.ink
        rings = (svg.disc(middle, y + 0.6 * side, round(part * side, 1)) for part in (0.28, 0.16))
        return drawn + svg.path("".join(rings), "none", line=ink, weight=2.5)
    if words == "0":
        turning = _turning(middle, y + 0.5 * side, 0.34 * side)
        drawn += svg.path(turning, "none", line=theme.soft, weight=2)
    down = 0.58 if has_chip else 0.5
    return drawn + svg.centred(middle, y + down * side, words, min(34, 0.42 * side), look, bold=stands_out)


def _bricks(theme: Theme, x: float, y: float, side: float) -> str:
    """The joints of a wall of four rows."""
    height, lines = side / 4, ""
    for k in range(4):
        top = y + k * height
        lines += f"M{number(x)} {number(top)}h{number(side)}" if k else ""
        for part in (1 / 3, 2 / 3) if k % 2 else (1 / 2,):
            lines += f"M{number(x + part * side)} {number(top)}v{number(height)}"
    return svg.path(lines, "none", line=theme.panel, weight=2)


def _turning(x: float, y: float, radius: float) -> str:
    """Two arrows turning clockwise around a point."""
    r, across, up = number(radius), 0.94 * radius, 0.34 * radius
    arrows = ""
    for way in (1, -1):
        long, short = 0.5 * way * radius, 0.1 * way * radius
        arrows += (
            f"M{number(x - way * across)} {number(y - way * up)}a{r} {r} 0 0 1 {number(2 * way * across)} 0"
        )
        arrows += f"m{number(-long)} {number(-short)}l{number(long)} {number(short)}l{number(short)} {number(-long)}"
    return arrows
