"""Training on Ray, on this machine alone, and the parts of an update for the estimates in docs/scaling.md.

It runs in the environment of `make test-ray`: `.venv-ray/bin/python -m benchmarks on_ray` (about 8 minutes).
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from catbox_train.algorithms.ppo.ppo import PPO
from torch.multiprocessing.spawn import spawn

from benchmarks.report import Clock, Metric, alternate, metric_of
from benchmarks.scaling import SIZE
from benchmarks.training import training_config, updates_run
from catbox_train.algorithm import Algorithm
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

#: Processes, and numbers of weights, for which the mean of a gradient is timed.
WORKERS, WEIGHTS = (2, 4, 8), (88_000, 443_000, 1_182_000)


def config(workers: int, quick: bool) -> TrainConfig:
    """The configuration of `python -m benchmarks scaling`, in float32."""
    size: dict[str, Any] = SIZE[quick]
    return training_config("cpu", workers=workers, precision="float32", hidden=(256, 256), **size)


def measure(quick: bool) -> list[Metric]:
    """Five players; no metrics if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        print("on_ray: Ray is not installed here, so nothing is measured", file=sys.stderr)
        return []
    import ray

    from catbox_train.ray import RayWorkers

    keep_freed_memory()  # as `catbox train` does
    ray.init("local", num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    with ExitStack() as closing:
        alone = PPO(config(1, quick), config(1, quick).make_game())
        closing.callback(alone.close)
        algorithms: dict[str, Algorithm] = {"1 worker, a thread of one process": alone}
        for workers in (1, 2):
            cluster = closing.enter_context(RayWorkers(workers))
            chosen = config(workers, quick)
            name = f"{workers} worker{'s' * (workers > 1)} on Ray"
            algorithms[name] = cluster.algorithm(chosen, chosen.make_game())
        runs = {name: updates_run(algorithm, 1 if quick else 2) for name, algorithm in algorithms.items()}
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        speeds = alternate(runs, repeats=1 if quick else 4)
        parts = [parts_of_update(alone) for _ in range(1 if quick else 3)]
    metrics = [metric_of(f"self-play PPO, 5 players, {name}", found) for name, found in speeds.items()]
    for name, found in zip(("to play", "to learn from once"), zip(*parts, strict=True), strict=True):
        metrics.append(metric_of(f"10,000 decisions {name}, one core", found, "s"))
    for workers in WORKERS[:1] if quick else WORKERS:
        for weights in WEIGHTS[:1] if quick else WEIGHTS:
            taken = [milliseconds_of_mean(workers, weights) for _ in range(1 if quick else 3)]
            metrics.append(metric_of(f"the mean of {weights:,} numbers of {workers} processes", taken, "ms"))
    return metrics


def parts_of_update(algorithm: PPO) -> tuple[float, float]:
    """Seconds to play 10,000 decisions, and to learn from them once."""
    playing, learning = Clock(), Clock()
    with playing:
        algorithm.collect(0.0)
    with learning:
        algorithm.learn(0.0)
    algorithm.updates_done += 1
    scale = 10_000 / algorithm.config.batch_size
    return scale * playing.seconds, scale * learning.seconds / algorithm.options.epochs


def milliseconds_of_mean(workers: int, weights: int) -> float:
    """The time of one all-reduce by Gloo, between processes of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        spawn(_time_means, (workers, weights, folder), nprocs=workers)
        return float(Path(folder, "taken").read_text())


def _time_means(rank: int, workers: int, weights: int, folder: str, repeats: int = 50) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=workers)
    gradient = torch.ones(weights)
    for _ in range(2):
        dist.all_reduce(gradient)  # opens connections
    clock = Clock()
    with clock:
        for _ in range(repeats):
            dist.all_reduce(gradient)
            gradient /= workers
    if rank == 0:
        Path(folder, "taken").write_text(str(1000 * clock.seconds / repeats))
    dist.destroy_process_group()
