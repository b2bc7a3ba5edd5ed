"""A run of training whose numbers are not finite, or too large, stops, and nothing of that update is saved."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from catbox_train.algorithms.ppo.ppo import PPO
from catbox_train.self_play.algorithm import SelfPlay
from catbox_train.self_play.worker import Worker

from catbox_agents.networks.checkpoint import latest_checkpoint, load_checkpoint
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from catbox_train.runs.progress import TrainingDiverged
from tests.train.ppo_runs import (
    BRIEF,
    SMALL,
    assert_same_end,
    command,
    final_arrays,
    quiet,
    small,
    trainer_of,
)

#: In the outputs of the network.
PLACES = {"logit": 0, "value": -1}


@pytest.mark.parametrize(
    ("where", "number", "said"),
    [
        ("logit", math.nan, "not finite"),
        ("logit", 1e9, "a logit of the policy is larger than"),
        ("value", math.inf, "not finite"),
        ("moment", math.nan, "not finite"),
    ],
)
def test_a_number_that_is_not_finite_stops_the_run_and_the_last_good_checkpoint_stays(
    brief_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, number: float, said: str
) -> None:
    """It comes up in update 4; update 2 was saved. Without it, the run goes on from there to the end that it would have
    had."""
    run, learn = tmp_path / "run", PPO.learn

    def learn_spoiled(trainer: PPO, progress: float) -> dict[str, float]:
        if trainer.updates_done == 3:
            if where == "moment":
                trainer.moments()["exp_avg_sq"][0] = number
            else:
                trainer.actor.linear_layers()[-1].bias.detach()[PLACES[where]] = number
        return learn(trainer, progress)

    with monkeypatch.context() as patch:
        patch.setattr(PPO, "learn", learn_spoiled)
        with pytest.raises(
            TrainingDiverged, match=rf"diverged in update 4: .*{said}.*last good checkpoint is .*00000002"
        ):
            train(small(**BRIEF), run, quiet())
    assert latest_checkpoint(run).name == "00000002"
    assert all(np.isfinite(array).all() for array in final_arrays(run).values() if array.dtype.kind == "f")
    assert [row["update"] for row in read_metrics(run)] == [1, 2, 3]
    resume(run, quiet())
    assert_same_end(brief_run, run)


@pytest.mark.parametrize("failing", [0, 2])
def test_the_error_of_one_worker_is_that_of_the_update(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    act = Worker.act

    def fail(worker: Worker, row: int) -> None:
        if worker.number == failing and row == 7:
            raise ArithmeticError("a number of this worker")
        act(worker, row)

    monkeypatch.setattr(Worker, "act", fail)
    with (
        trainer_of(small(workers=3, num_envs=48, batch_size=768)) as trainer,
        pytest.raises(ArithmeticError, match="a number of this worker"),
    ):
        trainer.update(0)


def test_a_learning_rate_of_a_thousand_million_is_no_success(tmp_path: Path) -> None:
    settings = {**SMALL, **BRIEF, "learning_rate": 1e9, "learning_rate_end": 1e9}
    file = tmp_path / "settings.yaml"
    file.write_text(json.dumps(settings))
    code, said = command("train", "--config", str(file), "--output", str(tmp_path / "run"))
    assert code == 1
    assert said.startswith("catbox: training diverged in update 1: ")
    assert "There is no checkpoint yet" in said
    assert "--set learning_rate=0.001 --set learning_rate_end=5e-05" in said
    assert not (tmp_path / "run" / "results.json").exists()
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_last_step_that_ruins_the_networks_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, learning_rate = tmp_path / "run", SelfPlay.learning_rate
    settings = {**BRIEF, "minibatch_size": 512, "epochs": 1, "checkpoint_every": 1, "evaluate_every": 1}

    def too_fast_at_last(trainer: PPO, progress: float) -> float:
        return 1e9 if trainer.updates_done == 2 else learning_rate(trainer, progress)

    monkeypatch.setattr(SelfPlay, "learning_rate", too_fast_at_last)
    with pytest.raises(TrainingDiverged, match=r"in update 3: .*last good checkpoint is .*00000002"):
        train(small(**settings), run, quiet())
    assert latest_checkpoint(run).name == "00000002"
    assert load_checkpoint(run / "checkpoints" / "best").training["update"] <= 2


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, "--set learning_rate=0.0001"),
        ({"entropy": 1e9}, "--set learning_rate=0.0001 --set entropy=0.06"),
    ],
)  # fmt: skip
def test_what_to_do_after_divergence_fits_the_settings(
    tmp_path: Path, settings: dict[str, float], options: str
) -> None:
    rates = {"learning_rate": 1e-3, "learning_rate_end": 5e-5}
    safer = small(**{**rates, **settings}).algorithm_options.safer()
    diverged = TrainingDiverged(tmp_path, 1, "x", safer, options=["--trust"])
    assert str(diverged).endswith(f" --config {tmp_path}/config.yaml {options} --trust")


@pytest.mark.parametrize(
    ("settings", "ready"),
    [
        ({"num_envs": 256, "minibatch_size": 512}, 0),  # two steps, three players: no seat decides twice
        ({"num_envs": 128, "minibatch_size": 2}, 128),  # four steps: the first seat does
    ],
)
def test_a_batch_with_too_little_to_learn_from_is_refused_with_what_to_change(
    tmp_path: Path, settings: dict[str, int], ready: int
) -> None:
    message = f"only {ready} of the 512 decisions of update 1 .*Make batch_size larger, or num_envs smaller"
    with pytest.raises(ValueError, match=message):
        train(small(**BRIEF, **settings), tmp_path / "run", quiet())
    assert latest_checkpoint(tmp_path / "run") is None
