"""Pictures of margins: bars of every agent among heuristics, and heat maps of every agent among every other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import blended_transform_factory

from catbox_agents.arena.results import Estimate
from catbox_agents.plots import BLUE, GREY, PIXELS, SKY, VERMILION, heat_map
from docs.generators.figures import Picture

#: Of a bar: whether the agent is certainly better than the heuristic (and the best of all, or not certainly worse than
#: the best), worse, or neither.
Kind = Literal["best", "better", "unclear", "worse"]
_COLOURS: Mapping[Kind, str] = {"best": BLUE, "better": SKY, "unclear": GREY, "worse": VERMILION}


@dataclass(frozen=True)
class Bar:
    """How much more one agent scores than the heuristics at a table."""

    table: str
    agent: str
    margin: Estimate
    kind: Kind


def bars(title: str, by_game: Mapping[str, Sequence[Bar]]) -> Picture:
    """A panel with its own scale for each game; the bars of a table stand together."""
    return Picture(title, f"{title} {by_game!r}", lambda: _draw_bars(by_game))


#: What the legend says of each colour.
_MEANINGS: Mapping[Kind, str] = {
    "best": "the best, or not certainly worse",
    "better": "certainly above 0",
    "unclear": "not certainly above 0",
    "worse": "certainly below 0",
}
_AXIS = "points a round above the heuristics"
#: Pixels: of the picture's width, of a row, of the legend, of what is above and below the rows of a panel.
_WIDTH, _ROW, _LEGEND, _ABOVE, _BELOW = 960, 23, 40, 30, 64
#: Pixels from the left: where tables begin, agents end, bars are, and margins end.
_TABLES, _AGENTS, _BARS, _MARGINS = 6, 366, (378, 834), 954
#: Points.
_TEXT, _SMALL, _HEADING = 10.5, 9.5, 12


def _draw_bars(by_game: Mapping[str, Sequence[Bar]]) -> Figure:
    """Each panel is as high as its rows."""
    rows = {game: _row_of_each(found) for game, found in by_game.items()}
    heights = {game: _ROW * (of_game[-1] + 1.2) for game, of_game in rows.items()}
    height = _LEGEND + sum(heights.values()) + len(rows) * (_ABOVE + _BELOW)
    figure = Figure(figsize=(_WIDTH / PIXELS, height / PIXELS))
    kinds = {bar.kind for found in by_game.values() for bar in found}
    known = {words: Patch(color=_COLOURS[kind]) for kind, words in _MEANINGS.items() if kind in kinds}
    figure.legend(
        known.values(), known.keys(), loc="upper left", bbox_to_anchor=(0, 1), ncols=len(known), frameon=False,
        fontsize=_TEXT, handlelength=1, handleheight=1, handletextpad=0.5, columnspacing=1.5, borderpad=0.6,
    )  # fmt: skip
    below = height - _LEGEND
    for game, found in by_game.items():
        below -= _ABOVE + heights[game]
        left, right = (x / _WIDTH for x in _BARS)
        axes = figure.add_axes((left, below / height, right - left, heights[game] / height))
        _panel(figure, axes, game, found, rows[game])
        below -= _BELOW
    return figure


def _row_of_each(found: Sequence[Bar]) -> list[float]:
    """Where each bar is, from above; there is room between two tables."""
    rows, place = [], 0.0
    for above, bar in zip([None, *found], found, strict=False):
        place += 0 if above is None else 1 if above.table == bar.table else 1.4
        rows.append(place)
    return rows


def _panel(figure: Figure, axes: Axes, game: str, found: Sequence[Bar], rows: Sequence[float]) -> None:
    margins = [bar.margin for bar in found]
    axes.barh(rows, [one.mean for one in margins], 0.78, color=[_COLOURS[bar.kind] for bar in found])
    axes.errorbar(
        [one.mean for one in margins], rows, xerr=[one.half_width for one in margins],
        fmt="none", ecolor="black", elinewidth=1, capsize=2.5,
    )  # fmt: skip
    place = blended_transform_factory(figure.transFigure, axes.transData)

    def write(x: float, row: float, words: str, **more: Any) -> None:
        axes.text(x / _WIDTH, row, words, transform=place, va="center", **({"fontsize": _TEXT} | more))

    above = ""
    for bar, row in zip(found, rows, strict=True):
        weight = "bold" if bar.kind == "best" else "normal"
        write(_AGENTS, row, bar.agent, ha="right", weight=weight)
        write(_MARGINS, row, str(bar.margin).replace("-", "\u2212"), ha="right", weight=weight)
        if bar.table != above:
            write(_TABLES, row, bar.table)
        above = bar.table
    write(_TABLES, -1.2, game, fontsize=_HEADING, weight="bold")
    low, high = min(0.0, *(one.low for one in margins)), max(0.0, *(one.high for one in margins))
    room = 0.02 * (high - low) or 1.0
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(rows[-1] + 0.6, -0.6)
    axes.set_xlabel(_AXIS, fontsize=_SMALL)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.tick_params(axis="x", labelsize=_SMALL)
    axes.set_yticks([])
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
        """Blue: certainly above 0. Orange: certainly below. Grey: neither."""
        return Picture(self.title, repr(self), self._draw)

    def _draw(self) -> Figure:
        return heat_map(self.title, self.rows, self.columns, self.margins, self.last, sides=self.sides)
