"""Processes that play and learn together: the same weights in each, exact resuming, errors by name, lost processes.

They share memory, or are joined by ``torch.distributed``, with gloo here as with NCCL on GPUs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch

from catbox_agents.errors import AgentError
from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_env import Game
from catbox_train.algorithm import DivergedError
from catbox_train.config import TrainConfig
from catbox_train.learner import Learner
from catbox_train.ppo import PPO
from catbox_train.processes import LocalWorkers, ParallelAlgorithm
from catbox_train.registry import algorithm_class
from catbox_train.runs.loop import resume, train
from catbox_train.runs.progress import TrainingDiverged
from catbox_train.self_play_config import PAST
from tests.train.ppo_runs import BRIEF, assert_same_end, in_update, quiet, run_python, small, stop

#: `LocalWorkers`, with or without ``distributed``.
Start = partial[LocalWorkers]
HERE = "tests.train.test_processes"
#: Everything that processes share: earlier policies, an odd number of games.
SHARED: dict[str, Any] = {
    "workers": 2,
    "games_per_update": 31,
    "opponents": {PAST: 0.4, "random": 0.1},
    "past_policies": 2,
    "past_every": 1,
}
SEARCH = {"algorithm": "exit", "search_share": 0.1, "minibatch_size": 16}


class Compared(PPO):
    """Says in its metrics how far the weights of two processes are apart."""

    def update(self, update: int, progress: float) -> tuple[int, Any]:
        played, metrics = super().update(update, progress)
        group, weights = self.learner.group, self.learner.weights.detach()
        sums = weights.clone()
        group.sum_(sums)
        apart = (sums - group.size * weights).abs().max().item()
        return played, {**metrics, "learning/apart": apart, "learning/rank": float(group.rank)}


@pytest.fixture(params=[False, True], ids=["shared memory", "torch.distributed"])
def start(request: pytest.FixtureRequest) -> Start:
    """How processes of this machine are joined."""
    return partial(LocalWorkers, distributed=request.param)


def on(start: Start) -> Callable[[TrainConfig, Game], ParallelAlgorithm]:
    """For `train`."""
    return lambda config, game: ParallelAlgorithm(config, game, start)


class Failing(PPO):
    """Fails in the second process, in its third update: it diverges, raises an error, or is killed."""

    def update(self, update: int, progress: float) -> tuple[int, Any]:
        if self.learner.group.rank == 1 and update == 2 and os.environ.get("FAILURE"):
            if os.environ["FAILURE"] == "diverges":
                raise DivergedError("a loss of the second process")
            if os.environ["FAILURE"] == "agent":
                raise AgentError("bold", LookupError("no card"))
            if os.environ["FAILURE"] == "raises":
                raise LookupError("nothing found by the second process")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().update(update, progress)


def test_weights_stay_equal_in_all_processes(start: Start, tmp_path: Path) -> None:
    rows: list[Any] = []
    config = small(**{**BRIEF, **SHARED}, algorithm=f"{HERE}:Compared")
    train(config, tmp_path / "run", quiet(), make_algorithm=on(start), on_update=rows.append)
    assert [(row["learning/apart"], row["learning/rank"]) for row in rows] == [(0, 0)] * len(rows)
    assert len(rows) == 6


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="ppo"),
        pytest.param({"algorithm": "dmc"}, id="dmc"),
        pytest.param(SEARCH, id="exit"),
    ],
)
@pytest.mark.slow
def test_a_run_of_two_processes_is_resumed_exactly(
    settings: dict[str, Any], finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    config = small(**{**BRIEF, **SHARED, **settings})
    stop(config, tmp_path / "run", 3)
    resume(tmp_path / "run", quiet())
    assert_same_end(finished_run(config), tmp_path / "run")


@pytest.mark.slow
def test_runs_in_shared_memory_and_with_gloo_are_the_same(
    finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    """Three processes, so that the order of sums matters; a run can go on in the other way."""
    config = small(**{**BRIEF, **SHARED, "workers": 3})
    stop(config, tmp_path / "run", 3)
    resume(tmp_path / "run", quiet(), make_algorithm=on(partial(LocalWorkers, distributed=True)))
    assert_same_end(finished_run(config), tmp_path / "run")


@pytest.mark.parametrize("algorithm", ["ppo", pytest.param("dmc", marks=pytest.mark.slow)])
def test_one_step_of_two_processes_is_that_of_one(algorithm: str) -> None:
    """The same games; the same weights and metrics, but for the order in which sums are taken."""
    one_step = {"algorithm": algorithm, "minibatch_size": 10**6, "update_epochs": 1, "games_per_update": 31}
    found = []
    for workers in (1, 2):
        config = small(**one_step, workers=workers)
        game = config.make_game()
        made: Any = ParallelAlgorithm if workers == 2 else algorithm_class(algorithm)
        trainer = made(config, game)
        try:
            found.append((trainer.update(0, 0.0), trainer.state()))
        finally:
            trainer.close()
    ((played, metrics), state), ((played_by_two, by_two), state_of_two) = found
    assert played_by_two == played == 31 * 12
    assert by_two == pytest.approx(metrics, rel=1e-3, abs=2e-3)
    assert state.keys() == state_of_two.keys()
    assert state["adam.step"] == state_of_two["adam.step"] == 1
    assert np.allclose(state["weights"], state_of_two["weights"], atol=1e-4)


def test_the_gradient_of_processes_is_a_mean_over_all_their_decisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Minibatches are as large as asked for in all processes together, whatever the share of each."""
    config = small(minibatch_size=50)
    trainer: Any = PPO(config, config.make_game())
    learner: Learner = trainer.learner
    alone = [part.total for part in learner.minibatches({}, torch.arange(400), 0)]
    assert alone == [50] * 16
    monkeypatch.setattr(learner.group, "counts", lambda count: [count, 400 - count])
    for count in (0, 3, 200, 400):
        shares = list(learner.minibatches({}, torch.arange(count), 0))
        assert len(shares) == 16
        assert sum(len(part.rows) for part in shares) == 2 * count
        assert sum(part.total for part in shares) == 2 * 400


@pytest.mark.parametrize("algorithm", ["ppo", pytest.param("dmc", marks=pytest.mark.slow)])
def test_a_process_may_have_no_decision_of_a_minibatch(algorithm: str) -> None:
    """Five games, so that one process has fewer decisions than there are minibatches of one."""
    config = small(algorithm=algorithm, workers=2, games_per_update=5, minibatch_size=1)
    together = ParallelAlgorithm(config, config.make_game())
    try:
        _, metrics = together.update(0, 0.0)
    finally:
        together.close()
    assert all(np.isfinite(value) for value in metrics.values())


def test_no_other_machine_can_connect(start: Start) -> None:
    """In shared memory, nobody can."""
    config = small(**BRIEF, workers=2)
    together = ParallelAlgorithm(config, config.make_game(), start)
    try:
        processes = [psutil.Process(), *psutil.Process().children()]
        listening = [
            socket.laddr.ip
            for process in processes
            for socket in process.net_connections("inet")
            if socket.status == psutil.CONN_LISTEN
        ]
    finally:
        together.close()
    assert set(listening) == ({"127.0.0.1"} if start.keywords["distributed"] else set())


@pytest.mark.faults
@pytest.mark.parametrize(
    ("failure", "kind", "said"),
    [
        ("diverges", TrainingDiverged, r"diverged in update 3: a loss of the second process"),
        ("raises", LookupError, r"nothing found by the second process"),
        ("agent", AgentError, r"agent 'bold' raised LookupError: no card"),
    ],
)
def test_an_error_of_the_second_process_ends_the_run(
    failure: str,
    kind: type[Exception],
    said: str,
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAILURE", failure)
    config = small(**{**BRIEF, **SHARED}, algorithm=f"{HERE}:Failing")
    with pytest.raises(kind, match=said):
        train(config, tmp_path / "run", quiet(), make_algorithm=on(start))
    assert latest_checkpoint(tmp_path / "run")  # the run can be resumed


@pytest.mark.faults
def test_a_run_whose_second_process_was_killed_is_resumed(
    finished_run: Callable[[TrainConfig], Path],
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config, run = small(**{**BRIEF, **SHARED}, algorithm=f"{HERE}:Failing"), tmp_path / "run"
    monkeypatch.setenv("FAILURE", "is killed")
    with pytest.raises(
        ChildProcessError, match=r"has ended \(exit code -9\); .*00000002, is lost\. Resume with: "
    ):
        train(config, run, quiet(), make_algorithm=on(start))
    monkeypatch.delenv("FAILURE")
    resume(run, quiet(), trust=True)
    assert_same_end(finished_run(config), run)


@pytest.mark.faults
def test_an_error_of_the_first_process_is_its_own_and_ends_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(**{**BRIEF, **SHARED})
    started: list[Any] = []

    def make(config: TrainConfig, game: Game) -> ParallelAlgorithm:
        made = ParallelAlgorithm(config, game)
        started.extend(made._workers._started)  # type: ignore[attr-defined]
        return made

    def fail(*given: Any) -> Any:
        raise LookupError("nothing found by the first process")

    monkeypatch.setattr("catbox_train.ppo.gae", fail)
    with pytest.raises(LookupError, match="by the first process"):
        train(config, tmp_path / "run", quiet(), make_algorithm=make)
    (other,) = started
    assert other.poll() is not None


@pytest.mark.faults
def test_the_second_process_does_not_outlive_the_first(tmp_path: Path) -> None:
    """The first one is killed: the other notices by itself."""
    config, pids = small(**{**BRIEF, **SHARED}), tmp_path / "pids"
    first = os.fork()
    if first == 0:
        try:

            def make(config: TrainConfig, game: Game) -> ParallelAlgorithm:
                made = ParallelAlgorithm(config, game)
                pids.write_text(str(made._workers._started[0].pid))  # type: ignore[attr-defined]
                return made

            with in_update(config, 2, lambda: os.kill(os.getpid(), signal.SIGKILL)):
                train(config, tmp_path / "run", quiet(), make_algorithm=make)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == -signal.SIGKILL
    other = Path("/proc") / pids.read_text()
    for _ in range(200):
        if not other.exists() or "zombie" in (other / "status").read_text():
            return
        signal.sigtimedwait([], 0.1)
    pytest.fail("the second process is still there")


@pytest.mark.faults
def test_a_process_that_finds_nobody_ends_without_a_word(start: Start) -> None:
    """The first one is killed while the other starts. They have one standard error, which is read to its end."""
    ran = run_python(
        f"""
        import os, signal
        from catbox_train.processes import LocalWorkers
        from tests.train.ppo_runs import small
        LocalWorkers(small(workers=2), {start.keywords["distributed"]}).start()
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    assert (ran.returncode, ran.stderr) == (-signal.SIGKILL, "")


class Interrupted(Exception):
    """What the handler of a signal raises."""


@pytest.mark.faults
def test_a_signal_is_handled_while_the_first_process_waits(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process hangs, so that the sum never ends."""

    def interrupt(*_: object) -> None:
        raise Interrupted

    config = small(**BRIEF, workers=2)
    together = ParallelAlgorithm(config, config.make_game(), start)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        together.update(0, 0.0)
        os.kill(together._workers._started[0].pid, signal.SIGSTOP)  # type: ignore[attr-defined]
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(Interrupted):
            together.update(1, 0.2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        together.close()


@pytest.mark.faults
def test_a_process_imports_what_the_first_one_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the working directory."""
    for name in ("random", "types", "multiprocessing", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    config = small(**BRIEF, workers=2)
    together = ParallelAlgorithm(config, config.make_game())
    try:
        assert together.update(0, 0.0)[0] > 0
    finally:
        together.close()
    assert not (tmp_path / "ran").exists()
