"""A node of a cluster is killed in the middle of a run."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import ray
from rich.console import Console

from catbox_env import Game
from catbox_train.config import TrainConfig
from catbox_train.ray import RayWorkers
from catbox_train.runs import checkpoint
from catbox_train.runs.loop import train
from catbox_train.runs.metrics import read_metrics
from tests.train.ppo_runs import small


def test_a_node_that_is_killed_costs_the_updates_since_the_checkpoint(
    cluster: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One worker on each node; the node of one is killed, and both go on on the other one."""
    config, run, write = small(), tmp_path / "run", checkpoint.write_arrays
    with RayWorkers(2, cluster.address) as workers:
        facts: list[Any] = []

        def algorithm(config: TrainConfig, game: Game) -> Any:
            made = workers.algorithm(config, game)
            facts.append(workers.facts)
            return made

        # One core of each node is taken until then.
        takes = [
            ray.remote(_Idle).options(num_cpus=1, scheduling_strategy="SPREAD").remote() for _ in range(2)
        ]
        assert len(set(ray.get([taken.here.remote() for taken in takes]))) == 2

        def write_and_kill(path: Path, arrays: Any) -> None:
            write(path, arrays)
            if cluster.other in cluster.worker_nodes:
                node = cluster.other.node_id
                cluster.remove_node(cluster.other, allow_graceful=False)
                for fact in facts[0]:
                    if (
                        fact["node"] == node
                    ):  # its processes go with a machine; here they would notice it later
                        with suppress(ProcessLookupError):
                            os.kill(fact["process"], signal.SIGKILL)
                for taken in takes:
                    ray.kill(taken)

        monkeypatch.setattr(checkpoint, "write_arrays", write_and_kill)
        train(config, run, Console(width=1000), make_algorithm=algorithm)
    assert len({fact["node"] for fact in facts[0]}) == 2
    assert len(facts) == 2
    assert "Workers were lost (" in capsys.readouterr().out
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))


class _Idle:
    """Takes cores, and does nothing."""

    def here(self) -> str:
        """The node where it is."""
        return ray.get_runtime_context().get_node_id()
