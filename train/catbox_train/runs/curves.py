"""The learning curves of a run as one picture, drawn from its metrics."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catbox_agents.files import write_atomically

SPEED = "speed/decisions_per_second"
#: Inches.
PANEL_WIDTH, PANEL_HEIGHT = 5, 3.2
PANELS_IN_A_ROW = 3
#: Characters of a title that fit a panel.
LONGEST_TITLE = 48
#: Fewer points than this are marked, because the line between them says little.
FEW_POINTS = 30
#: Rounding makes means of a game's equal values differ by less.
SMALLEST_CHANGE = 1e-6


def panels_of(rows: list[dict[str, float]]) -> list[tuple[str, tuple[str, ...]]]:
    """Title and metrics of each panel: the matches, the game in self-play, the algorithm's metrics, and the speed.

    Metrics that never change are left out, also those of the game: in many games the mean score, place and share of
    wins in self-play are the same whatever is learned.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    panels: list[tuple[str, tuple[str, ...]]] = []
    margins = tuple(name for name in names if name.startswith("evaluation/") and name.endswith("/margin"))
    if margins:
        panels.append(("Margin of one policy among ...", margins))
    for prefix, title in (("game/", "Self-play"), ("learning/", "Learning")):
        for name in names:
            if name.startswith(prefix) and name != "game/rounds" and _changes(rows, name):
                panels.append((f"{title}: {_label(name)}", (name,)))
    if SPEED in names:
        panels.append(("Decisions a second", (SPEED,)))
    return panels


def _changes(rows: list[dict[str, float]], name: str) -> bool:
    values = [row[name] for row in rows if name in row]
    change = max(values) - min(values)
    if name.startswith("game/"):
        return change > SMALLEST_CHANGE
    return change > 0 or len(values) == 1


def draw_learning_curves(rows: list[dict[str, float]], path: Path) -> None:
    """Draw the rows of ``metrics.jsonl`` as a PNG at ``path``: matches, the game in self-play, learning.

    The file is written atomically. Raises ``WriteError``.
    """
    panels = panels_of(rows)
    columns = PANELS_IN_A_ROW
    lines = max(1, -(-len(panels) // columns))
    # Unlike pyplot, it has no global state.
    figure = Figure(figsize=(PANEL_WIDTH * columns, PANEL_HEIGHT * lines), layout="constrained")
    for place, (title, metrics) in enumerate(panels, start=1):
        axes = figure.add_subplot(lines, columns, place)
        for name in metrics:
            _curve(axes, rows, name)
        shown = title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]}..."
        axes.set_title(shown, parse_math=False)
        axes.set_xlabel("million decisions")
        axes.grid(alpha=0.3)
        if name.endswith("/margin"):
            axes.set_ylabel("points a game")
            for text in axes.legend().get_texts():
                text.set_parse_math(False)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=100, format="png")
    write_atomically(path, picture.getvalue())


def _curve(axes: Axes, rows: list[dict[str, float]], name: str) -> None:
    points = [row for row in rows if name in row]
    x = [row["decisions"] / 1e6 for row in points]
    y = [row[name] for row in points]
    axes.plot(x, y, label=_label(name), marker="o" if len(points) < FEW_POINTS else None)
    if name.endswith("/margin"):
        reach = [row[f"{name}_ci95"] for row in points]
        low, high = ([a + sign * b for a, b in zip(y, reach, strict=True)] for sign in (-1, 1))
        axes.fill_between(x, low, high, alpha=0.2)
        axes.axhline(0, color="grey", linewidth=0.8)


def _label(metric: str) -> str:
    """A metric in words; of a margin, the opponent."""
    kind, _, name = metric.partition("/")
    return name.removesuffix("/margin") if kind == "evaluation" else name.replace("_", " ")
