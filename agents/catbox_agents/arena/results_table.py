"""Results of comparisons as tables for the terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table

from catbox_agents.arena.results import Result


def results_table(matches: list[Result], title: str) -> Table:
    """A section for each match, a row for each agent with the number of seats it held."""
    table = Table(
        title=title,
        caption="margin: own score minus the others', with its 95 % interval",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=0,  # the box leaves a space between columns; more would not fit into 80 characters
    )
    statistics = list(matches[0].standings[0].statistics) if matches else []
    # A long path takes more lines; numbers and headers are never cut.
    table.add_column("agent", overflow="fold")
    for column in ("score", "margin", "win_share", *statistics):
        table.add_column(column.replace("_", "\n"), justify="right", no_wrap=True)
    for match in matches:
        for standing in match.standings:
            table.add_row(
                f"{standing.seats} x {standing.name}",
                f"{standing.score:.2f}",
                f"{standing.margin:+.2f} ± {standing.margin_ci95:.2f}",
                f"{standing.win_share:.1%}",
                *(f"{standing.statistics[name]:.2f}" for name in statistics),
                end_section=standing is match.standings[-1],
            )
    return table
