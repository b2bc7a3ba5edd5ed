"""The learning curves of a run as a picture, drawn from its metrics: strength, and what happens in the games."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from catbox_agents.arena.plots import LINES, SOFT, drawing
from catbox_agents.system.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Inches of a panel, and how many stand side by side: two fill a page.
PANEL, IN_A_ROW = (3.85, 3.4), 2
#: Inches of a line of the heading.
HEADING = 0.3
#: Inches that the name of a line takes, and the share of the width above or below which it stands.
NAME_HEIGHT, NAMED_SHARE = 0.3, 0.45
#: Characters of the heading's first line in an inch.
HEADING_CHARACTERS = 8.7
#: Fewer points than this are marked, because the line between them says little. More are smoothed over this share.
FEW_POINTS, SMOOTHED = 30, 0.03
#: Rounding makes means of a game's equal values differ by less.
SMALLEST_CHANGE = 1e-6

#: What opponents are called, if not as in the settings.
OPPONENTS = {"heuristic": "heuristics", "random": "random agents"}

#: The title of a panel, and the names of its metrics.
Panel = tuple[str, tuple[str, ...]]


class Line(NamedTuple):
    """Between what values the right end of a line is."""

    low: float
    high: float


def panels_of(rows: list[dict[str, float]], shares: tuple[str, ...] = ()) -> list[Panel]:
    """The panels of the picture: strength, and ``shares`` of the game: its statistics that are 0 or 1 for a seat.

    Shares that never change are left out: in many games the share of wins in self-play is the same whatever is learned.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    margins = tuple(filter(_is_margin, names))
    of_game = tuple(name for name in (f"game/{share}" for share in shares) if _changes(rows, name))
    panels = [("Strength: margin of one policy", margins), ("In self-play", of_game)]
    return [(title, metrics) for title, metrics in panels if metrics]


def _changes(rows: list[dict[str, float]], name: str) -> bool:
    values = [row[name] for row in rows if name in row]
    return bool(values) and max(values) - min(values) > SMALLEST_CHANGE


def finding(rows: list[dict[str, float]]) -> str:
    """What the last evaluation says: "After 10 million decisions: +0.84 ± 0.31 points among heuristics".

    The opponent is the last of `eval_opponents`. Without evaluations the text is empty.
    """
    margins = [name for row in rows for name in row if _is_margin(name)]
    if not margins:
        return ""
    last = next(row for row in reversed(rows) if margins[-1] in row)
    estimate = _in_words(last[margins[-1]], last[f"{margins[-1]}_ci95"])
    return f"After {_many(last['decisions'])} decisions: {estimate} points {_among(margins[-1])}"


def final_finding(deals: int, opponent: str, margin: float, reach: float) -> str:
    """What the final evaluation says: "On 1,000 deals at the end: +1.06 ± 0.13 points among heuristics"."""
    return f"On {deals:,} deals at the end: {_in_words(margin, reach)} points {_among(opponent)}"


def pace(rows: list[dict[str, float]]) -> str:
    """How long the updates took: "10 million decisions in 133 s (75,300 a second)"; empty without updates."""
    updates = [row for row in rows if "speed/decisions_per_second" in row]
    if not updates:
        return ""
    decisions = updates[-1]["decisions"]
    before = [0.0, *(row["decisions"] for row in updates)]
    seconds = sum(
        (row["decisions"] - start) / row["speed/decisions_per_second"]
        for start, row in zip(before, updates, strict=False)
    )
    return f"{_many(decisions)} decisions in {seconds:,.0f} s ({float(f'{decisions / seconds:.3g}'):,.0f} a second)"


def _many(count: float) -> str:
    return f"{count / 1e6:.3g} million" if count >= 1e6 else f"{count:,.0f}"


def _in_words(margin: float, reach: float) -> str:
    return f"{margin:+.2f}\u00a0±\u00a0{reach:.2f}".replace("-", "\u2212")


def draw_learning_curves(
    rows: list[dict[str, float]], path: Path, about: str, shares: tuple[str, ...] = (), final: str = ""
) -> None:
    """Draw the rows of ``metrics.jsonl`` as PNG at ``path``, written atomically. Raises ``WriteError``.

    ``about``: which run it is. ``final``: its `final_finding`; without, the heading is the `finding` of the rows.
    """
    with drawing():
        picture = io.BytesIO()
        learning_figure(rows, about, shares, final=final).savefig(picture, dpi=140, format="png")
    write_atomically(path, picture.getvalue())


def learning_figure(
    rows: list[dict[str, float]],
    about: str,
    shares: tuple[str, ...],
    columns: int = IN_A_ROW,
    final: str = "",
) -> Figure:
    """Strength and ``shares`` of the game, at most ``columns`` side by side.

    Above stand ``final`` or else the `finding` in bold, ``about``, which run it is, and the `pace`.
    """
    from matplotlib.figure import Figure  # `drawing` imports matplotlib
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = panels_of(rows, shares)
    columns = min(max(1, len(panels)), columns)
    lines = max(1, -(-len(panels) // columns))
    fitting = int(HEADING_CHARACTERS * PANEL[0] * columns)
    heading = textwrap.wrap(final or finding(rows), fitting)
    below = [line for words in (about, pace(rows)) for line in textwrap.wrap(words, int(1.25 * fitting))]
    above = HEADING * len(heading + below) + 0.1
    width, height = PANEL[0] * columns, PANEL[1] * lines + above
    layout = ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - above / height), w_pad=0.12)
    figure = Figure(figsize=(width, height), layout=layout)  # unlike pyplot, it has no global state
    for number, words in enumerate(heading + below):
        bold = number < len(heading)
        font: dict[str, Any] = (
            {"fontsize": 14, "fontweight": "bold"} if bold else {"color": SOFT, "fontsize": 11.5}
        )
        figure.text(0.1 / width, 1 - (HEADING * (number + 0.5) + 0.1) / height, words, va="center", **font)
    grid = figure.add_gridspec(lines, columns)
    for place, (words, metrics) in enumerate(panels):
        axes = figure.add_subplot(grid[divmod(place, columns)])
        _panel(axes, rows, metrics)
        axes.set_title(words, loc="left", fontsize=12.5)
    return figure


def _panel(axes: Axes, rows: list[dict[str, float]], metrics: tuple[str, ...]) -> None:
    from matplotlib.ticker import MaxNLocator  # as above

    lines = {name: _curve(axes, rows, name, LINES[n % len(LINES)]) for n, name in enumerate(metrics)}
    axes.set_xlabel("decisions (millions)")
    axes.set_xlim(0, max(row["decisions"] for row in rows) / 1e6)
    axes.grid()
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    axes.spines[["top", "right"]].set_visible(False)
    if _is_margin(metrics[0]):
        axes.set_ylabel("points per game, 95 % interval")
        axes.axhline(0, color=SOFT, linewidth=0.8)
    else:
        axes.set_ylabel("share of rounds")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    _name_lines(axes, lines)


def _name_lines(axes: Axes, lines: dict[str, Line]) -> None:
    """Write the name of each line above its right end, or below, where another line is too close above."""
    low, high = axes.get_ylim()
    inches = NAME_HEIGHT / PANEL[1] * (high - low)
    axes.set_ylim(low, high + inches)
    order = sorted(lines, key=lambda name: lines[name].low)
    for name, above in zip(order, [*order[1:], None], strict=True):
        line = lines[name]
        is_free = above is None or lines[above].low - line.high > 1.5 * inches
        place, side = (line.high, "bottom") if is_free else (line.low, "top")
        colour = LINES[list(lines).index(name) % len(LINES)]
        words = _among(name) if _is_margin(name) else _label(name)
        axes.annotate(
            words,
            (1, place),
            (-2, 3 if is_free else -3),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            color=colour,
            ha="right",
            va=side,
        )


def _curve(axes: Axes, rows: list[dict[str, float]], name: str, colour: str) -> Line:
    """Draw one metric; returns between what values its right end is."""
    points = [row for row in rows if name in row]
    x = np.array([row["decisions"] / 1e6 for row in points])
    y = np.array([row[name] for row in points])
    reach = np.zeros(len(points))
    if _is_margin(name):
        reach = np.array([row[f"{name}_ci95"] for row in points])
        axes.errorbar(x, y, reach, color=colour, marker="o", markersize=4, capsize=3, clip_on=False)
    elif len(points) < FEW_POINTS:
        axes.plot(x, y, color=colour, marker="o")
    else:
        axes.plot(x, y, color=colour, alpha=0.25, linewidth=0.6)
        reach = np.abs(y - _smoothed(y))
        y = _smoothed(y)
        axes.plot(x, y, color=colour)
    end = x >= (1 - NAMED_SHARE) * x[-1]
    return Line(float((y - reach)[end].min()), float((y + reach)[end].max()))


def _smoothed(values: np.ndarray) -> np.ndarray:
    """The mean of ``values`` (n,) around each of them, (n,)."""
    width = max(1, int(SMOOTHED * len(values)))
    sums = np.concatenate([[0.0], values.cumsum()])
    every = np.arange(len(values))
    low, high = np.maximum(0, every - width), np.minimum(len(values), every + width + 1)
    return np.asarray((sums[high] - sums[low]) / (high - low))


def _is_margin(metric: str) -> bool:
    return metric.startswith("evaluation/") and metric.endswith("/margin")


def _among(margin: str) -> str:
    """Among whom the policy has the ``margin``, a metric or the opponent: "among heuristics"."""
    opponent = margin.removeprefix("evaluation/").removesuffix("/margin")
    return f"among {OPPONENTS.get(opponent, opponent)}"


def _label(metric: str) -> str:
    """A metric in words."""
    return metric.partition("/")[2].replace("_", " ")
