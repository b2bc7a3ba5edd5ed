"""Training on a cluster of two nodes: it learns as one machine does, and goes on exactly if processes are lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from rich.console import Console

from catbox_train.config import TrainConfig
from catbox_train.ray import OnRay, RayWorkers
from catbox_train.runs import loop
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from tests.train.ppo_runs import BRIEF, assert_same_end, quiet, small, stop

#: PPO with everything that processes share: earlier policies as opponents.
SHARED: dict[str, Any] = {
    **BRIEF,
    "opponents": {"past": 0.4, "random": 0.1},
    "past_every": 1,
    "workers": 3,
}


@pytest.fixture(scope="module")
def three(cluster: Any) -> Iterator[OnRay]:
    with OnRay(3, cluster.address) as on_ray:
        yield on_ray


def test_a_run_that_began_on_one_machine_goes_on_on_the_cluster(
    three: OnRay, finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    """It ends as the same run does that stays on one machine, bit for bit: the processes here round alike."""
    config = small(**SHARED)
    stop(config, tmp_path / "moved", 3)
    resume(tmp_path / "moved", quiet(), make_algorithm=three)
    assert_same_end(finished_run(config), tmp_path / "moved")


def test_a_process_that_is_killed_costs_the_updates_since_the_checkpoint(
    three: OnRay,
    finished_run: Callable[[TrainConfig], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config, run, save = small(**SHARED), tmp_path / "run", loop.save_training
    begin, started = RayWorkers.start, []

    def begin_and_tell(workers: RayWorkers) -> Any:
        started.append(workers)
        return begin(workers)

    def save_and_kill(*given: Any) -> Any:
        found = save(*given)
        if len(started) == 1:
            ray.kill(started[0]._actors[1])
        return found

    monkeypatch.setattr(RayWorkers, "start", begin_and_tell)
    monkeypatch.setattr(loop, "save_training", save_and_kill)
    train(config, run, Console(width=1000), make_algorithm=three)
    assert len(started) == 2
    said = capsys.readouterr().out
    assert "Workers were lost (" in said
    assert f"The run resumes from the last checkpoint, {run / 'checkpoints/00000002'}." in said
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 6))
    assert_same_end(finished_run(config), run)


def test_an_error_in_one_process_ends_the_run_for_all(
    three: OnRay, finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    """Nobody waits for it, and the next run is as any other: never stopped, it ends as it does on one machine."""
    config = small(**SHARED, algorithm="tests.ray.worker_functions:Unlucky")
    with pytest.raises(LookupError, match="process 1 is unlucky"):
        train(config, tmp_path / "run", quiet(), make_algorithm=three)
    train(small(**SHARED), tmp_path / "next", quiet(), make_algorithm=three)
    assert_same_end(finished_run(small(**SHARED)), tmp_path / "next")
