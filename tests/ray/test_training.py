"""Training on a cluster of two nodes: the run of one machine, to the last bit, whatever becomes of workers."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from catbox_train import TrainingDiverged
from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.config import TrainConfig
from catbox_train.ray import RayWorkers
from catbox_train.ray import crew as ray_crew
from catbox_train.runs import checkpoint
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from tests.ray.worker_functions import unlucky_loss
from tests.train.ppo_runs import assert_same_end, quiet, small, stop

#: PPO with everything that is sent: earlier policies as opponents, a critic of its own, bfloat16.
EVERYTHING = {
    "opponents_in_training": {"past": 0.4, "random": 0.1},
    "past_policies": 2,
    "past_every": 2,
    "privileged_critic": True,
    "precision": "bfloat16",
    "opponents": ["random"],
    "evaluate_every": 4,
    "workers": 3,
    "num_envs": 48,
    "batch_size": 768,
    "minibatch_size": 256,
    "total_decisions": 8 * 768,
}
RUNS = {
    "ppo": EVERYTHING,
    "dmc": {"algorithm": "dmc", "workers": 3, "num_envs": 48, "batch_size": 768, "total_decisions": 6 * 768},
    "exit": {
        "algorithm": "exit",
        "workers": 3,
        "num_envs": 24,
        "search_worlds": 2,
        "batch_size": 192,
        "total_decisions": 3 * 192,
        "minibatch_size": 32,
    },
}


MakeRun = Callable[[TrainConfig], Path]


class Watched:
    """Workers on Ray. ``facts``: of their processes, each time that they began."""

    def __init__(self, workers: RayWorkers) -> None:
        self.workers = workers
        self.facts: list[Any] = []

    def crew(self, config: TrainConfig) -> Any:
        made = self.workers.crew(config)
        self.facts.append(made.facts)
        return made


@pytest.fixture(scope="module")
def three(cluster: Any) -> Iterator[Watched]:
    with RayWorkers(3, cluster.address) as workers:
        yield Watched(workers)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_on_the_cluster_is_that_of_one_machine(
    name: str, three: Watched, finished_run: MakeRun, tmp_path: Path
) -> None:
    config = small(**RUNS[name])
    results = train(config, tmp_path / "ray", quiet(), make_crew=three.crew)
    local = finished_run(config)
    assert_same_end(local, tmp_path / "ray")
    matches = json.loads((local / "results.json").read_text())["matches"]
    margins = [
        [[s["margin"] for s in match["standings"]] for match in played]
        for played in (matches, results["matches"])
    ]
    assert margins[0] == margins[1]
    processes = {fact["process"] for fact in three.facts[-1]}
    assert len(processes - {os.getpid()}) == 3


def test_paths_in_the_settings_are_those_of_the_run(
    three: Watched, finished_run: MakeRun, tmp_path: Path
) -> None:
    """Ray Train gives its workers a working directory of their own."""
    path = os.path.relpath(finished_run(small(**EVERYTHING)))
    config = small(**{**EVERYTHING, "opponents_in_training": {path: 0.4}, "start_from": path})
    train(config, tmp_path / "ray", quiet(), make_crew=three.crew)
    assert_same_end(finished_run(config), tmp_path / "ray")


def test_a_run_goes_on_where_it_was_stopped_on_the_cluster_or_off_it(
    three: Watched, finished_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun here, gone on with on the cluster, and ended here."""
    config, run, write = small(**EVERYTHING), tmp_path / "run", checkpoint.write_arrays
    stop(config, run, 2)

    def write_and_stop(path: Path, arrays: Any) -> None:
        write(path, arrays)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(checkpoint, "write_arrays", write_and_stop)
    with pytest.raises(KeyboardInterrupt):
        resume(run, quiet(), make_crew=three.crew)
    monkeypatch.setattr(checkpoint, "write_arrays", write)
    resume(run, quiet())
    assert_same_end(finished_run(config), run)


def test_a_worker_that_is_killed_costs_the_updates_since_the_checkpoint(
    three: Watched,
    finished_run: MakeRun,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config, run, write = small(**EVERYTHING), tmp_path / "run", checkpoint.write_arrays
    begun = len(three.facts)

    def write_and_kill(path: Path, arrays: Any) -> None:
        write(path, arrays)
        if len(three.facts) == begun + 1:
            os.kill(three.facts[-1][1]["process"], signal.SIGKILL)

    monkeypatch.setattr(checkpoint, "write_arrays", write_and_kill)
    train(config, run, Console(width=1000), make_crew=three.crew)
    assert len(three.facts) == begun + 2
    said = capsys.readouterr().out
    assert "Workers were lost (" in said
    assert f"The run goes on from the last checkpoint, {run / 'checkpoints/00000003'}." in said
    assert_same_end(finished_run(config), run)
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))


def test_a_worker_that_diverges_ends_the_run_for_all(
    three: Watched, finished_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker alone fails, in the middle of the gradient steps; nobody waits for it, and the next run is sound."""
    config = small(**EVERYTHING)
    with monkeypatch.context() as patch:
        patch.setattr(ppo, "loss_gradient", unlucky_loss(1))
        with pytest.raises(TrainingDiverged, match="the number of worker 1"):
            train(config, tmp_path / "run", quiet(), make_crew=three.crew)
    train(config, tmp_path / "sound", quiet(), make_crew=three.crew)
    assert_same_end(finished_run(config), tmp_path / "sound")


def test_what_cannot_run_on_these_workers_is_refused(
    three: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"workers on Ray.*0"):
        RayWorkers(0)
    with pytest.raises(ValueError, match=r"workers = 2: .*3"):
        train(small(), tmp_path / "run", quiet(), make_crew=three.crew)
    assert not (tmp_path / "run").exists()
    sizes = {"workers": 3, "num_envs": 48, "batch_size": 768, "device": "cpu"}
    own = TrainConfig(algorithm="examples.reinforce:Reinforce", **sizes)
    with pytest.raises(ValueError, match="takes no workers of other machines"):
        train(own, tmp_path / "run", quiet(), make_crew=three.crew)
    monkeypatch.setattr(ray_crew.catbox_env, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"catbox is 0\.0\.1 here and .* on .*: install the same release"):
        train(small(**EVERYTHING), tmp_path / "other", quiet(), make_crew=three.crew)
