"""Tables at the terminal: nothing is cut, however narrow it is."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from catbox_agents import evaluate
from catbox_agents.arena.terminal_tables import TerminalTable, results_table, terminal_table
from catbox_agents.features import facts
from tests.small_games import game_for

ROOT = Path(__file__).parents[2]
LONG = "search:worlds=2,opponent_model=heuristic"


def printed(table: Any, width: int) -> str:
    console = Console(width=width, file=StringIO())
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [40, 50, 60, 80, 200])
def test_every_name_and_every_number_of_a_comparison_is_shown_whole(width: int) -> None:
    result = evaluate(game_for(5), ["random", "random"], 10, names=["short", LONG])
    shares = facts(game_for(5)).shares
    shown = printed(results_table([result], "Title", shares), width)
    assert max(map(len, shown.splitlines())) <= width
    parts = len(re.findall(r"^agent ", shown, re.MULTILINE))
    assert (parts == 1) == (width >= 80)
    assert len(re.findall(r"\b1 x short\b", shown)) == len(re.findall(r"\b4 x\b", shown)) == parts
    for standing in result.standings:
        numbers = [
            f"{standing.margin:+.2f} ± {standing.margin_ci95:.2f}",
            f"{standing.win_share:.1%}",
            f"{standing.score:.2f}",
            *(
                f"{value:.0%}" if name in shares else f"{value:.2f}"
                for name, value in standing.statistics.items()
            ),
        ]
        for number in numbers:
            assert re.search(rf"(?<!\S){re.escape(number)}(?!\S)", shown), number


def test_a_long_cell_is_folded_and_brackets_are_no_markup() -> None:
    table = TerminalTable("name", "value", title="[a]", caption="[b]")
    table.add_row("[red]", "x" * 100)
    shown = printed(table, 40)
    assert shown.count("x") == 100
    assert all(word in shown for word in ("[a]", "[b]", "[red]"))


def test_a_long_name_is_folded_between_its_words() -> None:
    shown = printed(terminal_table([["agent", "value"], [f"1 x {LONG}", "+0.12 ± 0.34"]]), 30)
    folded = [line[:17].strip() for line in shown.splitlines()[-4:]]
    assert folded == ["1 x search:", "worlds=2,", "opponent_model=", "heuristic"]


def test_each_part_has_the_keys_and_the_order_of_the_columns_stays() -> None:
    table = terminal_table([["one", "two", *map(str, range(9))], ["a", "b", *["+0.12 ± 0.34"] * 9]], keys=2)
    headers = [[str(column.header) for column in part.columns] for part in table.parts(40)]
    assert [part[:2] for part in headers] == [["one", "two"]] * len(headers)
    assert [name for part in headers for name in part[2:]] == list(map(str, range(9)))


def test_no_other_tables_are_printed() -> None:
    """Those of rich cut what does not fit; a grid is laid out by hand."""
    for folder in ("agents", "app", "train"):
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            if "from rich.table import Table" in text and file.name != "terminal_tables.py":
                assert text.count("Table(") == text.count("TerminalTable("), file
