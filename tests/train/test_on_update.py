"""What a run tells its caller after each update, how the caller stops it, and trackers that are built on it."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_app.options import TRACKERS
from catbox_train import trackers
from catbox_train.runs import loop
from catbox_train.runs.folder import start_run
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from catbox_train.runs.progress import TrainingInterrupted
from catbox_train.trackers import tracking
from tests.train.ppo_runs import BRIEF, SMALL, assert_same_end, command, in_update, quiet, small

CONFIG = {**BRIEF, "evaluate_every": 2}


def test_the_rows_are_those_of_the_metrics(tmp_path: Path) -> None:
    rows: list[Mapping[str, float]] = []
    train(small(**CONFIG), tmp_path / "run", quiet(), on_update=rows.append)
    assert rows == read_metrics(tmp_path / "run")
    assert len(rows) == 5
    assert ["evaluation/random/margin" in row for row in rows] == [True, True, False, True, True]


def test_a_run_that_is_stopped_is_saved_and_goes_on(brief_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(TrainingInterrupted, match="everything is saved"):
        train(small(**BRIEF), run, quiet(), on_update=lambda row: row["update"] == 3)
    assert latest_checkpoint(run).name == "00000003"  # which is no multiple of checkpoint_every
    rows: list[Mapping[str, float]] = []
    resume(run, quiet(), on_update=rows.append)
    assert [row["update"] for row in rows] == [4, 5]
    assert_same_end(run, brief_run)


def test_a_resumed_run_that_is_stopped_by_the_row_of_its_first_evaluation_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, run = small(**CONFIG), tmp_path / "run"
    evaluate_policy, begun = loop.evaluate_policy, []

    def interrupted(*given: Any) -> dict[str, float]:
        begun.append(1)
        if len(begun) == 3:  # of update 4
            signal.raise_signal(signal.SIGINT)
        return evaluate_policy(*given)

    monkeypatch.setattr(loop, "evaluate_policy", interrupted)
    with pytest.raises(TrainingInterrupted):
        train(config, run, quiet())
    rows: list[Mapping[str, float]] = []
    with pytest.raises(TrainingInterrupted, match="everything is saved"):
        resume(run, quiet(), on_update=lambda row: rows.append(row) or True)
    assert [row["update"] for row in rows] == [4]
    assert latest_checkpoint(run).name == "00000004"


@pytest.mark.parametrize("update", [3, 4])
def test_each_row_is_told_once_and_whole_when_a_signal_stops_the_run(update: int, tmp_path: Path) -> None:
    """Update 4 is to be evaluated."""
    config, run = small(**CONFIG), tmp_path / "run"
    rows: list[Mapping[str, float]] = []
    with (
        in_update(config, update, lambda: signal.raise_signal(signal.SIGINT)),
        pytest.raises(TrainingInterrupted),
    ):
        train(config, run, quiet(), on_update=rows.append)
    resume(run, quiet(), on_update=rows.append)
    assert [row["update"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows == read_metrics(run)
    assert ["evaluation/random/margin" in row for row in rows] == [True, True, False, True, True]


def test_stopping_at_the_last_update_changes_nothing(brief_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(small(**BRIEF), run, quiet(), on_update=lambda row: row["update"] == 5)
    assert (run / "results.json").exists()
    assert_same_end(run, brief_run)


def test_an_error_of_the_caller_ends_the_run_with_its_last_checkpoint(
    brief_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"

    def fail(row: Mapping[str, float]) -> None:
        if row["update"] == 3:
            raise LookupError("pruned")

    with pytest.raises(LookupError, match="pruned"):
        train(small(**BRIEF), run, quiet(), on_update=fail)
    assert latest_checkpoint(run).name == "00000002"
    resume(run, quiet())
    assert_same_end(run, brief_run)


def test_a_tracker_gets_the_settings_and_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With wandb's interface; tests/toolkits has the real MLflow."""
    said: list[Any] = []
    tracker = SimpleNamespace(
        init=lambda **given: said.append(given),
        log=lambda row, step: said.append((step, row)),
        finish=lambda: said.append("finish"),
    )
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    config = small(**BRIEF)
    run = start_run(tmp_path / "run", config)
    with tracking("wandb", run) as on_update:
        assert on_update is not None
        assert on_update({"update": 1, "decisions": 384, "game/score": 2.0}) is None
    settings = {"project": "catbox", "name": "run", "config": config.as_dict()}
    assert said == [settings, (384, {"update": 1, "game/score": 2.0}), "finish"]


def test_a_run_goes_on_without_a_tracker_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def unreachable(row: Mapping[str, float], step: int) -> None:
        asked.append(step)
        raise ConnectionError("no route to the tracker")

    tracker = SimpleNamespace(init=lambda **given: None, log=unreachable, finish=lambda: None)
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    run = start_run(tmp_path / "run", small(**BRIEF))
    with tracking("wandb", run) as on_update:
        assert on_update is not None
        for decisions in (512, 1024):
            assert on_update({"update": 1, "decisions": decisions}) is None
    assert asked == [512]
    said = capsys.readouterr().err
    assert said.count("wandb failed, and the run goes on without it: ConnectionError('no route") == 1


@pytest.mark.parametrize("error", [SystemError("broken"), SystemExit(3)], ids=repr)
@pytest.mark.parametrize("failing", ["import", "init", "log", "finish"])
def test_no_failure_of_a_tracker_ends_a_run(
    failing: str,
    error: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise error

    if failing == "import":
        (tmp_path / "wandb.py").write_text(f"raise {error!r}")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "wandb", raising=False)
    else:
        parts = {"init": lambda **given: None, "log": lambda row, step: None, "finish": lambda: None}
        monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(**{**parts, failing: fail}))
    run = start_run(tmp_path / "run", small(**BRIEF))
    with tracking("wandb", run) as on_update:
        for decisions in (384, 768):
            assert not on_update or on_update({"update": 1, "decisions": decisions}) is None
    said = capsys.readouterr().err
    assert said.count(f"wandb failed, and the run goes on without it: {error!r}\n") == 1


def test_a_folder_of_the_trackers_name_is_no_tracker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """wandb writes such a folder, and Python imports it as an empty package where wandb is not installed."""
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace())
    with tracking("wandb", start_run(tmp_path / "run", small(**BRIEF))) as on_update:
        assert on_update is not None
        assert on_update({"update": 1, "decisions": 384}) is None
    assert capsys.readouterr().err.startswith("wandb failed, and the run goes on without it: AttributeError(")


def test_mlflow_gets_names_that_it_takes_and_a_parameter_for_each_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []
    tracker = SimpleNamespace(
        set_experiment=said.append,
        start_run=lambda run_name: said.append(run_name),
        log_params=lambda settings: said.append(settings),
        log_metrics=lambda row, step: said.append((step, row)),
        end_run=said.append,
    )
    monkeypatch.setitem(sys.modules, "mlflow", tracker)
    config = small(**BRIEF)
    with tracking("mlflow", start_run(tmp_path / "run", config)) as on_update:
        assert on_update is not None
        on_update(
            {
                "update": 1,
                "decisions": 384,
                "evaluation/pimc:samples=2,own=a-b.c d/margin": 2.0,
                "evaluation//tmp/run/margin": 1.0,
                "evaluation/./run/margin": 0.5,
                "evaluation/../margin": 0.0,
            }
        )
    row = {
        "update": 1,
        "evaluation/pimc:samples_2_own_a-b.c d/margin": 2.0,
        "evaluation/_tmp_run/margin": 1.0,
        "evaluation/__run/margin": 0.5,
        "evaluation/_/margin": 0.0,
    }
    assert said == ["catbox", "run", config.as_dict(), (384, row), "FINISHED"]


def test_the_command_that_resumes_a_run_names_its_tracker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(row: Mapping[str, float], step: int) -> None:
        signal.raise_signal(signal.SIGINT)

    tracker = SimpleNamespace(init=lambda **given: None, log=interrupted, finish=lambda: None)
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    settings = [f"--set={name}={json.dumps(value)}" for name, value in {**SMALL, **BRIEF}.items()]
    code, error = command("train", *settings, "--tracker", "wandb", "--output", str(tmp_path / "run"))
    assert code == 130
    assert error.rstrip().endswith(f"train --resume --output {tmp_path / 'run'} --tracker wandb")


def test_trackers_that_cannot_be_used_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trackers.TRACKERS == TRACKERS
    monkeypatch.setitem(sys.modules, "mlflow", None)
    for name, said in (
        ("mlflow", "tracker 'mlflow' needs mlflow:  pip install mlflow"),
        ("comet", "tracker='comet'"),
    ):
        code, error = command("train", "--tracker", name, "--output", str(tmp_path / "run"))
        assert code == 2
        assert said in error
        assert not (tmp_path / "run").exists()
