"""Tables for a terminal of any width. It needs the extra ``cli``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.containers import Lines
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from catbox_agents.arena.results import Result, heading

#: Characters of a cell that stay on one line. They hold every number with its interval; longer names may be folded.
_UNFOLDED = 16
#: The heads of other columns than the first that hold words: they are at the left.
_TEXTS = ("among", "role", "asks")


class _Cell(Text):
    """Text that is folded after a space, a colon or a comma, or else after another sign between words."""

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        lines = re.findall(
            rf".{{1,{width}}}(?:(?<=[\s:,])|$)|.{{1,{width}}}(?<=[=/_-])|.{{{width}}}", self.plain, re.DOTALL
        )
        return Text("\n".join(lines)).wrap(console, width, **options)


class TerminalTable(Table):
    """A table of which nothing is cut: where it is too wide, its columns are printed as several tables.

    Where it would be a little too wide, only the heads of numbers are folded between their words.

    ``keys``: so many of the first columns are in each of them. Texts are taken literally, without markup.
    """

    def __init__(self, *headers: str, keys: int = 1, **options: Any) -> None:
        super().__init__(*headers, **options)
        self.keys = keys

    def add_row(self, *cells: Any, **options: Any) -> None:
        """A row of ``cells``, as in the class above."""
        super().add_row(*(_Cell(cell) if isinstance(cell, str) else cell for cell in cells), **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for number, part in enumerate(self.parts(options.max_width)):
            if number and not self.show_edge:
                yield Text()
            title, caption, part.title, part.caption = part.title, part.caption, None, None
            if isinstance(title, str):  # as wide as the terminal, not as the table
                yield Text.from_markup(title, style="table.title")
            yield part
            if isinstance(caption, str):
                yield Text.from_markup(caption, style="table.caption")

    def parts(self, width: int) -> list[Table]:
        """As few tables as fit into ``width`` characters; the last resort is one for each of the other columns."""
        console = Console(width=width)
        unbounded = console.options.update(max_width=10_000)
        others = range(self.keys, len(self.columns))
        for number in range(1, max(1, len(others)) + 1):
            size = max(1, math.ceil(len(others) / number))
            starts = range(0, max(1, len(others)), size)
            parts = [self._part(others[k : k + size], folded=False) for k in starts]
            if all(console.measure(part, options=unbounded).maximum <= width for part in parts):
                break
            parts = [self._part(others[k : k + size], folded=True) for k in starts]
            if all(console.measure(part, options=unbounded).maximum <= width for part in parts):
                break
        for part in parts:
            for column in part.columns:
                column.max_width = None
        parts[0].title, caption = (
            escape(text) if isinstance(text, str) else text for text in (self.title, self.caption)
        )
        # An empty line stands for the edge that a table may lack.
        parts[-1].caption = f"\n{caption}" if isinstance(caption, str) and not self.show_edge else caption
        return parts

    def _part(self, others: Sequence[int], folded: bool) -> Table:
        """The key columns and ``others``, as wide as need be; the heads of numbers ``folded`` or in one line."""
        part = Table(box=self.box, padding=self.padding, pad_edge=self.pad_edge, show_edge=self.show_edge)
        part.title_justify = part.caption_justify = "left"
        columns = [self.columns[k] for k in (*range(self.keys), *others)]
        for column in columns:
            header = column.header
            if isinstance(header, str):
                is_folded = folded and column.justify == "right"
                header = Text(header.replace(" ", "\n") if is_folded else header)
            # A name is folded before a number is broken from its interval.
            part.add_column(
                header,
                justify=column.justify,
                overflow="fold",
                max_width=_UNFOLDED,
                no_wrap=_holds_numbers(column),
            )
        for row, cells in zip(
            self.rows, zip(*(column.cells for column in columns), strict=True), strict=True
        ):
            part.add_row(*cells, style=row.style, end_section=row.end_section)
        return part


def _holds_numbers(column: Column) -> bool:
    cells = [str(cell) for cell in column.cells]
    return any(cells) and all(len(cell) <= _UNFOLDED and not re.search(r"[^\W\d]{3}", cell) for cell in cells)


def terminal_table(
    rows: list[list[str]], keys: int = 1, title: str | None = None, caption: str | None = None
) -> TerminalTable:
    """``rows``, the first of which is the header, without lines between the columns. The first column holds names."""
    table = TerminalTable(keys=keys, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    table.title, table.caption = title, caption
    for number, name in enumerate(rows[0]):
        if number == 0 or name in _TEXTS:
            table.add_column(name)
        else:
            table.add_column(name, justify="right")
    for row in rows[1:]:
        table.add_row(*row)
    return table


def results_table(matches: Sequence[Result], title: str, shares: Mapping[str, str]) -> TerminalTable:
    """A section for each match, a row for each agent with the number of seats it held.

    ``shares``: the statistics that are shares, and of which rounds, as in `catbox_agents.features.GameFacts`.
    """
    statistics = list(matches[0].standings[0].statistics) if matches else []
    rows = [["agent", "score", "margin", "wins", *map(heading, statistics)]]
    for match in matches:
        for standing in match.standings:
            rows.append(
                [
                    f"{standing.seats} x {standing.name}",
                    f"{standing.score:.2f}",
                    f"{standing.margin:+.2f} ± {standing.margin_ci95:.2f}",
                    f"{standing.win_share:.1%}",
                    *(
                        f"{standing.statistics[name]:{'.0%' if name in shares else '.2f'}}"
                        for name in statistics
                    ),
                ]
            )
    caption = (
        "margin: own score minus the others', ± 95 % interval. "
        "Score and margin per game, wins of all games, the others per round."
    )
    explained = [f"{heading(name)} ({shares[name]})" for name in statistics if name in shares]
    if explained:
        caption += f"\nShares of rounds: {', '.join(explained)}."
    table = terminal_table(rows, title=title, caption=caption)
    ends = np.cumsum([len(match.standings) for match in matches])
    for end in ends:
        table.rows[end - 1].end_section = True
    return table
