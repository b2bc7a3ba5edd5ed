"""A run that is stopped or killed, whatever it learns with, goes on exactly: it ends as one that was never stopped."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_train.config import TrainConfig
from catbox_train.runs import loop
from catbox_train.runs.folder import start_run
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from catbox_train.runs.progress import TrainingInterrupted
from catbox_train.self_play_config import PAST
from tests.train.agents_in_training import DRAWING, HERE, REMEMBERING
from tests.train.ppo_runs import (
    BRIEF,
    UPDATE,
    assert_same_end,
    final_arrays,
    in_update,
    quiet,
    run_python,
    small,
    stop,
)

#: The pool is full after two updates.
TABLES: dict[str, Any] = {
    "opponents": {"heuristic": 0.15, PAST: 0.3, DRAWING: 0.2, REMEMBERING: 0.2},
    "past_policies": 2,
    "past_every": 1,
}
SEARCH = {"algorithm": "exit", "search_share": 0.05, "minibatch_size": 16}
KINDS: dict[str, dict[str, Any]] = {
    "ppo in bfloat16": {"precision": "bfloat16"},
    "ppo among opponents": TABLES,
    "dmc": {**TABLES, "algorithm": "dmc", "epsilon": 0.3},
    "exit": {**TABLES, **SEARCH},
    "an algorithm of one's own": {"algorithm": "examples.reinforce:Reinforce"},
    "one whose agent saves itself": {
        "algorithm": f"{HERE}:Favourites", "precision": None, "games_per_update": None, "minibatch_size": None,
        "hidden": None,
    },
}  # fmt: skip


def config_of(kind: str) -> TrainConfig:
    found: TrainConfig = small(**{**BRIEF, **KINDS[kind]})
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_run_goes_on_exactly(
    kind: str, finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    """Ctrl-C at the end of an update before which no checkpoint is due, with a full pool of earlier policies."""
    config = config_of(kind)
    said = stop(config, tmp_path / "run", 3)
    assert "1,152 decisions" in said
    assert f"--resume --output {tmp_path}/run" in said
    assert not (tmp_path / "run" / "results.json").exists()
    resume(tmp_path / "run", quiet(), trust=True)
    assert_same_end(finished_run(config), tmp_path / "run")


@pytest.mark.parametrize(("evaluation", "update"), [(1, 1), (2, 4), (3, 8)])
def test_a_run_that_is_stopped_in_an_evaluation_plays_it_when_it_is_resumed(
    evaluation: int,
    update: int,
    finished_run: Callable[[TrainConfig], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last one comes after the last update, before the matches of the end."""
    handler, evaluate = signal.getsignal(signal.SIGTERM), loop.evaluate_policy
    rows: list[Any] = []
    begun: list[int] = []

    def interrupted(*given: Any) -> dict[str, float]:
        found = evaluate(*given)
        begun.append(1)
        if len(begun) == evaluation:
            signal.raise_signal(signal.SIGTERM)
        return found

    monkeypatch.setattr(loop, "evaluate_policy", interrupted)
    with pytest.raises(TrainingInterrupted) as stopped:
        train(small(), tmp_path / "run", quiet(), on_update=rows.append)
    assert stopped.value.signal == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is handler
    assert [row["update"] for row in rows] == [*range(1, update)]
    assert not (tmp_path / "run" / "results.json").exists()
    assert latest_checkpoint(tmp_path / "run").name == f"{update:08}"
    resume(tmp_path / "run", quiet(), on_update=rows.append)
    assert rows == read_metrics(tmp_path / "run")
    assert_same_end(finished_run(small()), tmp_path / "run")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_run_that_is_stopped_before_it_begins_writes_nothing(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Any:
        signal.raise_signal(getattr(signal, number))

    with pytest.raises(TrainingInterrupted, match=r"^Stopped before the run began; nothing is written\.$"):
        train(small(), tmp_path / "run", quiet(), make_algorithm=interrupted)
    assert not (tmp_path / "run").exists()
    stop(small(), tmp_path / "run", 1)
    with pytest.raises(TrainingInterrupted, match=r"^Stopped; everything is saved\. Resume with: "):
        resume(tmp_path / "run", quiet(), make_algorithm=interrupted)


def test_another_seed_gives_another_run(finished_run: Callable[[TrainConfig], Path]) -> None:
    one, other = (final_arrays(finished_run(small(seed=seed))) for seed in (1, 2))
    assert not np.array_equal(one["weights"], other["weights"])


#: Kills itself when ``owner.name`` is called for the n-th time, before or after the call.
KILLED = """
import importlib, os, signal, sys
from rich.console import Console
from catbox_train.runs import loop

run, place, name, number, after = sys.argv[1:]
module, _, kind = place.partition(":")
owner = importlib.import_module(module)
owner = getattr(owner, kind) if kind else owner
function, calls = getattr(owner, name), []

def killing(*args, **kwargs):
    calls.append(1)
    if len(calls) == int(number) and not int(after):
        if name == "savez":  # with half a file on the disk
            args[0].write(b"half")
            args[0].flush()
        os.kill(os.getpid(), signal.SIGKILL)
    found = function(*args, **kwargs)
    if len(calls) == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    return found

setattr(owner, name, killing)
loop.resume(run, Console(quiet=True))
"""
LOOP, PPO = "catbox_train.runs.loop", "catbox_train.ppo:PPO"
#: The moment, and the latest checkpoint at it. Evaluations come after updates 1, 4 and 8.
MOMENTS: dict[str, tuple[tuple[str, str, int, int], str | None]] = {
    "before its first checkpoint": ((PPO, "update", 2, 0), None),
    "in an update": (("catbox_train.ppo", "ppo_loss", 20, 0), "00000003"),
    "writing a checkpoint": (("numpy", "savez", 2, 0), "00000003"),
    "in an evaluation": ((LOOP, "evaluate_policy", 2, 0), "00000003"),
    "between an evaluation and its metrics": (("catbox_train.runs.metrics:MetricsLog", "extend", 2, 0), "00000003"),
    "between the last checkpoint and the last evaluation": ((LOOP, "evaluate_policy", 3, 0), "00000008"),
    "before the best policy of the last evaluation": ((LOOP, "evaluate_policy", 3, 1), "00000008"),
    "before the metrics of the last evaluation": (("catbox_train.runs.metrics:MetricsLog", "extend", 3, 0), "00000008"),
    "in the final matches": (("catbox_train.runs.report", "_match", 6, 0), "00000008"),
}  # fmt: skip


@pytest.mark.faults
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_goes_on_exactly(
    finished_run: Callable[[TrainConfig], Path], tmp_path: Path, moment: str
) -> None:
    """Resumed, the run ends with the same weights, metrics and best policy, bit for bit, as if never stopped."""
    run, (given, found) = tmp_path / "run", MOMENTS[moment]
    start_run(run, small())
    done = run_python(KILLED, run, *given)
    assert done.returncode == -signal.SIGKILL, done.stderr
    latest = latest_checkpoint(run)
    assert (latest.name if latest else None) == found
    resume(run, quiet())
    assert_same_end(finished_run(small()), run)
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))
    assert not list((run / "checkpoints").glob(".*"))


@pytest.mark.slow
def test_a_programs_settings_of_torch_do_not_reach_training(
    finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    """In a process of its own, because these settings are everybody's."""
    script = """
        import sys, torch
        from rich.console import Console
        from catbox_train.runs.loop import resume, train
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.set_num_threads(2)
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            resume(sys.argv[1], Console(quiet=True))
        assert torch.get_default_dtype() == torch.float64
        assert not torch.is_grad_enabled() and torch.get_num_threads() == 2
    """
    run = start_run(tmp_path / "run", small(**BRIEF))
    done = run_python(script, run)
    assert done.returncode == 0, done.stderr
    assert_same_end(finished_run(small(**BRIEF)), run)


def test_a_run_becomes_longer_and_its_schedules_follow(
    finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    config, one, two = small(), tmp_path / "one", tmp_path / "two"
    for run in (one, two):
        shutil.copytree(finished_run(config), run)
    with pytest.raises(ValueError, match=r"total_decisions = 384: .*one has made 3,072 decisions; give more"):
        resume(one, quiet(), total_decisions=UPDATE)
    found = resume(one, quiet(), total_decisions=16 * UPDATE)
    assert found["training"]["segments"] == [[0, 8 * UPDATE], [8 * UPDATE, 16 * UPDATE]]
    assert found["config"]["total_decisions"] == 16 * UPDATE
    middle = (config.learning_rate + config.learning_rate_end) / 2
    rates = {int(row["update"]): row["learning/learning_rate"] for row in read_metrics(one)}
    assert rates[5] == pytest.approx(middle)  # in the middle of 8, and of 16
    assert rates[9] == pytest.approx(middle)
    with (
        in_update(config, 11, lambda: os.kill(os.getpid(), signal.SIGINT)),
        pytest.raises(TrainingInterrupted),
    ):
        resume(two, quiet(), total_decisions=16 * UPDATE)
    resume(two, quiet())
    assert_same_end(one, two)


def test_a_signal_ends_an_update_at_once_whatever_it_raises_there(tmp_path: Path) -> None:
    def interrupted() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(600)
        except KeyboardInterrupt:
            began.append(time.monotonic())
            raise OSError("what was interrupted") from None

    began: list[float] = []
    with (
        in_update(small(), 3, interrupted),
        pytest.raises(TrainingInterrupted, match="768 decisions; everything"),
    ):
        train(small(), tmp_path / "run", quiet())
    assert time.monotonic() - began[0] < 2
    resume(tmp_path / "run", quiet())
