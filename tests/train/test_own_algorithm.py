"""A learning algorithm of the user's own, in the run that catbox gives to all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catbox_train import (
    Algorithm,
    AlgorithmOptions,
    DivergedError,
    TrainingDiverged,
    load_config,
    resume,
    train,
)
from catbox_train.algorithm import algorithm_class
from examples import reinforce
from tests.train.ppo_runs import SMALL, command, final_arrays, quiet

pytestmark = pytest.mark.usefixtures("no_picture")

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


def own(**settings: Any) -> Any:
    return load_config(overrides={"algorithm": SPEC, **GENERAL, "opponents": ["random"], **settings})


def test_the_example_is_short() -> None:
    assert len(Path(reinforce.__file__).read_text().splitlines()) <= 80


def test_the_example_learns(tmp_path: Path) -> None:
    config = own(game_options={"num_players": 3}, num_envs=128, batch_size=4096, total_decisions=60 * 4096)
    results = train(config.replace(final_deals=100, evaluate_every=1000), tmp_path / "run", quiet())
    standing = results["matches"][0]["standings"][0]
    assert standing["margin"] - standing["margin_ci95"] > 0.3


def test_a_run_of_it_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(own(), tmp_path / "whole", quiet())
    update, calls = reinforce.Reinforce.update, []

    def interrupted(algorithm: reinforce.Reinforce, through: float) -> dict[str, float]:
        calls.append(through)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return update(algorithm, through)

    monkeypatch.setattr(reinforce.Reinforce, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(own(), tmp_path / "stopped", quiet())
    with pytest.raises(ValueError, match=r"names Python classes.*algorithm: examples.*--trust"):
        resume(tmp_path / "stopped", quiet())
    resume(tmp_path / "stopped", quiet(), trust=True)
    assert calls[-1] == 1.0
    one, two = final_arrays(tmp_path / "whole"), final_arrays(tmp_path / "stopped")
    assert one.keys() == two.keys()
    assert all((one[name] == two[name]).all() for name in one)


def test_numbers_that_are_not_finite_stop_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def diverge(algorithm: Algorithm, through: float) -> dict[str, float]:
        raise DivergedError("the loss is not finite")

    monkeypatch.setattr(reinforce.Reinforce, "update", diverge)
    with pytest.raises(TrainingDiverged, match="update 1: the loss is not finite") as stopped:
        train(own(), tmp_path / "run", quiet())
    assert "--set" not in str(stopped.value)


def test_its_settings_are_read_checked_and_kept(tmp_path: Path) -> None:
    config = own(learning_rate="5e-4", hidden="32")
    assert config.algorithm_options == reinforce.ReinforceOptions(hidden=[32], learning_rate=5e-4)
    assert config.replace() == config
    with pytest.raises(ValueError, match="unknown setting 'entropy'"):
        own(entropy=0.1)
    with pytest.raises(ValueError, match="learning_rate = -1: expected a number above 0"):
        own(learning_rate=-1)


def test_the_options_of_a_preset_for_another_algorithm_do_not_count() -> None:
    config = load_config("quick", overrides={"algorithm": SPEC, "game": "petrify_v0"})
    assert config.game == "petrify_v0"
    assert config.algorithm_options == reinforce.ReinforceOptions()


@pytest.mark.parametrize(
    ("name", "message"),
    [
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
        algorithm_class(name)
    with pytest.raises(ValueError, match=message):
        load_config(overrides={"algorithm": name})


def test_a_file_that_names_a_class_takes_trust(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(json.dumps({"algorithm": SPEC}))
    code, said = command("train", "--config", str(file), "--output", str(tmp_path / "run"))
    assert code != 0
    assert "add --trust" in said
    assert not (tmp_path / "run").exists()
    assert load_config(file=file, trust=True).algorithm == SPEC
