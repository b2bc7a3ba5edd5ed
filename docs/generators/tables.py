"""Tables of the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from catbox_agents.arena.report import markdown_table
from catbox_agents.arena.results import Estimate

#: What is called otherwise than in the rules of an agent's name.
_TABLES = {
    "0revealed": "no neutral tokens",
    "4x4": "2 players, 4 x 4 tiles",
    "full": "2 players, every kind of tile",
}


def table_in_words(rules: str) -> str:
    """What the rules of an agent of the zoo are called, without the game: "3 players, Laos"."""
    words = [re.sub(r"^(\d+)p$", r"\1 players", word) for word in rules.split("-")[1:]]
    return ", ".join(
        _TABLES.get(word) or re.sub(r"(?<=\d)(?=[a-z])", " ", word[:1].upper() + word[1:]) for word in words
    )


def printed(number: str | Estimate) -> str:
    """A number with its interval, or a name, as a table shows it: with a minus sign, and on one line."""
    return str(number).replace(" ", "\u00a0").replace("-", "\u2212")


def grouped_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that shows a first cell only in the first of the rows that share it."""
    above = [[""], *rows]
    return markdown_table(
        [["" if row[0] == last[0] else row[0], *row[1:]] for last, row in zip(above, rows, strict=False)]
    )


def wrapped(command: str) -> str:
    """``command`` on lines of at most 88 columns, broken before arguments and options: a loop indents them by two."""
    if len(command) <= 88:
        return command
    arguments, *options = re.split(r" (?=--)", command)
    first, *others = arguments.split(" ")
    lines = [first]
    for part in others + options:
        if len(lines[-1]) + len(part) + 3 > 88:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {part}"
    return "\n".join(lines)


def machines_in_words(machines: Iterable[str]) -> str:
    """Machines as the results name them, processor first; those with the same software share the words for it."""
    by_software: dict[str, list[str]] = {}
    for machine in sorted(set(machines)):
        processor, separator, software = machine.partition("; ")
        by_software.setdefault(separator + software, []).append(processor)
    return "; ".join(" and ".join(processors) + software for software, processors in by_software.items())
