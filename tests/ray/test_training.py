"""Training on a cluster of two nodes: it learns as one machine does, and goes on exactly if workers are lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from catbox_agents import AgentError
from catbox_env import Game
from catbox_train.algorithm import algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.ray import RayWorkers
from catbox_train.ray import workers as ray_workers
from catbox_train.runs import checkpoint
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from tests.train.ppo_runs import assert_same_end, quiet, small, stop

#: PPO with everything that is shared: earlier policies as opponents, a critic of its own, bfloat16.
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
#: One gradient step of all decisions in an update, as plain as it can be.
STEP = {
    "workers": 3,
    "num_envs": 48,
    "batch_size": 768,
    "minibatch_size": 768,
    "epochs": 1,
    "precision": "float32",
}
RUNS = {
    "ppo": STEP,
    "dmc": {**STEP, "algorithm": "dmc"},
    "exit": {
        **STEP,
        "algorithm": "exit",
        "num_envs": 24,
        "search_worlds": 2,
        "batch_size": 192,
        "minibatch_size": 768,
    },
}


class Watched:
    """Workers on Ray. ``facts``: of their processes, each time that they began."""

    def __init__(self, workers: RayWorkers) -> None:
        self.workers = workers
        self.facts: list[Any] = []

    def algorithm(self, config: TrainConfig, game: Game) -> Any:
        made = self.workers.algorithm(config, game)
        self.facts.append(self.workers.facts)
        return made


@pytest.fixture(scope="module")
def three(cluster: Any) -> Iterator[Watched]:
    with RayWorkers(3, cluster.address) as workers:
        yield Watched(workers)


@pytest.fixture(scope="module")
def everything(three: Watched, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on the cluster, never stopped."""
    run = tmp_path_factory.mktemp("everything") / "run"
    train(small(**EVERYTHING), run, quiet(), make_algorithm=three.algorithm)
    return run


@pytest.mark.parametrize("name", RUNS)
def test_two_updates_on_the_cluster_are_those_of_one_machine(name: str, three: Watched) -> None:
    """The same games; the same weights and metrics, but for the order in which sums are taken."""
    config = small(**RUNS[name])
    game = config.make_game()
    local, there = algorithm_class(config.algorithm)(config, game), three.algorithm(config, game)
    for progress in (0.0, 1.0):
        expected, found = local.update(progress), there.update(progress)
        assert {k for k in found if "_per_second" not in k} == {k for k in expected if "_per_second" not in k}
        for metric in found:
            if "_per_second" not in metric:
                assert found[metric] == pytest.approx(expected[metric], rel=1e-3, abs=1e-4), metric
    expected, found = local.state().arrays, there.state().arrays
    assert found.keys() == expected.keys()
    for array in found:
        if array.startswith("worker") and "games" in array:
            assert np.array_equal(found[array], expected[array]), array
    assert np.allclose(found["weights"], expected["weights"], atol=1e-5)
    assert len({fact["process"] for fact in three.facts[-1]} - {os.getpid()}) == 3
    local.close()


@pytest.mark.parametrize("name", RUNS)
def test_the_cluster_makes_as_many_steps_as_one_machine(name: str, three: Watched) -> None:
    """Minibatches are those of all workers together, and the games of the first batch the same."""
    config = small(**{**RUNS[name], "minibatch_size": 3 if name == "exit" else 24})
    game = config.make_game()
    local, there = algorithm_class(config.algorithm)(config, game), three.algorithm(config, game)
    for algorithm in (local, there):
        algorithm.update(0.0)
    steps = [algorithm.state().arrays["adam.step"] for algorithm in (local, there)]
    assert steps[0] == steps[1] > 1
    local.close()


def test_a_run_goes_on_exactly_where_it_was_stopped_on_the_cluster(
    three: Watched, everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, run, write = small(**EVERYTHING), tmp_path / "run", checkpoint.write_arrays

    def write_and_stop(path: Path, arrays: Any) -> None:
        write(path, arrays)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(checkpoint, "write_arrays", write_and_stop)
    with pytest.raises(KeyboardInterrupt):
        train(config, run, quiet(), make_algorithm=three.algorithm)
    monkeypatch.setattr(checkpoint, "write_arrays", write)
    resume(run, quiet(), make_algorithm=three.algorithm)
    assert_same_end(everything, run)


def test_a_run_moves_to_the_cluster_and_back(three: Watched, tmp_path: Path) -> None:
    """Paths in its settings are those of the run: Ray Train gives its workers a working directory of their own."""
    settings = {**EVERYTHING, "total_decisions": 3 * 768}
    train(small(**settings), tmp_path / "first", quiet())
    path = os.path.relpath(tmp_path / "first")
    config = small(**{**settings, "opponents_in_training": {path: 0.4}, "start_from": path})
    stop(config, tmp_path / "run", 1)
    results = resume(tmp_path / "run", quiet(), make_algorithm=three.algorithm)
    assert results["training"]["decisions"] == 3 * 768
    assert [row["update"] for row in read_metrics(tmp_path / "run")] == [1, 2, 3]


def test_a_worker_that_is_killed_costs_the_updates_since_the_checkpoint(
    three: Watched,
    everything: Path,
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
    train(config, run, Console(width=1000), make_algorithm=three.algorithm)
    assert len(three.facts) == begun + 2
    said = capsys.readouterr().out
    assert "Workers were lost (" in said
    assert f"The run resumes from the last checkpoint, {run / 'checkpoints/00000003'}." in said
    assert_same_end(everything, run)
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))


def test_an_error_in_one_worker_ends_the_run_for_all(
    three: Watched, everything: Path, tmp_path: Path
) -> None:
    """Nobody waits for it, and the next run is as any other."""
    unlucky = "tests.ray.worker_functions:Unlucky"
    config = small(**{**EVERYTHING, "opponents_in_training": {unlucky: 0.5}})
    with pytest.raises(AgentError, match=f"agent '{unlucky}' raised RuntimeError: worker 1 is unlucky"):
        train(config, tmp_path / "run", quiet(), make_algorithm=three.algorithm)
    train(small(**EVERYTHING), tmp_path / "next", quiet(), make_algorithm=three.algorithm)
    assert_same_end(everything, tmp_path / "next")


def test_what_cannot_run_on_these_workers_is_refused(
    three: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"workers on Ray.*0"):
        RayWorkers(0)
    with pytest.raises(ValueError, match=r"workers = 2: .*3"):
        train(small(), tmp_path / "run", quiet(), make_algorithm=three.algorithm)
    assert not (tmp_path / "run").exists()
    sizes = {"workers": 3, "num_envs": 48, "batch_size": 768, "device": "cpu"}
    own = TrainConfig(algorithm="examples.reinforce:Reinforce", **sizes)
    with pytest.raises(ValueError, match="does not learn in several processes"):
        train(own, tmp_path / "run", quiet(), make_algorithm=three.algorithm)
    monkeypatch.setattr(ray_workers.catbox_env, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"catbox is 0\.0\.1 here and .* on .*: install the same release"):
        train(small(**EVERYTHING), tmp_path / "other", quiet(), make_algorithm=three.algorithm)
