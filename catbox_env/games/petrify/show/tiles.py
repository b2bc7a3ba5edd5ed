"""The tiles of Petrify in a picture. A number card shows its symbol, and its colour as a number on a chip."""

from __future__ import annotations

from catbox_env.core.picture import Theme, box, centred, disc, number, path, text
from catbox_env.games.petrify.rules import NUM_SYMBOLS
from catbox_env.games.petrify.show.view import WALL_NAME, WILDCARD_NAME, color_of_tile

#: Tiles smaller than this have less room beside the chip.
SMALL = 44


def draw_tile(
    theme: Theme,
    x: float,
    y: float,
    side: float,
    name: str,
    *,
    holds_pawn: bool = False,
    numbers_color: bool = True,
) -> str:
    """The tile named ``name`` in a ``Deal``, "" for a closed cell. With ``holds_pawn`` it leaves room for the pawn;
    ``numbers_color``: the number of its colour is shown, too."""
    if not name:
        return box(x, y, side, side, theme.page, radius=5, line=theme.line, dashed=True)
    if name == WALL_NAME:
        return box(x, y, side, side, theme.back, radius=5) + _bricks(theme, x, y, side)
    color = color_of_tile(name)
    fill = theme.tints[color - 1] if color else theme.face
    drawn = box(x, y, side, side, fill, radius=5, line=theme.line)
    has_chip = bool(color) and numbers_color
    if has_chip:
        chip = min(18.0, max(13.0, 0.26 * side))
        left, top = x + side - chip - 2.5, y + 2.5
        drawn += box(left, top, chip, chip, theme.colors[color - 1], radius=4)
        on = theme.on_colors[color - 1]
        drawn += centred(left + chip / 2, top + chip / 2, color, 12, on, bold=True)
    words = f"1\u2013{NUM_SYMBOLS}" if name == WILDCARD_NAME else name[0]
    if holds_pawn:  # a small tile has no room for the number: the players' panel shows the steps
        is_shown = side >= SMALL and words != "T"
        return drawn + (text(x + 5, y + 13, words, min(18, 0.26 * side + 2), bold=True) if is_shown else "")
    middle = x + (0.38 if has_chip and side < SMALL else 0.5) * side
    if words == "T":
        ink = theme.words[color - 1] if color else theme.ink
        rings = (disc(middle, y + 0.6 * side, round(part * side, 1)) for part in (0.28, 0.16))
        return drawn + path("".join(rings), "none", line=ink, weight=2.5)
    if words == "0":
        turning = _turning(middle, y + 0.5 * side, 0.34 * side)
        drawn += path(turning, "none", line=theme.soft, weight=2)
    down = 0.58 if has_chip else 0.5
    return drawn + centred(middle, y + down * side, words, min(34, 0.42 * side), bold=True)


def _bricks(theme: Theme, x: float, y: float, side: float) -> str:
    """The joints of a wall of four rows."""
    height, lines = side / 4, ""
    for k in range(4):
        top = y + k * height
        lines += f"M{number(x)} {number(top)}h{number(side)}" if k else ""
        for part in (1 / 3, 2 / 3) if k % 2 else (1 / 2,):
            lines += f"M{number(x + part * side)} {number(top)}v{number(height)}"
    return path(lines, "none", line=theme.panel, weight=2)


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
