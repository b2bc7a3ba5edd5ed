"""A run of training whose numbers are not finite, or too large, stops, and nothing of that update is saved."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents.networks.checkpoint import latest_checkpoint, load_checkpoint
from catbox_train.learner import Learner
from catbox_train.ppo import PPO
from catbox_train.rollout import Decisions
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
)

#: In the outputs of the network.
PLACES = {"logit": 0, "value": -1}
#: Gradient steps of an update.
STEPS = 6


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
    run, columns = tmp_path / "run", PPO.learning_columns

    def spoiled(trainer: PPO, decisions: Decisions) -> Any:
        found = columns(trainer, decisions)
        if trainer.learner.moments["step"] == 3 * STEPS:
            if where == "moment":
                trainer.learner.moments["exp_avg_sq"][0] = number
            else:
                trainer.network.linear_layers()[-1].bias.detach()[PLACES[where]] = number
        return found

    with monkeypatch.context() as patch:
        patch.setattr(PPO, "learning_columns", spoiled)
        with pytest.raises(
            TrainingDiverged, match=rf"diverged in update 4: .*{said}.*last good checkpoint is .*00000002"
        ):
            train(small(**BRIEF), run, quiet())
    assert latest_checkpoint(run).name == "00000002"
    assert all(np.isfinite(array).all() for array in final_arrays(run).values() if array.dtype.kind == "f")
    assert [row["update"] for row in read_metrics(run)] == [1, 2, 3]
    resume(run, quiet())
    assert_same_end(brief_run, run)


def test_a_learning_rate_of_a_thousand_million_is_no_success(tmp_path: Path) -> None:
    settings = {**SMALL, **BRIEF, "learning_rate": 1e9, "learning_rate_end": 1e9}
    file = tmp_path / "settings.yaml"
    file.write_text(json.dumps(settings))
    code, said = command("train", "--config", str(file), "--output", str(tmp_path / "run"))
    assert code == 1
    assert said.startswith("catbox: training diverged in update 1: ")
    assert "There is no checkpoint yet" in said
    assert "--set learning_rate=0.001" in said
    assert not (tmp_path / "run" / "results.json").exists()
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_last_step_that_ruins_the_networks_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, step = tmp_path / "run", Learner.step
    settings = {
        **BRIEF,
        "minibatch_size": 512,
        "update_epochs": 1,
        "checkpoint_every": 1,
        "evaluate_every": 1,
    }

    def too_fast_at_last(learner: Learner, *given: Any) -> None:
        if learner.moments["step"] == 2:
            learner.optimizer.param_groups[0]["lr"] = 1e38
        step(learner, *given)

    monkeypatch.setattr(Learner, "step", too_fast_at_last)
    with pytest.raises(TrainingDiverged, match=r"in update 3: .*last good checkpoint is .*00000002"):
        train(small(**settings), run, quiet())
    assert latest_checkpoint(run).name == "00000002"
    assert load_checkpoint(run / "checkpoints" / "best").training["update"] <= 2


def test_what_to_do_after_divergence(tmp_path: Path) -> None:
    diverged = TrainingDiverged(tmp_path, 1, "x", learning_rate=1e-3, options=["--trust"])
    assert str(diverged).endswith(f" --config {tmp_path}/config.yaml --set learning_rate=0.0001 --trust")
