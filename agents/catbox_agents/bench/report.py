"""What submissions look like: the card of one, and the leaderboard of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catbox_agents.arena.plots import heat_map, style
from catbox_agents.arena.report import markdown_table
from catbox_agents.arena.results import Estimate
from catbox_agents.bench.scenarios import VISITOR, Scenario, suite
from catbox_agents.bench.verify import read_submission

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The picture of a card.
CARD_FILE = "card.svg"


def card_rows(submission: Mapping[str, Any]) -> list[list[str]]:
    """A table with its header: a row for each opponent and role, a column for the score at each table."""
    scenarios = suite(submission["suite"], quick=submission["quick"]).scenarios
    tables = list(dict.fromkeys(scenario.table.name for scenario in scenarios))
    results = {result["name"]: result for result in submission["scenarios"]}
    cells = {
        (row_of(scenario), scenario.table.name): score_in_words(results[scenario.name])
        for scenario in scenarios
    }
    rows = list(dict.fromkeys(row for row, _ in cells))
    return [["", *tables], *([row, *(cells.get((row, table), "") for table in tables)] for row in rows)]


def draw_card(submission: Mapping[str, Any]) -> Figure:
    """The card as a heat map of the scores. It needs matplotlib."""
    import matplotlib as mpl  # slow, and in the extra arena

    scenarios = suite(submission["suite"], quick=submission["quick"]).scenarios
    tables = list(dict.fromkeys(scenario.table.name for scenario in scenarios))
    rows = list(dict.fromkeys(map(row_of, scenarios)))
    results = {result["name"]: result for result in submission["scenarios"]}
    cells: list[list[Estimate | None]] = [[None] * len(tables) for _ in rows]
    for scenario in scenarios:
        result = results[scenario.name]
        if "error" not in result:
            score, ci95 = result["score"], result["ci95"]
            place = rows.index(row_of(scenario)), tables.index(scenario.table.name)
            cells[place[0]][place[1]] = Estimate(score, score - ci95, score + ci95)
    with mpl.rc_context(style()):
        return heat_map(
            f"{submission['agent']['name']}: {total_in_words(submission)}",
            rows,
            tables,
            cells,
            decimals=0,
            about=("0: as much as the heuristic earns in the same seats;", "100: a standard deviation more"),
        )


def row_of(scenario: Scenario) -> str:
    """The name of a scenario without its table."""
    among = f"among {scenario.opponent}" if scenario.role == VISITOR else f"with one {scenario.opponent}"
    return among.replace("-", " ")


def score_in_words(result: Mapping[str, Any]) -> str:
    """The score of a scenario with its interval."""
    return "error" if "error" in result else f"{result['score']:+.0f} ± {result['ci95']:.0f}"


def total_in_words(submission: Mapping[str, Any]) -> str:
    """The total score with its interval, and whether it is one to compare."""
    score = submission["score"]
    words = (
        "no score, because of an error" if score is None else f"{score['mean']:+.1f} ± {score['ci95']:.1f}"
    )
    return f"{words}, a tenth of the deals" if submission["quick"] else words


def leaderboard(folders: Sequence[str | Path]) -> list[dict[str, Any]]:
    """A row for each submission, by suite and score: what it is, its score, and what it declares.

    Raises ``ValueError`` and ``OSError`` for a folder without a submission.
    """
    rows = []
    for folder in folders:
        submission = read_submission(Path(folder))
        score = submission["score"] or {}
        rows.append(
            {
                "suite": submission["suite"],
                "agent": submission["agent"]["name"],
                "score": score.get("mean"),
                "ci95": score.get("ci95"),
                "worst": score.get("worst"),
                "worst_score": score.get("worst_score"),
                "ranked": submission["private"] is not None,
                "quick": submission["quick"],
                **submission["declared"],
                "catbox": submission["catbox"],
                "folder": str(folder),
            }
        )
    return sorted(rows, key=lambda row: (row["suite"], row["score"] is None, -(row["score"] or 0)))


def leaderboard_tables(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[list[str]]]:
    """The rows of `leaderboard` as a table of text for each suite, with its header."""
    tables: dict[str, list[list[str]]] = {}
    for row in rows:
        header = ["agent", "score", "worst", "track", "decisions", "ranked"]
        table = tables.setdefault(row["suite"], [header])
        if row["score"] is None:
            score, worst = "error", ""
        else:
            score = f"{row['score']:+.1f} ± {row['ci95']:.1f}"
            worst = f"{row['worst_score']:+.0f}"
        table.append(
            [
                row["agent"],
                score + (" (quick)" if row["quick"] else ""),
                worst,
                row["track"],
                "" if row["decisions"] is None else f"{row['decisions']:,}",
                "yes" if row["ranked"] else "",
            ]
        )
    return tables


def leaderboard_page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The leaderboard in Markdown."""
    parts = []
    for name, table in leaderboard_tables(rows).items():
        parts.append(f"## {name}\n\n{markdown_table(table)}\n")
    return "\n".join(parts)
