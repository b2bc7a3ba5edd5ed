"""Training on a cluster of two nodes: the run of one machine, to the last bit, whatever becomes of workers."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from catbox_train import TrainingDiverged
from catbox_train.config import TrainConfig
from catbox_train.ray import RayWorkers
from catbox_train.ray import crew as ray_crew
from catbox_train.runs import checkpoint
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from tests.ray.worker_functions import unlucky_loss
from tests.train.ppo_runs import assert_same_end, small

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
        "batch_size": 192,
        "total_decisions": 3 * 192,
        "minibatch_size": 32,
        "search_worlds": 2,
    },
}


def quiet() -> Console:
    return Console(quiet=True)


def local(config: TrainConfig, run: Path) -> Path:
    """The same run on this machine."""
    train(config, run, quiet())
    return run


class Watched:
    """Workers on Ray. ``facts``: of their processes, each time that they began; ``lines``: what was said."""

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
def test_a_run_on_the_cluster_is_that_of_one_machine(name: str, three: Watched, tmp_path: Path) -> None:
    config = small(**RUNS[name])
    results = train(config, tmp_path / "ray", quiet(), make_crew=three.crew)
    assert_same_end(local(config, tmp_path / "local"), tmp_path / "ray")
    matches = json.loads((tmp_path / "local/results.json").read_text())["matches"]
    margins = [
        [[s["margin"] for s in match["standings"]] for match in played]
        for played in (matches, results["matches"])
    ]
    assert margins[0] == margins[1]
    assert len({fact["process"] for fact in three.facts[-1]}) == 3
    assert os.getpid() not in {fact["process"] for fact in three.facts[-1]}


def test_paths_in_the_settings_are_those_of_the_run(three: Watched, tmp_path: Path) -> None:
    """Ray Train gives its workers a working directory of their own."""
    first = local(small(**EVERYTHING), tmp_path / "first")
    path = os.path.relpath(first)
    config = small(**{**EVERYTHING, "opponents_in_training": {path: 0.4}, "start_from": path})
    train(config, tmp_path / "ray", quiet(), make_crew=three.crew)
    assert_same_end(local(config, tmp_path / "local"), tmp_path / "ray")


def test_a_run_goes_on_where_it_was_stopped_on_the_cluster_or_off_it(
    three: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun here, gone on with on the cluster, and ended here."""
    config = small(**EVERYTHING, checkpoint_every=1)
    run, write = tmp_path / "run", checkpoint.write_arrays

    def stop_at(update: int) -> None:
        def write_and_stop(path: Path, arrays: Any) -> None:
            write(path, arrays)
            if f"{update:08d}" in str(path):
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(checkpoint, "write_arrays", write_and_stop)

    stop_at(2)
    with pytest.raises(KeyboardInterrupt):
        train(config, run, quiet())
    stop_at(5)
    with pytest.raises(KeyboardInterrupt):
        resume(run, quiet(), make_crew=three.crew)
    monkeypatch.setattr(checkpoint, "write_arrays", write)
    resume(run, quiet())
    assert_same_end(local(config, tmp_path / "local"), run)


def test_a_worker_that_is_killed_costs_the_updates_since_the_checkpoint(
    three: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
    assert_same_end(local(config, tmp_path / "local"), run)
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))


def test_a_worker_that_diverges_ends_the_run_for_all(three: Watched, tmp_path: Path) -> None:
    """One worker alone fails, in the middle of the gradient steps; nobody waits for it, and the next run is sound."""
    config = small(**EVERYTHING)
    import catbox_train.algorithms.ppo.algorithm as ppo

    learned = ppo.loss_gradient
    ppo.loss_gradient = unlucky_loss(1)
    try:
        with pytest.raises(TrainingDiverged, match="the number of worker 1"):
            train(config, tmp_path / "run", quiet(), make_crew=three.crew)
    finally:
        ppo.loss_gradient = learned
    train(config, tmp_path / "sound", quiet(), make_crew=three.crew)
    assert_same_end(local(config, tmp_path / "local"), tmp_path / "sound")


def test_other_numbers_of_workers_are_refused(three: Watched, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"workers = 2: .*3"):
        train(small(), tmp_path / "run", quiet(), make_crew=three.crew)
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match=r"workers on Ray.*0"):
        RayWorkers(0)


def test_an_algorithm_that_takes_no_workers_is_refused(three: Watched, tmp_path: Path) -> None:
    config = TrainConfig(
        algorithm="examples.reinforce:Reinforce", workers=3, num_envs=48, batch_size=768, device="cpu"
    )
    with pytest.raises(ValueError, match="takes no workers of other machines"):
        train(config, tmp_path / "run", quiet(), make_crew=three.crew)


def test_another_release_of_catbox_on_a_machine_is_refused(
    three: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_crew.catbox_env, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"catbox is 0\.0\.1 here and .* on .*: install the same release"):
        train(small(**EVERYTHING), tmp_path / "run", quiet(), make_crew=three.crew)
