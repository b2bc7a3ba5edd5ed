"""Two processes that play and learn together, compared with one, and as they would be with gloo instead of shared
memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import training_config, training_run
from catbox_env import Game
from catbox_train.algorithm import Algorithm
from catbox_train.memory import keep_freed_memory
from catbox_train.processes import LocalWorkers, ParallelAlgorithm
from catbox_train.runs.loop import make_algorithm_here


def with_gloo(config: Any, game: Game) -> Algorithm:
    """The same algorithm, in processes that are joined by ``torch.distributed``."""
    return ParallelAlgorithm(config, game, partial(LocalWorkers, distributed=True))


def measure(quick: bool) -> list[Metric]:
    """Five players, default settings."""
    keep_freed_memory()  # as `catbox train` does
    torch.set_num_threads(1)
    size = {"games_per_update": 230 if quick else "auto"}
    one, two = (training_config(workers=number, **size) for number in (1, 2))
    kinds: dict[str, tuple[Any, Callable[[Any, Game], Algorithm]]] = {
        "one": (one, make_algorithm_here),
        "two": (two, make_algorithm_here),
        "gloo": (two, with_gloo),
    }
    runs = {name: training_run(config, 1 if quick else 8, make) for name, (config, make) in kinds.items()}
    alternate(runs, repeats=1)  # compiles
    results = alternate(runs, repeats=1 if quick else 5)
    return [
        metric_of("self-play PPO, 5 players, two processes", results["two"]),
        ratio_of("two processes / one", results["two"], results["one"], 1.6),
        ratio_of("two processes with gloo / one", results["gloo"], results["one"]),
    ]
