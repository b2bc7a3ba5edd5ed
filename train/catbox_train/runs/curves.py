"""The learning curves of a run as two pictures, drawn from its metrics: the three that matter, and all others."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catbox_agents.files import write_atomically
from catbox_agents.plots import LINES, SOFT, style

SPEED = "speed/decisions_per_second"
#: Inches of a panel in each picture.
LARGE, SMALL = (4.4, 3.4), (4.0, 2.7)
PANELS_IN_A_ROW = 3
#: The width of the panel of the speed, which says more of the machine than of the run, as a share of another panel's.
SPEED_WIDTH = 0.6
#: Inches between the names of two lines, in a large panel.
NAME_HEIGHT = 0.21
#: Characters of a title that fit a panel.
LONGEST_TITLE = 40
#: Fewer points than this are marked, because the line between them says little. More are smoothed over this share.
FEW_POINTS, SMOOTHED = 30, 0.03
#: Rounding makes means of a game's equal values differ by less.
SMALLEST_CHANGE = 1e-6

#: The title of a panel, and the names of its metrics.
Panel = tuple[str, tuple[str, ...]]


def panels_of(rows: list[dict[str, float]], shares: tuple[str, ...] = ()) -> tuple[list[Panel], list[Panel]]:
    """The panels of the two pictures: strength, ``shares`` of the game and speed; and every other metric.

    ``shares``: the game's statistics that are 0 or 1 for a seat. Metrics that never change are left out, also those of
    the game: in many games the mean score, place and share of wins in self-play are the same whatever is learned.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    margins = tuple(filter(_is_margin, names))
    of_game = tuple(
        f"game/{name}" for name in shares if f"game/{name}" in names and _changes(rows, f"game/{name}")
    )
    large: list[Panel] = []
    if margins:
        large.append(("Strength: margin of one policy", margins))
    if of_game:
        large.append(("Self-play: share of rounds", of_game))
    if SPEED in names:
        large.append(("Speed: decisions a second", (SPEED,)))
    small: list[Panel] = []
    for prefix, title in (("game/", "Self-play"), ("learning/", "Learning")):
        for name in names:
            if name.startswith(prefix) and name not in ("game/rounds", *of_game) and _changes(rows, name):
                small.append((f"{title}: {_label(name)}", (name,)))
    return large, small


def _changes(rows: list[dict[str, float]], name: str) -> bool:
    values = [row[name] for row in rows if name in row]
    change = max(values) - min(values)
    if name.startswith("game/"):
        return change > SMALLEST_CHANGE
    return change > 0 or len(values) == 1


def draw_learning_curves(
    rows: list[dict[str, float]], path: Path, details: Path, title: str, shares: tuple[str, ...] = ()
) -> None:
    """Draw the rows of ``metrics.jsonl`` as PNG: strength, ``shares`` and speed at ``path``, the rest at ``details``.

    ``title``: of the run. The files are written atomically. Raises ``WriteError``.
    """
    of_game = frozenset(f"game/{name}" for name in shares)
    for file, panels, size in zip((path, details), panels_of(rows, shares), (LARGE, SMALL), strict=True):
        _draw(rows, panels, size, title, of_game, file)


def _draw(
    rows: list[dict[str, float]],
    panels: list[Panel],
    size: tuple[float, float],
    title: str,
    shares: frozenset[str],
    path: Path,
) -> None:
    widths = [SPEED_WIDTH if metrics == (SPEED,) else 1.0 for _, metrics in panels[:PANELS_IN_A_ROW]] or [1.0]
    lines = max(1, -(-len(panels) // PANELS_IN_A_ROW))
    with matplotlib.rc_context(style()):
        # Unlike pyplot, it has no global state.
        figure = Figure(figsize=(size[0] * sum(widths), size[1] * lines + 0.5), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold")
        grid = figure.add_gridspec(lines, len(widths), width_ratios=widths)
        for place, (words, metrics) in enumerate(panels):
            axes = figure.add_subplot(grid[divmod(place, len(widths))])
            _panel(axes, rows, metrics, shares)
            shown = words if len(words) <= LONGEST_TITLE else f"{words[:LONGEST_TITLE]}..."
            axes.set_title(shown, loc="left", fontsize=11)
        picture = io.BytesIO()
        figure.savefig(picture, dpi=140, format="png")
    write_atomically(path, picture.getvalue())


def _panel(
    axes: Axes, rows: list[dict[str, float]], metrics: tuple[str, ...], shares: frozenset[str]
) -> None:
    ends = {name: _curve(axes, rows, name, LINES[n % len(LINES)]) for n, name in enumerate(metrics)}
    axes.set_xlabel("million decisions")
    axes.set_xlim(0, max(row["decisions"] for row in rows) / 1e6)
    axes.grid()
    axes.spines[["top", "right"]].set_visible(False)
    if _is_margin(metrics[0]):
        axes.set_ylabel("points a game, 95 % interval")
        axes.axhline(0, color=SOFT, linewidth=0.8)
    elif metrics[0] in shares:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    elif metrics == (SPEED,):
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if len(metrics) > 1 or _is_margin(metrics[0]) or metrics[0] in shares:
        _name_lines(axes, ends)


def _name_lines(axes: Axes, ends: dict[str, float]) -> None:
    """Write the name of each line where it ends: ``ends``, metric -> value; names that are too close move apart."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    least = NAME_HEIGHT / LARGE[1] * (high - low)
    order = sorted(ends, key=ends.__getitem__)
    places = [ends[name] for name in order]
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + least)
    over = max(0.0, places[-1] - high)
    places = [place - over for place in places]
    for name, place in zip(order, places, strict=True):
        colour = LINES[list(ends).index(name) % len(LINES)]
        words = f"among {_label(name)}" if _is_margin(name) else _label(name)
        axes.text(1.04, place, words, transform=axes.get_yaxis_transform(), color=colour, va="center")


def _curve(axes: Axes, rows: list[dict[str, float]], name: str, colour: str) -> float:
    """Draw one metric; returns where its line ends."""
    points = [row for row in rows if name in row]
    x = np.array([row["decisions"] / 1e6 for row in points])
    y = np.array([row[name] for row in points])
    if _is_margin(name):
        reach = [row[f"{name}_ci95"] for row in points]
        axes.errorbar(x, y, reach, color=colour, marker="o", markersize=4, capsize=3, clip_on=False)
    elif len(points) < FEW_POINTS:
        axes.plot(x, y, color=colour, marker="o")
    else:
        axes.plot(x, y, color=colour, alpha=0.25, linewidth=0.6)
        y = _smoothed(y)
        axes.plot(x, y, color=colour)
    return float(y[-1])


def _smoothed(values: np.ndarray) -> np.ndarray:
    """The mean of ``values`` (n,) around each of them, (n,)."""
    width = max(1, int(SMOOTHED * len(values)))
    sums = np.concatenate([[0.0], values.cumsum()])
    every = np.arange(len(values))
    low, high = np.maximum(0, every - width), np.minimum(len(values), every + width + 1)
    return np.asarray((sums[high] - sums[low]) / (high - low))


def _is_margin(metric: str) -> bool:
    return metric.startswith("evaluation/") and metric.endswith("/margin")


def _label(metric: str) -> str:
    """A metric in words; of a margin, the opponent."""
    kind, _, name = metric.partition("/")
    return name.removesuffix("/margin") if kind == "evaluation" else name.replace("_", " ")
