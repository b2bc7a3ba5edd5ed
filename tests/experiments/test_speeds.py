"""The speed of each variant: measured once for all studies, and shown instead of the seconds of the runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catbox_train import TrainConfig
from experiments import speeds
from experiments.speeds import FILE, Speed, read_speeds, speed_of
from tests.experiments.small_studies import BASE, Workplace


@pytest.mark.slow
def test_speeds_are_measured_once_and_shown(workplace: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    workplace.write(
        base={name: value for name, value in BASE.items() if name != "total_decisions"},
        variants={
            "short": {"total_decisions": 2048},
            "long": {"total_decisions": 4096},
            "wide": {"total_decisions": 2048, "hidden": [64]},
        },
    )
    assert workplace.run() == 0
    assert workplace.report() == 0
    assert "| ≈ " in workplace.page.read_text()
    capsys.readouterr()
    assert workplace.run("speeds", "small") == 0
    assert "study 'small', 3 players, variant 'short', seed 1: " in capsys.readouterr().out
    speeds = read_speeds(workplace.results)
    measured = {line.variant: speed_of(line.config, speeds) for line in workplace.lines()}
    assert measured["short"] == measured["long"] != measured["wide"]
    assert len(json.loads((workplace.results / FILE).read_text())) == 2
    before = (workplace.results / FILE).read_bytes()
    assert workplace.run("speeds", "small") == 0
    assert capsys.readouterr().out == ""
    assert (workplace.results / FILE).read_bytes() == before

    assert workplace.report("--check") == 1
    assert workplace.report() == 0
    assert measured["short"] is not None
    speed = measured["short"].decisions_per_second
    assert f"| {speed:,.0f} |\n" in workplace.page.read_text()
    assert "| ≈ " not in workplace.page.read_text()


def test_the_pool_of_earlier_policies_is_filled_from_the_first_update_on(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    configs: list[TrainConfig] = []

    def run(config: TrainConfig, *_: Any) -> Any:
        configs.append(config)
        return lambda: 1000.0

    monkeypatch.setattr(speeds, "training_run", run)
    workplace.write(variants={"past": {"opponents": {"past": 0.5}}, "alone": {}})
    assert workplace.run("speeds", "small") == 0
    assert {config.past_every for config in configs} == {1}
    kept = [speed["settings"]["past_every"] for speed in json.loads((workplace.results / FILE).read_text())]
    assert kept == [25, 25]


def test_a_setting_that_only_one_version_has_is_ignored() -> None:
    settings = {"hidden": [8], "action_features": True}
    speed = Speed(settings=settings, decisions_per_second=1, machine="")
    assert speed_of({"hidden": [8], "seed": 3}, [speed]) == speed
    assert speed_of({**settings, "a_setting_that_is_gone": 3}, [speed]) == speed
    assert speed_of({**settings, "action_features": False}, [speed]) is None
    assert speed_of({"hidden": [9]}, [speed]) is None
