"""Studies are read and checked as a whole before anything is trained."""

from __future__ import annotations

from typing import Any

import pytest

from catbox_train import memory
from catbox_train.runs.loop import check_run
from experiments.results import Folders
from experiments.study import Run, flat, read_study, runs_of, study_names
from tests.experiments.small_studies import BASE, Workplace


def runs(workplace: Workplace) -> list[Run]:
    return runs_of("small", read_study("small", workplace.folders.studies))


STUDIES = Folders().studies


@pytest.mark.parametrize("name", study_names(STUDIES))
def test_the_studies_of_the_repository_can_be_trained_today(name: str) -> None:
    study = read_study(name, STUDIES)
    made = runs_of(name, study)
    assert len(made) == len(study.variants) * len(study.rules) * len(study.seeds)
    assert len({run.config.total_decisions for run in made}) == 1, "compared at equal decisions"
    settings = {run.key: flat(run.config) for run in made}
    for result in Folders().results_of(name):
        now = {k: v for k, v in settings[result.key].items() if v != "auto"}
        assert {k: result.config[k] for k in now} == now, "a result of other settings"


def test_runs_are_ordered_seed_by_seed_with_the_settings_of_variant_rules_and_base(
    workplace: Workplace,
) -> None:
    workplace.write(
        seeds=[7, 3],
        base={**BASE, "ent_coef": 0.5, "clip_coef": 0.3},
        rules={"A": {"game_options.num_players": 3}, "B": {"game_options": {"num_players": 4}}},
    )
    made = runs(workplace)
    assert [run.seed for run in made] == [7] * 4 + [3] * 4
    assert [(run.rules, run.variant) for run in made[:4]] == [
        ("A", "low"),
        ("A", "high"),
        ("B", "low"),
        ("B", "high"),
    ]
    last = flat(made[-1].config)
    expected = {
        "seed": 3,
        "ent_coef": 0.12,
        "clip_coef": 0.3,
        "final_deals": 10,
        "game_options.num_players": 4,
    }
    assert {name: last[name] for name in expected} == expected
    assert last["game_options.copies"] == 4


def test_a_rule_set_may_be_another_game_with_a_preset_of_its_own(workplace: Workplace) -> None:
    workplace.write(
        base={"eval_opponents": "random"}, rules={"Petrify": {"preset": "quick", "game": "petrify_v0"}}
    )
    config = flat(runs(workplace)[0].config)
    assert (config["game"], config["games_per_update"], config["ent_coef"]) == ("petrify_v0", "auto", 0.01)


def test_a_setting_that_is_a_mapping_is_one_value(workplace: Workplace) -> None:
    """The sections are mappings of settings; the shares of opponents are one setting."""
    workplace.write(
        variants={
            "alone": {"opponents": {}},
            "with": {"opponents": {"heuristic": 0.2}},
        }
    )
    configs = [flat(run.config) for run in runs(workplace)]
    assert [config["opponents"] for config in configs[:2]] == [{}, {"heuristic": 0.2}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"base": {**BASE, "algorithm": "exit", "start_from": "/no/such/run"}},
            "study 'small', 3 players, variant 'low': start_from: .*/no/such/run does not exist",
        ),
        ({"base": {**BASE, "hidden": [2_000_000] * 2}}, "variant 'low': not enough memory for hidden"),
        ({"title": None}, "study 'small': .*\n.*title"),
        ({"variant": {}}, "study 'small': .*\n.*variant"),
        ({"seeds": [1, 2, 1]}, "expected different seeds"),
        ({"variants": {"../x": {}, "y": {}}}, "should match pattern"),
        (
            {"variants": {"low": {"ent_coeff": 1}, "high": {}}},
            "study 'small', 3 players, variant 'low': unknown setting 'ent_coeff'; did you mean 'ent_coef'",
        ),
    ],
)  # fmt: skip
def test_a_study_that_cannot_be_trained_is_refused_with_its_name_and_the_setting(
    workplace: Workplace, changes: dict[str, Any], message: str
) -> None:
    workplace.write(**changes)
    with pytest.raises(ValueError, match=message):
        runs(workplace)


def test_the_memory_that_is_in_use_does_not_count_before_a_run_begins(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs of a study may be finished, or begin hours from now."""
    monkeypatch.setattr(memory, "memory_left", lambda: 10_000)
    made = runs(workplace)
    with pytest.raises(ValueError, match="not enough memory for hidden"):
        check_run(made[0].config)


def test_nothing_is_trained_when_a_later_study_is_wrong(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.write(seeds=[1, 2], variants={"low": {"ent_coef": 0.01}, "wrong": {"ent_coef": -1}})
    assert workplace.run() == 1
    assert "study 'small', 3 players, variant 'wrong': ent_coef = " in capsys.readouterr().err
    assert not workplace.runs.exists()
    assert not workplace.results.exists()
