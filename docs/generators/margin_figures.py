"""Pictures of margins: bars of every agent among heuristics, and heat maps of every agent among every other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

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


#: Pixels: of the picture's width, of a row, of what surrounds the rows of a panel.
_WIDTH, _ROW, _AROUND = 600, 19, 62


def _draw_bars(by_game: Mapping[str, Sequence[Bar]]) -> Figure:
    """Each panel is as high as its rows."""
    rows = {game: _row_of_each(found) for game, found in by_game.items()}
    heights = [_ROW * (of_game[-1] + 1) + _AROUND for of_game in rows.values()]
    figure = Figure(figsize=(_WIDTH / PIXELS, sum(heights) / PIXELS))
    below = sum(heights)
    for (game, found), height in zip(by_game.items(), heights, strict=True):
        below -= height
        bottom, share = (below + 34) / sum(heights), (height - _AROUND) / sum(heights)
        _panel(figure.add_axes((0.4, bottom, 0.42, share)), game, found, rows[game])
    return figure


def _row_of_each(found: Sequence[Bar]) -> list[float]:
    """Where each bar is, from above; there is room between two tables."""
    rows, place = [], 0.0
    for above, bar in zip([None, *found], found, strict=False):
        place += 0 if above is None else 1 if above.table == bar.table else 1.4
        rows.append(place)
    return rows


def _panel(axes: Axes, game: str, found: Sequence[Bar], rows: Sequence[float]) -> None:
    margins = [bar.margin for bar in found]
    axes.barh(rows, [one.mean for one in margins], 0.78, color=[_COLOURS[bar.kind] for bar in found])
    axes.errorbar(
        [one.mean for one in margins], rows, xerr=[one.half_width for one in margins],
        fmt="none", ecolor="black", elinewidth=1, capsize=2.5,
    )  # fmt: skip
    place = axes.get_yaxis_transform()
    above = ""
    for bar, row in zip(found, rows, strict=True):
        weight = "bold" if bar.kind == "best" else "normal"
        about: dict[str, Any] = {"transform": place, "va": "center", "fontsize": 9.5}
        axes.text(-0.03, row, bar.agent, ha="right", weight=weight, **about)
        axes.text(1.41, row, str(bar.margin).replace("-", "\u2212"), ha="right", weight=weight, **about)
        if bar.table != above:
            axes.text(-0.93, row, bar.table, ha="left", **about)
        above = bar.table
    axes.set_title(game, loc="left", x=-0.93, fontsize=11, weight="bold")
    low, high = min(0.0, *(one.low for one in margins)), max(0.0, *(one.high for one in margins))
    room = 0.02 * (high - low) or 1.0
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(rows[-1] + 0.6, -0.6)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.tick_params(axis="x", labelsize=8.5)
    axes.set_yticks([])
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "left", "right"]].set_visible(False)


@dataclass(frozen=True)
class HeatMap:
    """Margins of one agent (row) among copies of another (column); None where there is none.

    ``last``: a column of words with its heading.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    margins: Sequence[Sequence[Estimate | None]]
    last: tuple[str, Sequence[str]] | None = None

    @property
    def words(self) -> str:
        """What is to be seen, for who does not see it."""
        return f"{self.title} {', '.join(self.columns)}"

    def picture(self) -> Picture:
        """Blue: certainly above 0. Orange: certainly below. Grey: neither."""
        return Picture(self.title, repr(self), self._draw)

    def _draw(self) -> Figure:
        return heat_map(self.title, self.rows, self.columns, self.margins, self.last)
