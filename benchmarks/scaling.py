"""Self-play training on the CPU with increasing numbers of workers, a core each."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import training_config, training_run
from catbox_agents.machine import physical_cores
from catbox_train.memory import keep_freed_memory

#: Games, decisions of a batch and of a minibatch; of a short run.
SIZE = {
    False: {"num_envs": 2048, "batch_size": 65_536, "minibatch_size": 4096},
    True: {"num_envs": 64, "batch_size": 2048, "minibatch_size": 1024},
}
WORKERS = (1, 2, 4, 8, 16)
#: Ratio to one worker that should be reached.
TARGETS = {16: 8.0}


def measure(quick: bool) -> list[Metric]:
    """Five players; the same games, batch and minibatch for every number."""
    keep_freed_memory()  # as `catbox train` does
    configs = {
        workers: training_config("cpu", workers=workers, **SIZE[quick])
        for workers in WORKERS
        if workers <= physical_cores()
    }
    updates = 1 if quick else 4
    with ExitStack() as closing:
        runs = {str(workers): training_run(config, updates, closing) for workers, config in configs.items()}
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate(runs, repeats=1 if quick else 3)
    metrics = [metric_of("self-play PPO, 5 players, 1 worker", results["1"])]
    for workers in list(configs)[1:]:
        found = results[str(workers)]
        metrics += [
            metric_of(f"self-play PPO, 5 players, {workers} workers", found),
            ratio_of(f"{workers} workers / 1 worker", found, results["1"], TARGETS.get(workers)),
        ]
    return metrics
