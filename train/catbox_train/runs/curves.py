"""The learning curves of a run as one picture, drawn from its metrics."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catbox_agents.files import write_atomically

#: Panels of metrics that every game and every run has: title -> metrics.
LEARNING_PANELS = {
    "Entropy (nats) and explained variance": ("learning/entropy", "learning/explained_variance"),
    "Step of the policy": ("learning/kl", "learning/clip_fraction"),
}

#: Inches.
PANEL_WIDTH, PANEL_HEIGHT = 5, 3.2
PANELS_IN_A_ROW = 3
#: Fewer points than these are marked, because the line between them says little.
FEW_POINTS = 30
#: Means over equal values differ by less, from rounding.
SMALLEST_CHANGE = 1e-6


def panels_of(rows: list[dict[str, float]]) -> dict[str, tuple[str, ...]]:
    """Title -> metrics of each panel. Metrics of the game that never change in self-play are left out: in many games
    the mean score, place and share of wins among equals are the same whatever is learned."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    panels: dict[str, tuple[str, ...]] = {}
    margins = tuple(name for name in names if name.startswith("evaluation/") and name.endswith("/margin"))
    if margins:
        panels["Margin of one policy among ..."] = margins
    for name in names:
        if name.startswith("game/") and name != "game/rounds":
            values = [row[name] for row in rows if name in row]
            if max(values) - min(values) > SMALLEST_CHANGE:
                panels[f"Self-play: {name.removeprefix('game/').replace('_', ' ')}"] = (name,)
    return panels | LEARNING_PANELS


def draw_learning_curves(rows: list[dict[str, float]], path: Path) -> None:
    """Draw the rows of ``metrics.jsonl`` as a PNG at ``path``: matches, the game in self-play, learning.

    The file is there whole or not at all. Raises ``WriteError``.
    """
    panels = panels_of(rows)
    columns = PANELS_IN_A_ROW
    lines = -(-len(panels) // columns)
    # Unlike pyplot, it has no global state.
    figure = Figure(figsize=(PANEL_WIDTH * columns, PANEL_HEIGHT * lines), layout="constrained")
    for place, (title, metrics) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(lines, columns, place)
        for name in metrics:
            _curve(axes, rows, name)
        axes.set_title(title)
        axes.set_xlabel("million decisions")
        axes.grid(alpha=0.3)
        if len(metrics) > 1 or name.endswith("/margin"):
            axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, dpi=100, format="png")
    write_atomically(path, picture.getvalue())


def _curve(axes: Axes, rows: list[dict[str, float]], name: str) -> None:
    points = [row for row in rows if name in row]
    x = [row["decisions"] / 1e6 for row in points]
    y = [row[name] for row in points]
    label = name.split("/")[1].replace("_", " ")
    axes.plot(x, y, label=label, marker="o" if len(points) < FEW_POINTS else None)
    if name.endswith("/margin"):
        reach = [row[f"{name}_ci95"] for row in points]
        low, high = ([a + sign * b for a, b in zip(y, reach, strict=True)] for sign in (-1, 1))
        axes.fill_between(x, low, high, alpha=0.2)
        axes.axhline(0, color="grey", linewidth=0.8)
