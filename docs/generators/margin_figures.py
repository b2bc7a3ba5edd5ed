"""Pictures of margins: bars of every agent among heuristics, and heat maps of every agent among every other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import blended_transform_factory

from catbox_agents.arena.plots import INK, LINES, PIXELS, SOFT, heat_map
from catbox_agents.arena.results import Estimate
from docs.generators.figures import Picture

#: Of a bar: whether the agent is certainly better than the heuristic (and the best of all, or not certainly worse than
#: the best), worse, or neither.
Kind = Literal["best", "better", "unclear", "worse"]


@dataclass(frozen=True)
class Bar:
    """How much more one agent scores than the heuristics at a table."""

    table: str
    agent: str
    margin: Estimate
    kind: Kind


def bars(title: str, found: Sequence[Bar], narrow: bool = False) -> Picture:
    """The bars of a table stand together, in the colours of their agents.

    ``narrow``: for a phone, with the words above each bar instead of beside it.
    """
    layout = _NARROW if narrow else _WIDE
    return Picture(title, f"{title} {layout!r} {found!r}", lambda: _draw_bars(found, layout))


@dataclass(frozen=True)
class _Layout:
    """Pixels: of the picture's ``width`` and a ``row``; ``bars``: from where to where the bars are; ``words``: how far
    above the middle of a bar its words stand, and ``high``, its height, both in parts of a row."""

    width: int
    row: int
    bars: tuple[int, int]
    words: float
    high: float


_WIDE = _Layout(width=750, row=24, bars=(204, 636), words=0.0, high=0.7)
_NARROW = _Layout(width=360, row=38, bars=(10, 340), words=0.47, high=0.36)
#: What the legend says of pale bars.
_PALE, _UNCLEAR = 0.35, "pale: not certainly above 0"
_AXIS = "points per round above the heuristics"
#: Pixels: of the legend, of what is below the rows, and of the edge.
_LEGEND, _BELOW, _EDGE = 36, 44, 6
#: Points.
_TEXT, _SMALL = 10, 9


def _draw_bars(found: Sequence[Bar], layout: _Layout) -> Figure:
    """As high as its rows, with a legend above them."""
    rows = _row_of_each(found)
    agents = list(dict.fromkeys(bar.agent for bar in found))
    colours = dict(zip(agents, LINES[: len(agents)], strict=True))
    known = {agent: Patch(color=colour) for agent, colour in colours.items()}
    if any(bar.kind == "unclear" for bar in found):
        known[_UNCLEAR] = Patch(color=SOFT, alpha=_PALE)
    columns = max(1, layout.width // 185)
    high = layout.row * (rows[-1] + 1.2)
    height = _LEGEND + 20 * ((len(known) - 1) // columns) + high + _BELOW
    figure = Figure(figsize=(layout.width / PIXELS, height / PIXELS))
    figure.legend(
        known.values(), known.keys(), loc="upper left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False,
        fontsize=_TEXT, handlelength=1, handleheight=1, handletextpad=0.5, columnspacing=1.5, borderpad=0.6,
    )  # fmt: skip
    left, right = (x / layout.width for x in layout.bars)
    _rows(
        figure,
        figure.add_axes((left, _BELOW / height, right - left, high / height)),
        found,
        rows,
        colours,
        layout,
    )
    return figure


def _row_of_each(found: Sequence[Bar]) -> list[float]:
    """Where each bar is, from above; there is room between two tables."""
    rows, place = [], 0.0
    for above, bar in zip([None, *found], found, strict=False):
        place += 0 if above is None else 1 if above.table == bar.table else 1.2
        rows.append(place)
    return rows


def _rows(
    figure: Figure, axes: Axes, found: Sequence[Bar], rows: Sequence[float],
    colours: Mapping[str, str], layout: _Layout,
) -> None:  # fmt: skip
    margins = [bar.margin for bar in found]
    for row, bar in zip(rows, found, strict=True):
        alpha = _PALE if bar.kind == "unclear" else 1
        axes.barh(row, bar.margin.mean, layout.high, color=colours[bar.agent], alpha=alpha)
    axes.errorbar(
        [one.mean for one in margins], rows, xerr=[one.half_width for one in margins],
        fmt="none", ecolor=INK, elinewidth=1, capsize=2.5,
    )  # fmt: skip
    place = blended_transform_factory(figure.transFigure, axes.transData)

    def write(x: float, row: float, words: str, **more: Any) -> None:
        axes.text(x / layout.width, row, words, transform=place, va="center", **({"fontsize": _TEXT} | more))

    above = ""
    for bar, row in zip(found, rows, strict=True):
        weight = "bold" if bar.kind == "best" else "normal"
        words = row - layout.words
        write(layout.width - _EDGE, words, str(bar.margin).replace("-", "\u2212"), ha="right", weight=weight)
        if bar.table != above:
            write(_EDGE, words, bar.table)
        else:
            write(_EDGE + 12, words, bar.agent, color=colours[bar.agent])
        above = bar.table
    top = -0.6 - layout.words
    low, high = min(0.0, *(one.low for one in margins)), max(0.0, *(one.high for one in margins))
    room = 0.02 * (high - low) or 1.0
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(rows[-1] + (0.6 if layout.words == 0 else 0.35), top)
    axes.set_xlabel(_AXIS, fontsize=_SMALL)
    reach = layout.high / 2
    axes.vlines(
        [0] * len(rows), [r - reach for r in rows], [r + reach for r in rows], color=INK, linewidth=0.8
    )
    axes.tick_params(axis="x", labelsize=_SMALL)
    axes.set_yticks([])
    if layout.words == 0:  # else lines would run through the words
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
    axes.spines[["top", "left", "right"]].set_visible(False)


@dataclass(frozen=True)
class HeatMap:
    """Margins of one agent (row) among copies of another (column); None where there is none.

    ``last``: a column of words with its heading. ``sides``: what rows and columns are.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    margins: Sequence[Sequence[Estimate | None]]
    last: tuple[str, Sequence[str]] | None = None
    sides: tuple[str, str] = ("", "")

    @property
    def words(self) -> str:
        """What is to be seen, for who does not see it."""
        return f"{self.title} {', '.join(self.columns)}"

    def picture(self) -> Picture:
        """Blue: certainly above 0. Orange: certainly below. Hatched: neither."""
        return Picture(self.title, repr(self), self._draw)

    def _draw(self) -> Figure:
        return heat_map(self.title, self.rows, self.columns, self.margins, self.last, sides=self.sides)
