"""The payoff matrix as a picture."""

from __future__ import annotations

from typing import BinaryIO

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from catbox_agents.arena.arena_result import ArenaResult

#: The longest name that is written out beside the picture.
_LONGEST = 28


def draw_matrix(result: ArenaResult, file: BinaryIO) -> None:
    """Write a PNG: one agent (row) among copies of another (column), red below 0 and blue above."""
    with matplotlib.rc_context({"text.parse_math": False}):  # a $ in a name is a $
        _draw(result, file)


def _draw(result: ArenaResult, file: BinaryIO) -> None:
    names = [name if len(name) <= _LONGEST else f"...{name[3 - _LONGEST :]}" for name in result.agents]
    n = len(names)
    means = np.array([[result.margin(one, other).mean for other in result.agents] for one in result.agents])
    largest = max(float(np.abs(means).max()), 1e-9)
    size = 1.1 * n
    figure = Figure(figsize=(size + 3.6, size + 2.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    image = axes.imshow(means, cmap="RdBu", vmin=-largest, vmax=largest)
    for i, one in enumerate(result.agents):
        for j, other in enumerate(result.agents):
            if i == j:
                text = "0"
            else:
                estimate = result.margin(one, other)
                text = f"{estimate.mean:+.2f}\n± {estimate.half_width:.2f}"
            dark = abs(means[i, j]) > 0.65 * largest
            axes.text(j, i, text, ha="center", va="center", color="white" if dark else "black", fontsize=9)
    axes.set_xticks(range(n), names, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n), names)
    axes.set_xlabel("among copies of")
    axes.set_ylabel("one agent")
    partial = " (partial)" if result.deals < result.deals_planned else ""
    axes.set_title(
        f"Margin a game, 95 % intervals\n{result.game}, {result.options['num_players']} players, "
        f"{result.deals:,} deals{partial}",
        fontsize=10,
    )
    figure.colorbar(image, ax=axes, shrink=0.8)
    figure.savefig(file, format="png", dpi=130)
