"""Training on Ray, all on this machine, and the parts of an update that docs/scaling.md reckons with.

It runs in the environment of `make test-ray`: `.venv-ray/bin/python -m benchmarks on_ray` (about 8 minutes).
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import ExitStack
from typing import Any

from benchmarks.report import Clock, Metric, alternate, metric_of
from benchmarks.scaling import SIZE
from benchmarks.training import training_config, updates_run
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.memory import keep_freed_memory
from catbox_train.self_play.update import parts_of
from catbox_train.self_play.worker import Worker

#: Workers and widths of the hidden layers for which exchanges are timed.
WORKERS, WIDTHS = (2, 4, 8), (64, 256, 512)


def ppo(workers: int, quick: bool, closing: ExitStack, on_ray: bool, width: int = 256) -> PPO:
    """As `python -m benchmarks scaling` has it, in float32."""
    from catbox_train.ray import RayWorkers

    size: dict[str, Any] = SIZE[quick]
    config = training_config("cpu", workers=workers, precision="float32", hidden=(width, width), **size)
    crew = closing.enter_context(RayWorkers(workers)).crew if on_ray else None
    algorithm = PPO(config, config.make_game(), crew)
    closing.callback(algorithm.close)
    return algorithm


def measure(quick: bool) -> list[Metric]:
    """Five players; no metrics where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        print("on_ray: Ray is not installed here, so nothing is measured", file=sys.stderr)
        return []
    import ray

    keep_freed_memory()  # as `catbox train` does
    cores = 2 * max(WORKERS)
    ray.init("local", num_cpus=cores, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    with ExitStack() as closing:
        alone = ppo(1, quick, closing, on_ray=False)
        algorithms = {
            "1 worker, a thread of one process": alone,
            "1 worker on Ray": ppo(1, quick, closing, on_ray=True),
            "2 workers on Ray": ppo(2, quick, closing, on_ray=True),
        }
        runs = {name: updates_run(algorithm, 1 if quick else 2) for name, algorithm in algorithms.items()}
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        speeds = alternate(runs, repeats=1 if quick else 4)
        parts = [parts_of_update(alone) for _ in range(1 if quick else 3)]
        calls = [seconds_of_calls(algorithms["1 worker on Ray"]) for _ in range(1 if quick else 5)]
    metrics = [metric_of(f"self-play PPO, 5 players, {name}", found) for name, found in speeds.items()]
    for name, found in zip(("to play", "to learn from once"), zip(*parts, strict=True), strict=True):
        metrics.append(metric_of(f"10,000 decisions {name}, one core", found, "s"))
    metrics.append(metric_of("the calls of an update, 1 worker on Ray", calls, "s"))
    for workers in WORKERS[:1] if quick else WORKERS:
        for width in WIDTHS[:1] if quick else WIDTHS:
            with ExitStack() as closing:
                algorithm = ppo(workers, True, closing, on_ray=True, width=width)
                taken = algorithm.crew.map(milliseconds_of_exchange, workers, 10 if quick else 100)
                weights = len(algorithm.weights.vector)
            metrics.append(metric_of(f"an exchange of {workers} workers, {weights:,} weights", taken, "ms"))
    return metrics


def parts_of_update(algorithm: PPO) -> tuple[float, float]:
    """Seconds of playing 10,000 decisions, and of learning from them once."""
    playing, learning = Clock(), Clock()
    algorithm.begin_update(0.0)
    with playing:
        algorithm.collect()
    with learning:
        algorithm.learn_at(0.0)
    algorithm.updates_done += 1
    scale = 10_000 / algorithm.config.batch_size
    return scale * playing.seconds, scale * learning.seconds / algorithm.options.epochs


def seconds_of_calls(algorithm: PPO) -> float:
    """Of what an update asks of its workers, without what they do: its beginning, the batch, what was learned from, the
    mean, rows, steps, outputs, statistics; and the weights."""
    clock = Clock()
    with clock:
        for _ in range(8):
            algorithm.crew.map(nothing)
        algorithm.crew.fetch(algorithm.weights)
    return clock.seconds


def nothing(worker: Worker) -> None:
    """Only answer."""


def milliseconds_of_exchange(worker: Worker, count: int, repeats: int) -> float:
    """Of one exchange of gradients and weights, for this worker, one of ``count``."""
    weights, number, meeting = worker.networks.weights, worker.networks.number, worker.meeting
    parts = parts_of(weights, number, count)
    meeting.wait(number)
    clock = Clock()
    for turn in range(repeats + 2):
        if turn == 2:
            clock = Clock()  # the first ones open connections
        with clock:
            meeting.add_up_gradients(weights, number, parts)
            meeting.share_squares(weights, number)
            meeting.share_weights(weights, number)
    return 1000 * clock.seconds / repeats
