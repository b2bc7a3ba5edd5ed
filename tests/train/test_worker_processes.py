"""Workers in processes of their own: the same results as in threads, and nothing that hangs or is left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from catbox_agents.errors import AgentError
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.exit.algorithm import ExpertIteration
from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST
from catbox_train.runs.loop import resume, train
from catbox_train.self_play.algorithm import SelfPlay
from tests.train.agents_in_training import DRAWING
from tests.train.ppo_runs import BRIEF, assert_same_end, in_update, quiet, small, stop, trainer_of
from tests.train.worker_functions import fail

pytestmark = pytest.mark.skipif(os.name != "posix", reason="workers are threads on Windows")

#: Opponents that draw random numbers, and earlier policies.
TABLES: dict[str, Any] = {"opponents_in_training": {DRAWING: 0.3, PAST: 0.3}, "past_every": 2}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "ppo": {"precision": "bfloat16", "privileged_critic": True},
    "dmc": {},
    "exit": {"search_worlds": 4},
}


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Has even the smallest run in processes, or in threads again; processes at first."""

    def choose(wanted: bool) -> None:
        for kind in (SelfPlay, ExpertIteration):
            monkeypatch.setattr(kind, "processes_from", 0 if wanted else 10**18)

    choose(True)
    return choose


def processes() -> list[psutil.Process]:
    """Those of the workers of this process."""
    return [child for child in psutil.Process().children() if "worker_process" in " ".join(child.cmdline())]


# What is computed.


@pytest.mark.parametrize(
    "algorithm", ["ppo", *(pytest.param(name, marks=pytest.mark.faults) for name in ("dmc", "exit"))]
)
def test_a_run_that_was_begun_in_threads_goes_on_in_processes_to_the_same_end(
    algorithm: str,
    finished_run: Callable[[TrainConfig], Path],
    tmp_path: Path,
    in_processes: Callable[[bool], None],
) -> None:
    config = small(**{**BRIEF, **TABLES, **ALGORITHMS[algorithm], "algorithm": algorithm})
    in_processes(False)
    stop(config, tmp_path / "run", 2)
    whole, found = finished_run(config), []
    in_processes(True)
    with in_update(config, 2, lambda: found.append(len(processes()))):
        resume(tmp_path / "run", quiet(), trust=True)
    assert found == [1]
    assert processes() == []
    assert_same_end(whole, tmp_path / "run")


@pytest.mark.faults
def test_a_run_that_was_stopped_in_processes_goes_on_in_threads(
    brief_run: Path, tmp_path: Path, in_processes: Callable[[bool], None]
) -> None:
    stop(small(**BRIEF), tmp_path / "run", 3)
    assert processes() == []
    in_processes(False)
    resume(tmp_path / "run", quiet())
    assert_same_end(brief_run, tmp_path / "run")


def test_short_runs_and_gpus_have_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PPO.in_processes(small(total_decisions=1_000_000))
    assert not PPO.in_processes(small(total_decisions=999_000))
    assert not PPO.in_processes(small(total_decisions=10**9, workers=1))
    monkeypatch.setattr(ppo, "accelerator", lambda config: torch.device("cuda"))
    assert not PPO.in_processes(small(total_decisions=1_000_000))


# Errors and deaths.


@pytest.mark.faults
@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("diverged", DivergedError, "^a number of this worker"),
        ("agent", AgentError, "agent 'mine:Bot' raised KeyError"),
        ("exits", ChildProcessError, "the process of worker 2 was ended with exit code 3"),
        ("killed", ChildProcessError, r"worker 2 was ended by signal 9 \(SIGKILL\), as .* memory runs out"),
    ],
)
def test_what_happens_to_one_worker_is_said_and_ends_all(
    in_processes: Callable[[bool], None], tmp_path: Path, how: str, kind: type[Exception], message: str
) -> None:
    """While the others wait for it; and although a process that it has forked, as an agent's pool may, lives on."""
    child = tmp_path / "child"
    try:
        with trainer_of(small(workers=3, num_envs=48, batch_size=768)) as trainer:
            with pytest.raises(kind, match=message) as error:
                trainer.crew.map(fail, 2, how, str(child))
            assert processes() == []
            if how in ("diverged", "agent"):
                assert "process of worker 2" in error.value.__notes__[0]
    finally:
        if child.exists():
            os.kill(int(child.read_text()), signal.SIGKILL)


@pytest.mark.faults
def test_a_worker_that_is_killed_ends_the_run_with_the_way_to_go_on(
    tmp_path: Path, in_processes: Callable[[bool], None]
) -> None:
    config, run = small(**BRIEF), tmp_path / "run"
    said = rf"SIGKILL.*the last checkpoint, {run}/checkpoints/00000002, is lost\. Go on with:  .* --output {run}$"
    with in_update(config, 4, lambda: processes()[0].kill()), pytest.raises(ChildProcessError, match=said):
        train(config, run, quiet())
    assert processes() == []
