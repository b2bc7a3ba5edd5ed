"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[object]]) -> str:
    """A table whose first row is its header, without a line break at its end; ``|`` in a cell is escaped."""
    header, *others = rows
    every = [header, ["---"] * len(header), *others]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in every)
