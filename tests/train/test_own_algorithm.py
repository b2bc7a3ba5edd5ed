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

import numpy as np
import pytest
import torch
from pydantic import Field

import catbox_agents
from catbox_train import TrainingDiverged, load_config, train
from catbox_train.config import Agents
from catbox_train.runs.metrics import parse_metrics, read_metrics
from examples import reinforce
from tests.train.agents_in_training import HERE
from tests.train.ppo_runs import SMALL, quiet

SPEC = "examples.reinforce:Reinforce"
GENERAL = SMALL


class NoAlgorithm:
    """Not derived from ``Algorithm``."""


class WrongConfig(reinforce.Reinforce):
    """Its settings are none."""

    Config = dict  # type: ignore[assignment]


class PartnerConfig(reinforce.ReinforceConfig):
    """Settings that name agents, one of them of none at first."""

    agent_settings: ClassVar = (*reinforce.ReinforceConfig.agent_settings, "partner", "others")

    partner: str | None = Field(None, description="an agent")
    others: Agents = Field(("random",), description="agents")


class WithPartner(reinforce.Reinforce):
    """Has agents that play in training."""

    Config = PartnerConfig


def own(**settings: Any) -> Any:
    return load_config(overrides={"algorithm": SPEC, **GENERAL, "eval_opponents": ["random"], **settings})


@pytest.mark.slow
def test_the_example_runs_from_anywhere_and_says_what_it_learned(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # where its run goes
    said = subprocess.run(
        [sys.executable, reinforce.__file__, "600000"], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=500, check=True,
    ).stdout.splitlines()[-1]  # fmt: skip
    found = re.search(r"self-play: (\S+) points a round more than random play", said)
    assert found, said
    assert float(found[1]) > 1.5


def returning(metrics: Any, monkeypatch: pytest.MonkeyPatch, in_update: int = 4) -> None:
    """Let the algorithm return ``metrics`` in one update."""
    update, calls = reinforce.Reinforce.update, []

    def spoiled(algorithm: reinforce.Reinforce, done: int, progress: float) -> Any:
        calls.append(progress)
        played, good = update(algorithm, done, progress)
        return played, metrics if len(calls) == in_update else good

    monkeypatch.setattr(reinforce.Reinforce, "update", spoiled)


def test_the_decisions_of_an_update_are_a_number_of_any_kind_above_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update: Any = reinforce.Reinforce.update
    monkeypatch.setattr(
        reinforce.Reinforce, "update", lambda *given: (np.int64((found := update(*given))[0]), found[1])
    )
    train(own(), tmp_path / "numpy", quiet())
    assert type(read_metrics(tmp_path / "numpy")[-1]["decisions"]) is int
    monkeypatch.setattr(reinforce.Reinforce, "update", lambda *given: (0, {}))
    with pytest.raises(
        ValueError, match=rf"decisions of an update of {SPEC}=0: expected an integer of 1 or more"
    ):
        train(own(), tmp_path / "none", quiet())


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


def test_its_settings_are_read_checked_and_kept() -> None:
    config = own(learning_rate="5e-4", hidden=[32])
    assert isinstance(config, reinforce.ReinforceConfig)
    assert (config.hidden, config.learning_rate) == ((32,), 5e-4)
    assert config.replace() == config
    with pytest.raises(ValueError, match="unknown setting 'ent_coef'"):
        own(ent_coef=0.1)
    with pytest.raises(ValueError, match="learning_rate = -1: expected more than 0"):
        own(learning_rate=-1)


def test_its_policy_may_be_any_agent_that_saves_itself(tmp_path: Path) -> None:
    settings = {
        name: SMALL[name] for name in ("game_options", "total_decisions", "evaluate_deals", "final_deals")
    }
    config = load_config(overrides={**settings, "algorithm": f"{HERE}:Favourites", "evaluate_every": 4})
    results = train(config, tmp_path / "run", quiet())
    assert [s["name"] for s in results["matches"][0]["standings"]] == ["policy", "random"]
    last = tmp_path / "run" / "checkpoints" / "00000008"
    assert (last / "favourites.txt").read_text().startswith("8: [")
    assert {file.name for file in last.iterdir()} == {"favourites.txt", "training.npz", "training.json"}
    assert (last.parent / "best" / "favourites.txt").exists()
    with pytest.raises(ValueError, match=r"holds no policy\.safetensors: .* must save one"):
        catbox_agents.make(str(tmp_path / "run"), config.make_game())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pppo", "unknown algorithm 'pppo'; did you mean 'ppo'.*expected one of ppo"),
        ("nowhere.at_all:Class", "there is no module 'nowhere'"),
        ("examples.reinforce:Reinforced", "has no class 'Reinforced'.*'Reinforce'"),
        (f"{__name__}:NoAlgorithm", "is not a subclass of catbox_train.Algorithm"),
        (f"{__name__}:WrongConfig", r"Config is not a subclass of catbox_train\.TrainConfig"),
    ],
)
def test_what_is_no_algorithm_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(overrides={"algorithm": name})


def test_its_settings_may_name_agents_which_take_trust_in_a_file(tmp_path: Path) -> None:
    typed = {"algorithm": f"{__name__}:WithPartner"}
    config = own(**typed)
    config.check_agents(config.make_game())
    named = {"eval_opponents": ("random",), "opponents": (), "partner": (), "others": ("random",)}
    assert config.agents() == named
    with pytest.raises(ValueError, match=r"partner: unknown agent 'grandmaster'"):
        train(own(**typed, partner="grandmaster"), tmp_path / "run", quiet())
    with pytest.raises(ValueError, match=r"partner = 3: expected a text"):
        own(**typed, partner=3)
    file = tmp_path / "settings.yaml"
    for setting in ("partner", "others"):
        file.write_text(json.dumps({setting: "some_module:Bot"}))
        with pytest.raises(
            ValueError, match=rf"names code that would run.*{setting}: some_module:Bot.*--trust"
        ):
            load_config(file=file, overrides=typed)
        assert load_config(file=file, overrides=typed, trust=True).agents()[setting] == ("some_module:Bot",)
