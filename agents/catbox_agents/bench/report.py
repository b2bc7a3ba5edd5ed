"""What submissions look like: the card of one, and the leaderboard of several."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from catbox_agents.arena.plots import drawing, heat_map
from catbox_agents.arena.report import markdown_table
from catbox_agents.arena.results import Estimate, mean_and_half_width
from catbox_agents.bench.run import DECIMALS, MIN_SEEDS, MOST_DECISIONS, current_hash
from catbox_agents.bench.scenarios import VISITOR, Scenario, suite
from catbox_agents.bench.verify import read_submission

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The picture of a card.
CARD_FILE = "card.svg"
#: What a reader is told instead of names that are short.
_IN_FULL = {
    "variant-1": "heuristic variant 1",
    "variant-2": "heuristic variant 2",
    "second": "the 2nd edition",
    "third": "the 3rd edition",
}
#: The row of a card above its scenarios.
_MEAN = "mean"


def card_rows(submission: Mapping[str, Any]) -> list[list[str]]:
    """A table with its header: a row for each opponent and role, a column for the score at each table."""
    rows, tables, cells = _cells(submission)
    return [
        ["", *tables],
        *(
            [row, *(score_in_words(cells[row, table]) if (row, table) in cells else "" for table in tables)]
            for row in rows
        ),
    ]


def draw_card(submission: Mapping[str, Any]) -> Figure:
    """The card as a heat map of the scores. It needs matplotlib."""
    rows, tables, cells = _cells(submission)

    def estimate(mean: float | None, half: float) -> Estimate | None:
        return None if mean is None else Estimate(mean, mean - half, mean + half)

    def of_scenario(row: str, table: str) -> Estimate | None:
        result = cells.get((row, table), {})
        return estimate(result.get("score"), result.get("ci95", 0.0))

    means = [submission["tables"][table] or {"mean": None, "ci95": 0.0} for table in tables]
    scores = [[of_scenario(row, table) for table in tables] for row in rows]
    with drawing():
        return heat_map(
            f"{submission['agent']['name']}: {total_in_words(submission)}",
            [_MEAN, *rows],
            [name.removeprefix(f"{submission['suite']}-") for name in tables],
            [[estimate(one["mean"], one["ci95"]) for one in means], *scores],
            decimals=0,
            about=("0: as much as the heuristic earns in the same seats;", "100: a standard deviation more"),
        )


def _cells(
    submission: Mapping[str, Any],
) -> tuple[list[str], list[str], dict[tuple[str, str], Mapping[str, Any]]]:
    """The rows and the tables of a card, and the results by both."""
    played = suite(submission["suite"], quick=submission["quick"]).scenarios
    results = {result["name"]: result for result in submission["scenarios"]}
    cells = {(row_of(each), each.table.name): results[each.name] for each in played if each.name in results}
    rows, tables = (list(dict.fromkeys(key[k] for key in cells)) for k in range(2))
    return rows, tables, cells


def row_of(scenario: Scenario) -> str:
    """The name of a scenario without its table."""
    opponent = opponent_in_full(scenario)
    return f"among {opponent}" if scenario.role == VISITOR else f"with one {opponent}"


def opponent_in_full(scenario: Scenario) -> str:
    """The name of the opponent in words."""
    return _IN_FULL.get(scenario.opponent, scenario.opponent.replace("-", " "))


def score_in_words(result: Mapping[str, Any]) -> str:
    """The score of a scenario with its interval."""
    return "error" if "error" in result else _rounded(f"{result['score']:+.0f} ± {result['ci95']:.0f}")


def total_in_words(submission: Mapping[str, Any]) -> str:
    """The score of the suite with its interval, why there is none, and whether it is of a tenth of the deals."""
    if submission["score"] is not None:
        words = _in_words(submission["score"], 1)
    elif any("error" in result for result in submission["scenarios"]):
        words = "no score, because of an error"
    else:
        words = "scores of single tables"
    return f"{words}, a tenth of the deals" if submission["quick"] else words


def leaderboard(folders: Sequence[str | Path], ranked: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A row for each agent, by suite and score. Submissions of the same name and track are seeds of one learner.

    A row has the ``score`` and those of the ``tables``, each a mean with half its 95 % interval: over the seeds, if
    there are several, else over the deals; None where a submission has none. It is ``ranked`` if the hash of its
    private seed is one of ``ranked``, and ``outdated`` if a scenario has another hash with this version of catbox.
    Nothing is verified. Raises ``ValueError`` for two submissions of one agent in a row, and as `read_submission`.
    """
    groups: dict[tuple[Any, ...], list[tuple[str, dict[str, Any]]]] = {}
    for folder in folders:
        submission = read_submission(Path(folder))
        key = (
            submission["suite"],
            submission["agent"]["name"],
            submission["declared"]["track"],
            submission["quick"],
            submission["private"],
        )
        groups.setdefault(key, []).append((str(folder), submission))
    rows = []
    for (suite_name, agent, track, quick, private), group in groups.items():
        submissions = [submission for _, submission in group]
        tables = dict.fromkeys(table for submission in submissions for table in submission["tables"])
        _check_different(group)
        hashes = current_hashes(suite_name, quick) if private is None else {}
        results = [result for each in submissions for result in each["scenarios"]]
        rows.append(
            {
                "suite": suite_name,
                "agent": agent,
                "seeds": len(group),
                "score": _over_seeds([each["score"] for each in submissions]),
                "worst": _worst(submissions),
                "tables": {
                    table: _over_seeds([each["tables"].get(table) for each in submissions])
                    for table in tables
                },
                "track": track,
                "decisions": max(each["declared"]["decisions"] or 0 for each in submissions) or None,
                "ranked": private in ranked,
                "quick": quick,
                "outdated": any(
                    result.get("hash", "") != hashes.get(result["name"], result.get("hash", ""))
                    for result in results
                ),
                "catbox": sorted({each["catbox"] for each in submissions}),
                "folders": [folder for folder, _ in group],
            }
        )

    def place(row: Mapping[str, Any]) -> tuple[str, bool, float]:
        known = [one["mean"] for one in row["tables"].values() if one]
        mean = row["score"]["mean"] if row["score"] else sum(known) / max(1, len(known))
        return row["suite"], row["score"] is None, -mean

    return sorted(rows, key=place)


@cache
def current_hashes(suite_name: str, quick: bool) -> dict[str, str]:
    """The hash of each scenario with this version of catbox."""
    return {scenario.name: current_hash(scenario) for scenario in suite(suite_name, quick=quick).scenarios}


def _check_different(group: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Raise ``ValueError`` if two submissions of a row are of the same agent, or declare the same seed."""
    folders: dict[str, str] = {}
    for folder, submission in group:
        seed = submission["declared"]["seed"]
        same = [f"agent {json.dumps(submission['agent']['fingerprints'], sort_keys=True)}"]
        same += [] if seed is None else [f"seed {seed}"]
        for one in same:
            if one in folders:
                what = one.partition(" ")[0]
                raise ValueError(
                    f"{folder} and {folders[one]} are of the same {what}: leave one out, or name them apart"
                )
            folders[one] = folder


def _worst(submissions: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The scenario with the lowest score, on average over the seeds; None if one has no score."""
    found: dict[str, list[float]] = {}
    for submission in submissions:
        if submission["score"] is None:
            return None
        for result in submission["scenarios"]:
            found.setdefault(result["name"], []).append(result["score"])
    name = min(found, key=lambda each: sum(found[each]) / len(found[each]))
    return {"scenario": name, "score": round(sum(found[name]) / len(found[name]), DECIMALS)}


def _over_seeds(scores: Sequence[Mapping[str, float] | None]) -> dict[str, float] | None:
    """The mean of the scores of seeds, with half its 95 % interval; None if one has none."""
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return None
    if len(known) == 1:
        return {"mean": known[0]["mean"], "ci95": known[0]["ci95"]}
    mean, ci95 = mean_and_half_width(np.array([score["mean"] for score in known]))
    return {"mean": round(float(mean), DECIMALS), "ci95": round(float(ci95), DECIMALS)}


def leaderboard_tables(
    rows: Sequence[Mapping[str, Any]], declared: bool = True
) -> dict[str, list[list[str]]]:
    """The rows of `leaderboard` as a table of text for each suite, with its header.

    ``declared``: with what they declare about themselves.
    """
    tables: dict[str, list[list[str]]] = {}
    for suite_name in dict.fromkeys(row["suite"] for row in rows):
        own = [row for row in rows if row["suite"] == suite_name]
        names = [table.name for table in suite(suite_name).tables]
        short = [name.removeprefix(f"{suite_name}-") for name in names]
        tables[suite_name] = [["agent", "all", *short, "worst", *(["track"] if declared else [])]]
        for row in own:
            few = row["track"] in MOST_DECISIONS and row["seeds"] < MIN_SEEDS
            seeds = f", {row['seeds']} seeds" if row["seeds"] > 1 else ""
            seeds = f", {row['seeds']} of {MIN_SEEDS} seeds" if few else seeds
            decisions = "" if row["decisions"] is None else f", {row['decisions']:,} decisions"
            notes = [word for word in ("quick", "ranked", "outdated") if row[word]]
            tables[suite_name].append(
                [
                    " ".join([f"{row['agent']}{seeds}", *(f"({note})" for note in notes)]),
                    _in_words(row["score"], 1),
                    *(_in_words(row["tables"].get(name)) for name in names),
                    "" if row["worst"] is None else _rounded(f"{row['worst']['score']:+.0f}"),
                    *([f"{row['track']}{decisions}"] if declared else []),
                ]
            )
    return tables


def _in_words(score: Mapping[str, float] | None, decimals: int = 0) -> str:
    return "" if score is None else _rounded(f"{score['mean']:+.{decimals}f} ± {score['ci95']:.{decimals}f}")


def _rounded(number: str) -> str:
    """``number``, or "0" if all of it is zero."""
    return number if number.strip("+-0. ±") else "0"


def leaderboard_page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The leaderboard in Markdown."""
    return "\n".join(
        f"## {name}\n\n{markdown_table([[html.escape(cell) for cell in row] for row in table])}\n"
        for name, table in leaderboard_tables(rows).items()
    )
