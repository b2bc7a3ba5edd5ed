"""What plots of arenas, of training and on the pages share: colours, the font, and heat maps of margins.

matplotlib is imported where something is drawn: it is slow to import, and in the extra ``arena``.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catbox_agents.arena.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of the browser table (`app/catbox_app/web/static/style.css`): the page, text, and less prominent text.
PAGE, INK, SOFT, LINE = "#ece7dc", "#1d2230", "#555b69", "#d5cebf"
#: Of the lines of a plot: the accent, and seats.
LINES = ("#4a3fb8", "#964300", "#006a73", "#ab1a6c", "#565c00", "#4d586b")
#: Of Okabe and Ito (2008), whose colours colour-blind readers can distinguish: for what is above, below and near 0.
BLUE, SKY, GREEN, VERMILION, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7"
#: What stands back, on a light and on a dark page.
GREY = "#C8C8C8"
#: That of the browser table, from `_FONTS` (written by `docs/plot_fonts.py`), and matplotlib's own for other letters.
FONTS = ["Figtree", "DejaVu Sans"]
_FONTS = Path(__file__).parent / "fonts"
#: Pixels of a page in an inch of a plot.
PIXELS = 96
#: Pixels: a cell of a heat map, the narrowest and the widest, its height, and what the names of the columns take where
#: they are written slantwise.
_CELL, _NARROW_CELL, _WIDE_CELL, _HIGH, _SLANTED = 72, 58, 150, 50, 4
#: Pixels that the word for the columns takes above their names.
_SIDE = 18
#: Pixels of a character of names and other small words.
_CHARACTER = 7.9
#: Pixels: a colour of the key, how many there are on each side of 0, and the room of the key below the cells.
_SWATCH, _SHADES, _KEY = 20, 4, 52
#: Points, at which the smallest words are 14 pixels high.
_TITLE, _NUMBERS, _SMALL = 13, 12, 10.5


def style() -> dict[Any, Any]:
    """The settings of matplotlib for a plot in the colours and the font of the browser table."""
    _add_fonts()
    return {
        "font.family": FONTS,
        "font.size": 11.5,
        "figure.facecolor": PAGE,
        "axes.facecolor": "none",
        "axes.edgecolor": SOFT,
        "axes.labelcolor": SOFT,
        "grid.color": LINE,
        "text.color": INK,
        "text.parse_math": False,  # a $ in a name is literal
        "xtick.color": SOFT,
        "ytick.color": SOFT,
    }


@cache
def _add_fonts() -> None:
    """Tell matplotlib of `_FONTS`."""
    from matplotlib.font_manager import fontManager  # slow

    for file in _FONTS.glob("*.ttf"):
        fontManager.addfont(file)


@contextmanager
def drawing() -> Iterator[None]:
    """In this block matplotlib draws in our `style`.

    An unknown backend in ``MPLBACKEND``, with which matplotlib cannot be imported, is a warning: what is drawn here is
    saved to files, which needs no backend, and hours of games may precede it.
    """
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib  # slow, and in the extra arena
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    try:
        if backend:
            matplotlib.rcParams["backend"] = backend  # as its import does
    except ValueError:
        warnings.warn(
            f"MPLBACKEND={backend}: expected a backend of matplotlib, such as agg; drawn without it. Unset it",
            stacklevel=3,
        )
    with matplotlib.rc_context(style()):
        yield


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    margins: Sequence[Sequence[Estimate | None]],
    last: tuple[str, Sequence[str]] | None = None,
    about: Sequence[str] = (),
    sides: tuple[str, str] = ("", ""),
    width: float | None = None,
    decimals: int = 2,
) -> Figure:
    """Margins of one agent (row) among copies of another (column), with their intervals; None where there is none.

    Blue: certainly above 0. Orange: certainly below. Hatched: neither. A key below the cells shows those that occur.

    Args:
        last: a column of words with its heading.
        about: lines below the title.
        sides: what the rows and the columns are, in a word or two each.
        width: pixels that the picture is to have: the cells become wider or narrower.
        decimals: of the numbers.
    """
    from matplotlib.figure import Figure  # slow
    from matplotlib.patches import Rectangle

    heads = [_on_two_lines(name) for name in [*columns, *([last[0]] if last else [])]]
    label = max(112 if width is None else 0, _CHARACTER * max(map(len, rows)) + 12)
    cell: float = _CELL
    if width is not None:
        cell = min(_WIDE_CELL, max(_NARROW_CELL, (width - label - 6) / len(heads)))
    slanted = max(len(line) for head in heads for line in head.split("\n")) > cell / 6
    if slanted:
        heads = [head.replace("\n", " ") for head in heads]
    above = 28 + 16 * len(about)
    lines = 1 + max(name.count("\n") for name in heads)
    names = 8 + 14 * lines if not slanted else 12 + _SLANTED * max(map(len, heads))
    head = above + names + (_SIDE if sides[1] else 0)
    wide = label + cell * len(heads) + 6
    if slanted:
        wide = max(wide, *(label + cell * (place + 0.5) + 6 * len(name) for place, name in enumerate(heads)))
    known = [one for row in margins for one in row if one]
    unclear = any(one.low <= 0 <= one.high for one in known)
    key = _SWATCH * (2 * _SHADES + 3) + (100 if unclear else 0)
    wide = max([wide, key, *(_CHARACTER * len(line) for line in about)])
    height = head + _HIGH * len(rows) + _KEY
    figure = Figure(figsize=(wide / PIXELS, height / PIXELS))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(-label, wide - label)
    axes.set_ylim(height - head, -head)
    axes.set_axis_off()
    axes.text(6 - label, 14 - head, title, weight="bold", fontsize=_TITLE, va="center")
    side: dict[str, Any] = {"fontsize": _SMALL, "color": SOFT}
    for place, line in enumerate(about):
        axes.text(6 - label, 33 + 16 * place - head, line, va="center", **side)
    axes.text(-6, -5, sides[0], ha="right", va="bottom", **side)
    axes.text(4, -names - 1, sides[1], va="bottom", **side)
    for place, name in enumerate(heads):
        where: dict[str, Any] = {"ha": "left", "rotation": 30, "rotation_mode": "anchor"} if slanted else {}
        axes.text(cell * (place + 0.5), -5, name, va="bottom", fontsize=_SMALL, **({"ha": "center"} | where))
    strongest = max((abs(one.mean) for one in known), default=1.0) or 1.0
    for line_number, (name, row) in enumerate(zip(rows, margins, strict=True)):
        middle = _HIGH * (line_number + 0.5)
        axes.text(-6, middle, name, ha="right", va="center", fontsize=_SMALL)
        for place, margin in enumerate(row):
            box = (cell * place + 1, _HIGH * line_number + 1), cell - 2, _HIGH - 2
            if margin is not None:
                axes.add_patch(Rectangle(*box, **_fill(margin, strongest)))
                _number(axes, cell * (place + 0.5), middle, margin.words(decimals))
            else:
                axes.text(cell * (place + 0.5), middle, "\u2013", ha="center", va="center", color=SOFT)
        if last:
            _number(axes, cell * (len(row) + 0.5), middle, last[1][line_number])
    lowest = -_SHADES if any(one.high < 0 for one in known) else 0
    _draw_key(axes, 6 - label, _HIGH * len(rows) + 12, strongest, lowest, unclear)
    return figure


def _draw_key(axes: Axes, left: float, top: float, strongest: float, lowest: int, unclear: bool) -> None:
    """The colours of margins from the ``lowest`` shade to that of ``strongest``, and the hatching if there is any."""
    from matplotlib.patches import Rectangle  # slow

    small: dict[str, Any] = {"fontsize": _SMALL, "color": SOFT}
    steps = [step for step in range(lowest, _SHADES + 1) if step or not lowest]
    shades = [(step or 0.01) / _SHADES * strongest for step in steps]
    for place, shade in enumerate(shades):
        fill = _fill(Estimate(shade, shade, shade), strongest)
        axes.add_patch(Rectangle((left + _SWATCH * place, top), _SWATCH, 12, **fill))
    end, words = left + _SWATCH * len(shades), f"{float(f'{strongest:.2g}'):g}"
    zero = left - _SWATCH * lowest
    ends = [(zero, "0", "center" if lowest else "left"), (end, f"+{words}", "right")]
    if lowest:
        ends.append((left, f"\u2212{words}", "left"))
    for x, word, side in ends:
        axes.text(x, top + 16, word, ha=side, va="top", **small)
    if unclear:
        where = (end + _SWATCH, top)
        axes.add_patch(Rectangle(where, _SWATCH, 12, **_fill(Estimate(0, 0, 0), strongest)))
        axes.text(end + 2 * _SWATCH + 6, top + 6, "not certain", va="center", **small)


def _fill(margin: Estimate, strongest: float) -> dict[str, Any]:
    """How a cell is filled: the paler the smaller the margin; hatched alone if the interval contains 0."""
    if margin.low <= 0 <= margin.high:
        return {"facecolor": "none", "edgecolor": LINE, "hatch": "///", "linewidth": 0}
    share = min(1.0, abs(margin.mean) / strongest)
    return {"color": BLUE if margin.mean > 0 else VERMILION, "alpha": 0.1 + 0.65 * share, "linewidth": 0}


def _number(axes: Axes, x: float, y: float, words: str) -> None:
    """A number above its interval."""
    number, _, reach = words.replace("-", "\u2212").partition(" ")
    axes.text(x, y - 8, number, ha="center", va="center", fontsize=_NUMBERS)
    axes.text(x, y + 9, reach, ha="center", va="center", fontsize=_SMALL)


def _on_two_lines(name: str) -> str:
    """``name`` broken at the space nearest to its middle: the heads of columns are narrow."""
    spaces = [place for place, sign in enumerate(name) if sign == " "]
    if not spaces:
        return name
    place = min(spaces, key=lambda place: abs(place - len(name) / 2))
    return f"{name[:place]}\n{name[place + 1 :]}"
