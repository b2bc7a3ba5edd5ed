"""Workers in processes of their own: the same results as in threads, and nothing that hangs or is left behind."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from catbox_agents.errors import AgentError
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST
from catbox_train.runs.loop import resume, train
from catbox_train.self_play import processes as worker_processes
from catbox_train.self_play.algorithm import SelfPlay
from catbox_train.self_play.crew import Threads
from catbox_train.self_play.processes import Processes, reported
from tests.train.agents_in_training import DRAWING
from tests.train.ppo_runs import BRIEF, assert_same_end, in_update, quiet, small, stop, trainer_of
from tests.train.worker_functions import die_beside_a_child, fail, meet, signals_blocked

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="workers are threads on Windows"),
]

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
        monkeypatch.setattr(SelfPlay, "processes_from", 0 if wanted else 10**18)
        monkeypatch.setattr(
            "catbox_train.algorithms.exit.algorithm.ExpertIteration.processes_from", 0 if wanted else 10**18
        )

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


# Where workers are.


def test_short_runs_and_gpus_have_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[TrainConfig] = []

    def note(crew: object, config: TrainConfig, memory: object) -> None:
        started.append(config)
        raise InterruptedError

    monkeypatch.setattr(Processes, "__init__", note)
    for settings in ({"total_decisions": 999_000}, {"workers": 1, "total_decisions": 10**9}):
        with trainer_of(small(**settings)) as trainer:
            assert isinstance(trainer.crew, Threads)
    assert started == []
    config = small(total_decisions=1_000_000)
    with pytest.raises(InterruptedError):
        PPO(config, config.make_game())
    assert started == [config]


@pytest.mark.faults
def test_each_worker_has_a_process_and_signals_reach_the_programs_it_starts(
    in_processes: Callable[[bool], None],
) -> None:
    with trainer_of(small(workers=3, num_envs=48, batch_size=768)) as trainer:
        met = trainer.crew.map(meet, 200)
        assert [number for number, _ in met] == [0, 1, 2]
        assert met[0][1] == os.getpid()
        assert sorted(pid for _, pid in met[1:]) == sorted(process.pid for process in processes())
        assert trainer.crew.map(signals_blocked)[1:] == [set()] * 2
        for process in processes():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                process.send_signal(number)
        assert trainer.crew.map(meet, 3) == met
    assert processes() == []


# Errors and deaths.


@pytest.mark.faults
@pytest.mark.parametrize(
    ("failing", "how", "kind", "message"),
    [
        (2, "diverged", DivergedError, "a number of this worker"),
        (
            1,
            "killed",
            ChildProcessError,
            r"worker 1 was ended by signal 9 \(SIGKILL\), as .* memory runs out",
        ),
        (2, "exits", ChildProcessError, "the process of worker 2 was ended with exit code 3"),
        (1, "exits with a thread", ChildProcessError, "worker 1 has ended, but its process has not"),
    ],
)
def test_what_happens_to_one_worker_is_said_and_ends_all(
    in_processes: Callable[[bool], None],
    monkeypatch: pytest.MonkeyPatch,
    failing: int,
    how: str,
    kind: type[Exception],
    message: str,
) -> None:
    """While the others wait for it."""
    # Whether a process ends in time must not depend on how busy the machine is: one never does.
    monkeypatch.setattr(worker_processes, "_TIME_TO_END", 0.5 if how == "exits with a thread" else 60.0)
    with trainer_of(small(workers=3, num_envs=48, batch_size=768)) as trainer:
        with pytest.raises(kind, match=message):
            trainer.crew.map(fail, failing, how)
        assert processes() == []
        with pytest.raises(RuntimeError, match="the worker processes have ended"):
            trainer.crew.map(meet, 1)


@pytest.mark.faults
def test_a_killed_worker_is_noticed_although_a_process_that_it_forked_lives_on(
    in_processes: Callable[[bool], None], tmp_path: Path
) -> None:
    """With copies of the sockets, such as the pool of processes of an agent, while the others wait for the worker."""
    file = tmp_path / "child"
    try:
        with trainer_of(small(workers=3, num_envs=48, batch_size=768)) as trainer:
            with pytest.raises(ChildProcessError, match=r"worker 2 was ended by signal 9 \(SIGKILL\)"):
                trainer.crew.map(die_beside_a_child, 2, str(file))
            assert psutil.Process(int(file.read_text())).is_running()
    finally:
        os.kill(int(file.read_text()), signal.SIGKILL)


def test_an_error_keeps_its_type_text_and_traceback() -> None:
    def raised(error: Exception) -> Exception:
        try:
            raise error
        except Exception as caught:  # noqa: BLE001
            return pickle.loads(pickle.dumps(reported(caught, 3)))

    diverged = raised(DivergedError("a number"))
    assert type(diverged) is DivergedError
    assert str(diverged) == "a number"
    assert "process of worker 3" in diverged.__notes__[0]
    assert "in raised" in diverged.__notes__[0]
    of_agent = raised(AgentError("mine:Bot", KeyError("x")))
    assert type(of_agent) is AgentError
    assert "agent 'mine:Bot' raised KeyError" in str(of_agent)
    assert "in raised" in of_agent.__notes__[0]


@pytest.mark.faults
def test_a_worker_that_is_killed_ends_the_run_with_the_way_to_go_on(
    tmp_path: Path, in_processes: Callable[[bool], None]
) -> None:
    config, run = small(**BRIEF), tmp_path / "run"
    said = rf"SIGKILL.*the last checkpoint, {run}/checkpoints/00000002, is lost\. Go on with:  .* --output {run}$"
    with in_update(config, 4, lambda: processes()[0].kill()), pytest.raises(ChildProcessError, match=said):
        train(config, run, quiet())
    assert processes() == []
