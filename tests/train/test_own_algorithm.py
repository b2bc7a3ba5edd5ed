"""A learning algorithm of the user's own, in the run that catbox gives to all."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from catbox_train.settings import Text, Texts

from catbox_train import (
    AlgorithmOptions,
    TrainingDiverged,
    load_config,
    train,
)
from catbox_train.runs.metrics import parse_metrics, read_metrics
from examples import reinforce
from tests.train.ppo_runs import SMALL, quiet

SPEC = "examples.reinforce:Reinforce"
GENERAL = {name: SMALL[name] for name in SMALL if name not in ("precision", "minibatch_size")}


class NoAlgorithm:
    """Not derived from ``Algorithm``."""


class WrongOptions(reinforce.Reinforce):
    """Its options are no settings."""

    Options = dict  # type: ignore[assignment]


class Clash(AlgorithmOptions):
    """A setting with the name of one that every run has."""

    seed: int = 3


class ClashingOptions(reinforce.Reinforce):
    """Its options cannot be told from those of the run."""

    Options = Clash


class PartnerOptions(reinforce.ReinforceOptions):
    """Settings that name agents, one of them of none at first."""

    agent_settings: ClassVar = {"partner": (), "others": ("nobody",)}

    partner: Text | None = None
    others: Texts = ("nobody",)


class WithPartner(reinforce.Reinforce):
    """Has agents that play in training."""

    Options = PartnerOptions


def own(**settings: Any) -> Any:
    return load_config(overrides={"algorithm": SPEC, **GENERAL, "opponents": ["random"], **settings})


@pytest.mark.slow
def test_the_example_runs_from_anywhere_and_says_what_it_learned(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # where its run goes
    said = subprocess.run(
        [sys.executable, reinforce.__file__], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=500, check=True,
    ).stdout.splitlines()[-1]  # fmt: skip
    found = re.search(r"self-play: (\S+) points a round more than random play", said)
    assert found, said
    assert float(found[1]) > 1.5


def returning(metrics: Any, monkeypatch: pytest.MonkeyPatch, in_update: int = 4) -> None:
    """Let the algorithm return ``metrics`` in one update."""
    update, calls = reinforce.Reinforce.update, []

    def spoiled(algorithm: reinforce.Reinforce, progress: float) -> Any:
        calls.append(progress)
        good = update(algorithm, progress)
        return metrics if len(calls) == in_update else good

    monkeypatch.setattr(reinforce.Reinforce, "update", spoiled)


@pytest.mark.parametrize("value", [math.nan, torch.tensor(-math.inf)])
def test_a_metric_that_is_not_finite_stops_the_run_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    returning({"learning/loss": value}, monkeypatch)
    said = r"diverged in update 4: the metric learning/loss is not finite.*checkpoint is .*00000003"
    with pytest.raises(TrainingDiverged, match=said):
        train(own(), tmp_path / "run", quiet())
    rows, damaged = parse_metrics((tmp_path / "run" / "metrics.jsonl").read_bytes())
    assert ([row["update"] for row in rows], damaged) == ([1, 2, 3], [])


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        (None, r"None, expected a mapping"),
        ({"learning/loss": None}, r"None as the metric learning/loss; expected a number"),
        ({"learning/loss": "0.5"}, r"'0\.5' as the metric learning/loss"),
        ({"learning/loss": torch.zeros(2)}, r".* as the metric learning/loss"),
        ({"learning/loss": 10**400}, r".* as the metric learning/loss"),
        ({"update": 1.0}, r"a metric named 'update'; expected a name that begins with learning/ or game/"),
    ],
)
def test_what_is_no_metric_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metrics: Any, said: str
) -> None:
    returning(metrics, monkeypatch)
    with pytest.raises(ValueError, match=rf"^{SPEC}: update returned {said}"):
        train(own(), tmp_path / "run", quiet())
    assert [row["update"] for row in read_metrics(tmp_path / "run")] == [1, 2, 3]


def test_its_settings_are_read_checked_and_kept(tmp_path: Path) -> None:
    config = own(learning_rate="5e-4", hidden="32")
    assert config.algorithm_options == reinforce.ReinforceOptions(hidden=[32], learning_rate=5e-4)
    assert config.replace() == config
    with pytest.raises(ValueError, match="unknown setting 'entropy'"):
        own(entropy=0.1)
    with pytest.raises(ValueError, match="learning_rate = -1: expected a number above 0"):
        own(learning_rate=-1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sb3", r"is an example to copy now: examples/sb3_self_play\.py"),
        ("pppo", "expected one of ppo.*did you mean 'ppo'"),
        ("nowhere.at_all:Class", "there is no module 'nowhere'"),
        ("examples.reinforce:Reinforced", "has no class 'Reinforced'.*'Reinforce'"),
        (f"{__name__}:NoAlgorithm", "is not a subclass of catbox_train.Algorithm"),
        (f"{__name__}:WrongOptions", r"Options is not a subclass of catbox_train\.AlgorithmOptions"),
        (f"{__name__}:ClashingOptions", r"Options has settings that every run has: seed"),
    ],
)
def test_what_is_no_algorithm_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(overrides={"algorithm": name})


def test_its_settings_may_name_agents_which_take_trust_in_a_file(tmp_path: Path) -> None:
    typed = {"algorithm": f"{__name__}:WithPartner"}
    config = own(**typed)
    config.check_agents(config.make_game())
    others = {"opponents": ("random",), "partner": (), "others": ()}
    assert config.specs() == {"algorithm": (typed["algorithm"],), **others}
    with pytest.raises(ValueError, match=r"partner: unknown agent 'grandmaster'"):
        train(own(**typed, partner="grandmaster"), tmp_path / "run", quiet())
    with pytest.raises(ValueError, match=r"partner = 3: expected a text"):
        own(**typed, partner=3)
    file = tmp_path / "settings.yaml"
    for setting in ("partner", "others"):
        file.write_text(json.dumps({setting: "some_module:Bot"}))
        with pytest.raises(ValueError, match=rf"names Python classes.*{setting}: some_module:Bot.*--trust"):
            load_config(file=file, overrides=typed)
        assert load_config(file=file, overrides=typed, trust=True).specs()[setting] == ("some_module:Bot",)
