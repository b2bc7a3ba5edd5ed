"""Nets of a study in tables of every kind, beside the heuristic."""

from __future__ import annotations

import re
from typing import Any

import pytest

from catbox_agents import evaluate
from catbox_env import make_game
from docs.generators.studies import fields_table
from experiments.fields import FIRST_SEED, FieldResult, read_fields
from tests.experiments.small_studies import Workplace

FIELDS: dict[str, Any] = {
    "seeds": [1, 2],
    "judged": "low",
    "fields": {"random": ["random"], "mixed": ["net:high", "heuristic"], "own": ["net:low"]},
    "field_deals": 10,
}


def line(field: str, net: float, heuristic: float, seed: int = 1) -> FieldResult:
    return FieldResult(
        rules="3 players",
        seed=seed,
        field=field,
        deals=10,
        net=net,
        net_ci95=0.3,
        heuristic=heuristic,
        heuristic_ci95=0.4,
    )


@pytest.mark.slow
def test_fields_are_played_written_and_reported(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.write(**FIELDS)
    assert workplace.run("fields", "small") == 1
    assert "seed 1 does not exist" in capsys.readouterr().err
    assert workplace.run() == 0
    assert workplace.run("fields", "small") == 0
    found = read_fields("small", workplace.folders)
    assert [(result.seed, result.field) for result in found] == [
        (seed, field) for seed in (1, 2) for field in ("random", "mixed", "own")
    ]
    assert any(result.net for result in found if result.field == "own"), "a net of the other seed, not itself"
    game = make_game("cat_in_the_box_v0", num_players=3, num_ranks=3, copies=4)
    expected = evaluate(game, ["heuristic", "random"], 10, seed=FIRST_SEED)["heuristic"].margin
    assert found[0].heuristic == pytest.approx(expected, abs=1e-4)
    assert workplace.report() == 0
    page = workplace.page.read_text()
    assert "| 3 players | random | " in page
    assert "|  | own | " in page


def test_the_table_has_means_over_seeds_and_the_interval_of_the_difference() -> None:
    rows = fields_table([line("random", 2.0, 1.0), line("random", 1.0, 1.0, seed=2)])
    assert rows == [
        ["rules", "among", "net", "net minus heuristic"],
        ["3 players", "random", "+1.50 ± 0.21", "+0.50 ± 0.35"],
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judged": None}, "judged and fields name variant ''"),
        ({"fields": {"own": ["net:hihg"]}}, "judged and fields name variant 'hihg'"),
        ({"fields": {"own": []}}, "fields.own"),
        ({"seeds": [1]}, "at least two where fields have nets of another seed"),
        ({"fields": None}, "has no fields: give it judged, fields and field_deals"),
    ],
)
def test_fields_that_cannot_be_played_are_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], changes: dict, message: str
) -> None:
    workplace.write(**{**FIELDS, **changes})
    assert workplace.run("fields", "small") == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["small.jsonl", "small.fields.json", "speeds.json"])
def test_damaged_files_of_results_are_named(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    workplace.results.mkdir()
    (workplace.results / name).write_text('[{"settings": {}}]')
    assert workplace.report() == 1
    assert re.search(rf"{name}(, line 1)? is damaged", capsys.readouterr().err)
