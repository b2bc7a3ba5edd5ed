"""A position of Petrify as a picture: the board with its pawns, the players, and what the tiles mean."""

from __future__ import annotations

from catbox_env.games.petrify.rules import COLUMN_LETTERS, NUM_SYMBOLS, WALL_NAME, WILDCARD_NAME, Rules
from catbox_env.games.petrify.show import View, color_of_tile, colors_matter, steps_of
from catbox_env.games.petrify.state import NONE
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import GAP, PADDING, PANEL, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: The corner of the first cell of the board, and the width of a row.
LEFT, TOP, ROOM = 26, 26, 310
#: Heights of a row of the players, and of a row of the legend.
ROW, LEGEND_ROW = 46, 38
#: Tiles smaller than this have less room beside the chip.
SMALL = 44


def draw(sheet: Sheet) -> str:
    """The picture; all of it is public, and only who may choose depends on the viewer."""
    view = View(sheet.state.game.rules, sheet.state.record)
    rules = view.rules
    _put_board(view, sheet)
    _put_players(view, sheet)
    _put_legend(rules, sheet)
    return sheet.picture(
        f"{rules.num_players} players · turn {view.turn}",
        _line(view),
        lambda mover, action: f"player_{mover} moved to {rules.cell_name(action)}",
    )


def _line(view: View) -> str:
    """Who is to move, and what to do."""
    tile = view.tile_under(view.mover)
    if view.teleporting:
        color = color_of_tile(tile)
        return f"player_{view.mover} comes out on {f'colour {color}' if color else 'any colour'}"
    return f"player_{view.mover} walks {steps_of(view.rules, tile)}"


def _put_board(view: View, sheet: Sheet) -> None:
    """The cells, the pawns on them, and a frame around those where the seat to move may go."""
    theme, size = sheet.theme, view.rules.size
    pitch = 2 * ROOM // size / 2  # in halves of a unit
    side, middles = pitch - 4, [(k + 0.5) * pitch - 2 for k in range(size)]
    heads = svg.letters([LEFT + x for x in middles], 14, COLUMN_LETTERS[:size], 14, theme.soft)
    heads += "".join(svg.centred(13, TOP + y, row + 1, 14, theme.soft) for row, y in enumerate(middles))
    walks = {} if view.mover < 0 or view.teleporting else view.walks()
    cells, choices = "", ""  # the walk of a choice lies on the cells that it crosses
    for cell in range(size * size):
        row, column = divmod(cell, size)
        x, y = LEFT + column * pitch, TOP + row * pitch
        cells += _cell(view, sheet, x, y, side, cell)
        if cell in sheet.legal:
            choices += sheet.choice(cell, x, y, side, side, radius=5)
            if cell in walks:  # hidden until a page shows it
                way = [(LEFT + middles[c % size], TOP + middles[c // size]) for c in walks[cell]]
                choices += (
                    f'<polyline data-walk="" points="{" ".join(f"{x:g},{y:g}" for x, y in way)}" fill="none" '
                    f'stroke="{theme.ink}" stroke-width="4" stroke-opacity="0.5" stroke-dasharray="1 8" '
                    'stroke-linecap="round" visibility="hidden" pointer-events="none"/>'
                )
        elif sheet.asks:
            cells += sheet.choice(cell, x, y, side, side)
    drawn = f'<g aria-hidden="true">{heads}</g>{cells}{choices}'
    sheet.panel(0, TOP + ROOM + GAP, drawn, "board")


def _cell(view: View, sheet: Sheet, x: float, y: float, side: float, cell: int) -> str:
    theme = sheet.theme
    tile, pawn = view.tile_left(cell), view.pawns.get(cell)
    label = f"{view.rules.cell_name(cell)} {tile or 'closed'}"
    stands_out = cell in sheet.legal
    drawn = _tile(sheet, x, y, side, tile, holds_pawn=pawn is not None, stands_out=stands_out)
    if pawn is not None:
        label += f", player_{pawn}"
        middle, radius = x + (0.5 if side >= SMALL else 0.42) * side, min(22, 0.3 * side)
        if pawn == view.mover:
            glow = svg.disc(middle, y + 0.6 * side, round(min(1.5 * radius, 0.39 * side), 1))
            drawn += svg.path(glow, theme.turn, line=theme.seats[pawn], weight=2)
        token = sheet.token(pawn, middle, y + 0.6 * side, radius, ringed=pawn == view.mover)
        if view.places[pawn] > 0:
            token += _cracks(theme, middle, y + 0.6 * side, radius)
        drawn += svg.keyed(f"pawn-{pawn}", token)
    return svg.figure(drawn, label)


def _put_players(view: View, sheet: Sheet) -> None:
    """The position and status of each seat."""
    drawn = sheet.heading("Players")
    for seat, (cell, place) in enumerate(zip(view.positions, view.places, strict=True)):
        top, out = TITLE + seat * ROW, place > 0
        row, who = sheet.seat_row(seat, top, ROW, [])
        row += _cracks(sheet.theme, 26, top + ROW / 2, 13) if out else ""
        if place == NONE:
            how = f"on {view.rules.cell_name(cell)}: {steps_of(view.rules, view.tiles[cell])}"
        else:
            how = f"petrified, place {place + 1}" if out else "wins"
        fill = sheet.theme.soft if out else ""
        row += svg.text(PANEL - PADDING - 6, top + ROW / 2, how, 14, fill, anchor="end", bold=place == 0)
        drawn += svg.figure(row, f"{who}: {how}")
    sheet.panel(1, TITLE + view.rules.num_players * ROW + 6, drawn, "players")


def _put_legend(rules: Rules, sheet: Sheet) -> None:
    """The meaning of the tiles under these rules."""
    rows = [("3.2", f"from here you walk {steps_of(rules, '3.2')}"), ("", "closed: nobody can go here")]
    rows += [("*", f"from here you walk {steps_of(rules, '*')}")] * bool(rules.wildcards)
    rows += [("T0", "jumps to any free tile")] * bool(rules.teleports)
    rows += [("T1", "jumps to a free tile of its colour")] * (rules.teleports > 1)
    rows += [("0", "all pawns change places")] * bool(rules.zeros)
    rows += [(WALL_NAME, "a wall: nobody can go here")] * bool(rules.walls)
    note = "big: steps · small: colour" if colors_matter(rules) else "colours do not matter"
    drawn = sheet.heading("Tiles", note)
    for k, (tile, words) in enumerate(rows):
        y = TITLE + k * LEGEND_ROW
        drawn += _tile(sheet, PADDING, y, 32, tile)
        drawn += svg.text(56, y + 16, words, fill=sheet.theme.soft)
    sheet.panel(1, TITLE + len(rows) * LEGEND_ROW + 6, drawn)


def _tile(
    sheet: Sheet, x: float, y: float, side: float, name: str, *, holds_pawn: bool = False, stands_out: bool = True
) -> str:  # fmt: skip
    """The tile named ``name`` in a ``Deal``, "" for a closed cell: its symbol, and its colour as a number on a chip.

    ``holds_pawn``: there is room for the pawn; ``stands_out``: it does not recede, as it can be chosen.
    """
    theme = sheet.theme
    if not name:
        return svg.box(x, y, side, side, theme.page, radius=5, line=theme.line, dashed=True)
    if name == WALL_NAME:
        return svg.box(x, y, side, side, theme.back, radius=5) + _bricks(theme, x, y, side)
    color = color_of_tile(name)
    has_chip = bool(color) and colors_matter(sheet.state.game.rules)
    pale = theme.tints[color - 1] if has_chip else theme.panel
    drawn = svg.box(x, y, side, side, theme.face if stands_out else pale, radius=5, line=theme.line)
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


def _cracks(theme: Theme, x: float, y: float, radius: float) -> str:
    """The cracks of a petrified pawn, from its rim to its middle."""
    lines = "M-7.5 -7l2.5 1l-.5 1.5M7.5 -6l-2.5 .5l.5 2M-3 10l.8 -2l1.8 -.4"
    place = f"translate({number(x)} {number(y)}) scale({number(radius / 10)})"
    return f'<g transform="{place}">{svg.path(lines, "none", line=theme.panel, weight=1.5)}</g>'


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
