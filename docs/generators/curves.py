"""The learning curves of a study as one SVG: a column for each rule set, or one for all; up to four variants each."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catbox_agents.arena.plots import BLUE, GREEN, GREY, INK, PURPLE, VERMILION
from docs.generators.figures import Picture, as_saved
from experiments.results import RunResult, mean_of

#: Of the lines; for readers without the colours their styles differ too.
STYLES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))
#: Inches.
PANEL_WIDTH, PANEL_HEIGHT = 4.8, 3.4

#: variant -> its runs
Runs = Mapping[str, Sequence[RunResult]]
#: rule set -> variant -> seconds of a decision
Seconds = Mapping[str, Mapping[str, float]]


def picture(
    title: str,
    opponent: Mapping[str, str],
    by_rules: Mapping[str, Runs],
    seconds: Seconds,
    narrow: bool = False,
) -> Picture:
    """The curves of ``by_rules`` (rule set -> variant -> runs), each against the ``opponent`` of its rule set.

    ``seconds`` are those of a decision, by rule set and variant; without, there are no curves over time. ``narrow``: in
    one column, for phones.

    A line is the mean over the seeds, its band the 95 % interval over the seeds, or over the deals for a single seed;
    two seeds have no band, but a thin line each. What does not fit into the panel is clipped. The numbers are margins
    of the final evaluations. More than four variants are split into rows; the grey lines are those of other rows.
    """
    shown = [title]
    for rules, runs in by_rules.items():
        shown += [f"{rules} {name} {result.model_dump_json()}" for name in runs for result in runs[name]]
        shown += [opponent[rules], f"{seconds.get(rules)}"]
    return Picture(title, "\n".join(shown), as_saved(lambda: draw(opponent, by_rules, seconds, narrow)))


def draw(
    opponent: Mapping[str, str], by_rules: Mapping[str, Runs], seconds: Seconds, narrow: bool = False
) -> Figure:
    """The figure: for each part of the variants a row over decisions and, if known, a row over seconds."""
    variants = list(dict.fromkeys(name for runs in by_rules.values() for name in runs))
    rows = [
        (part, over_time)
        for part in _parts(variants, len(STYLES))
        for over_time in ((False, True) if seconds else (False,))
    ]
    # Unlike pyplot, Figure has no global state.
    grid = (len(by_rules), 1) if narrow else (1, len(by_rules))
    size = (PANEL_WIDTH * grid[1], PANEL_HEIGHT * grid[0] * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    columns = figure.subfigures(*grid, squeeze=False).flat
    for column, (rules, runs) in zip(columns, by_rules.items(), strict=True):
        panels = column.subplots(len(rows), squeeze=False, sharey=True).flat
        for axes, (part, over_time) in zip(panels, rows, strict=True):
            _panel(axes, runs, part, opponent[rules], seconds[rules] if over_time else None)
            axes.set_xlabel("seconds of playing and learning" if over_time else "million decisions")
            axes.set_ylabel(f"margin of one net among {opponent[rules]}")
            axes.set_ylim(_limits(runs, opponent[rules]))
        column.axes[0].set_title(rules)
    return figure


def _panel(
    axes: Axes, runs: Runs, part: Sequence[str], opponent: str, seconds: Mapping[str, float] | None
) -> None:
    """Draw a panel over the ``seconds`` of each variant's decisions; None: over decisions."""
    styles = dict(zip(part, STYLES, strict=False))
    for name, results in runs.items():
        points = _points(results, opponent)
        means, reaches = [mean for _, mean, _ in points], [reach for _, _, reach in points]
        x = [decisions * (1e-6 if seconds is None else seconds[name]) for decisions, _, _ in points]
        if name not in styles:
            axes.plot(x, means, color=GREY, linewidth=0.8, zorder=1)
            continue
        colour, style = styles[name]
        diverged = any(result.diverged for result in results)
        final = [match.margin for run in results for match in run.matches if match.agents[1] == opponent]
        label = (
            f"{name} (diverged)" if diverged else f"{name}: {mean_of(final)[0]:+.2f}".replace("-", "\u2212")
        )
        axes.plot(x, means, style, marker=".", color=colour, label=label, zorder=3)
        if len(results) == 2:
            for result in results:
                own = [margin for _, margin, _ in result.curves.get(opponent, [])]
                axes.plot(x[: len(own)], own, color=colour, alpha=0.4, linewidth=0.8, zorder=2)
            continue
        low, high = ([m + sign * r for m, r in zip(means, reaches, strict=True)] for sign in (-1, 1))
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, zorder=2)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.grid(alpha=0.3)
    if any(name in styles for name in runs):
        axes.legend(loc="lower right", fontsize=9, labelcolor=INK, borderpad=0.2, labelspacing=0.2)


def _limits(runs: Runs, opponent: str) -> tuple[float, float]:
    """The range of the margins after the first evaluation, which is of an untrained policy, plus a fifth, since
    intervals may be far wider."""
    means = [mean for results in runs.values() for _, mean, _ in _points(results, opponent)[1:]] or [0.0]
    around = max(0.1, (max(means) - min(means)) / 5)
    return min(means) - around, max(means) + around


def _points(results: Sequence[RunResult], opponent: str) -> list[tuple[float, float, float]]:
    """Decisions, mean margin, half width of its interval for each evaluation; over the runs that have it."""
    curves = [result.curves.get(opponent, []) for result in results]
    points = []
    for number in range(max(map(len, curves), default=0)):
        decisions, margins, reaches = zip(
            *(curve[number] for curve in curves if number < len(curve)), strict=True
        )
        mean, over_seeds = mean_of(margins)
        points.append((statistics.mean(decisions), mean, reaches[0] if over_seeds is None else over_seeds))
    return points


def _parts(names: Sequence[str], most: int) -> list[list[str]]:
    """``names`` in as few parts of at most ``most`` as possible, about equally long."""
    count = -(-len(names) // most)
    size = -(-len(names) // count)
    return [list(names[first : first + size]) for first in range(0, len(names), size)]
