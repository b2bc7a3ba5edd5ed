"""Tables of the pages."""

from __future__ import annotations

from collections.abc import Sequence

from catbox_agents.arena.report import markdown_table


def grouped_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that shows a first cell only in the first of the rows that share it."""
    above = [[""], *rows]
    return markdown_table(
        [["" if row[0] == last[0] else row[0], *row[1:]] for last, row in zip(above, rows, strict=False)]
    )
