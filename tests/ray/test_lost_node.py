"""A node of a cluster is killed in the middle of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest
import ray
from rich.console import Console

from catbox_train.ray import OnRay
from catbox_train.runs import loop
from catbox_train.runs.metrics import read_metrics
from tests.train.ppo_runs import BRIEF, small


def test_a_node_that_is_killed_costs_the_updates_since_the_checkpoint(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second process is on the other node, because the cores of the head are taken; then it goes on there."""
    config, run, save = small(**BRIEF, workers=2), tmp_path / "run", loop.save_training
    with OnRay(2, cluster.address) as on_ray:
        head = ray.get_runtime_context().get_node_id()
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(head, soft=False)
        taken = ray.remote(_Idle).options(num_cpus=2, scheduling_strategy=here).remote()
        assert ray.get(taken.node.remote()) == head

        def save_and_kill(*given: Any) -> Any:
            found = save(*given)
            if cluster.other in cluster.worker_nodes:
                there = [
                    p
                    for p in psutil.Process().children(recursive=True)
                    if p.name().startswith("ray::RayWork")
                ]
                cluster.remove_node(cluster.other, allow_graceful=False)
                for process in there:  # they go with a machine; here they would notice it later
                    process.kill()
                ray.kill(taken)
            return found

        monkeypatch.setattr(loop, "save_training", save_and_kill)
        loop.train(config, run, Console(width=1000), make_algorithm=on_ray)
    assert "Workers were lost (" in capsys.readouterr().out
    assert [row["update"] for row in read_metrics(run)] == [1, 2, 3, 4, 5]


class _Idle:
    """Takes cores, and does nothing."""

    def node(self) -> str:
        """The node where it is."""
        return str(ray.get_runtime_context().get_node_id())
