"""The learning curves of a run as two pictures, drawn from its metrics: the three that matter, and all others."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catbox_agents.files import write_atomically

SPEED = "speed/decisions_per_second"
#: Inches of a panel in each picture.
LARGE, SMALL = (6.4, 4.4), (5.0, 3.2)
PANELS_IN_A_ROW = 3
#: Characters of a title that fit a panel.
LONGEST_TITLE = 48
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
    margins = tuple(name for name in names if name.startswith("evaluation/") and name.endswith("/margin"))
    of_game = tuple(f"game/{name}" for name in shares if f"game/{name}" in names)
    large: list[Panel] = []
    if margins:
        large.append(("Strength: margin of one policy among ...", margins))
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
    for file, panels, size in zip((path, details), panels_of(rows, shares), (LARGE, SMALL), strict=True):
        _draw(rows, panels, size, title, file)


def _draw(
    rows: list[dict[str, float]], panels: list[Panel], size: tuple[float, float], title: str, path: Path
) -> None:
    columns = PANELS_IN_A_ROW
    lines = max(1, -(-len(panels) // columns))
    # Unlike pyplot, it has no global state.
    figure = Figure(figsize=(size[0] * columns, size[1] * lines + 0.5), layout="constrained")
    figure.suptitle(title, fontsize=14, fontweight="bold", parse_math=False)
    for place, (words, metrics) in enumerate(panels, start=1):
        axes = figure.add_subplot(lines, columns, place)
        for name in metrics:
            _curve(axes, rows, name)
        shown = words if len(words) <= LONGEST_TITLE else f"{words[:LONGEST_TITLE]}..."
        axes.set_title(shown, parse_math=False)
        axes.set_xlabel("million decisions")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        if metrics[0].endswith("/margin"):
            axes.set_ylabel("points a game, 95 % interval")
            axes.axhline(0, color="grey", linewidth=0.8)
        if len(metrics) > 1 or metrics[0].endswith("/margin"):
            for text in axes.legend(frameon=False).get_texts():
                text.set_parse_math(False)
        if metrics == (SPEED,):
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    picture = io.BytesIO()
    figure.savefig(picture, dpi=100, format="png")
    write_atomically(path, picture.getvalue())


def _curve(axes: Axes, rows: list[dict[str, float]], name: str) -> None:
    points = [row for row in rows if name in row]
    x = np.array([row["decisions"] / 1e6 for row in points])
    y = np.array([row[name] for row in points])
    if name.endswith("/margin"):
        reach = [row[f"{name}_ci95"] for row in points]
        axes.errorbar(x, y, reach, label=_label(name), marker="o", markersize=4, capsize=3)
    elif len(points) < FEW_POINTS:
        axes.plot(x, y, label=_label(name), marker="o")
    else:
        (line,) = axes.plot(x, _smoothed(y), label=_label(name))
        axes.plot(x, y, color=line.get_color(), alpha=0.25, linewidth=0.6, zorder=1)


def _smoothed(values: np.ndarray) -> np.ndarray:
    """The mean of ``values`` (n,) around each of them, (n,)."""
    width = max(1, int(SMOOTHED * len(values)))
    sums = np.concatenate([[0.0], values.cumsum()])
    every = np.arange(len(values))
    low, high = np.maximum(0, every - width), np.minimum(len(values), every + width + 1)
    return np.asarray((sums[high] - sums[low]) / (high - low))


def _label(metric: str) -> str:
    """A metric in words; of a margin, the opponent."""
    kind, _, name = metric.partition("/")
    return name.removesuffix("/margin") if kind == "evaluation" else name.replace("_", " ")
