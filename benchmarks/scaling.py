"""Self-play training on the CPU with more and more workers, a core each."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import InThreads, training_config, training_run
from catbox_agents.machine import physical_cores
from catbox_train.memory import keep_freed_memory

#: Games, decisions of a batch and of a minibatch; of a short run.
SIZE = {
    False: {"num_envs": 2048, "batch_size": 65_536, "minibatch_size": 4096},
    True: {"num_envs": 64, "batch_size": 2048, "minibatch_size": 1024},
}
WORKERS = (1, 2, 4, 8, 16)
#: The run of 2 workers that are threads; those of the others are processes.
THREADS = "2 workers in threads"
#: Ratio to one worker that should be reached.
TARGETS = {16: 8.0}


def measure(quick: bool) -> list[Metric]:
    """Five players; the same games, batch and minibatch for every number."""
    keep_freed_memory()  # as `catbox train` does
    counts = [workers for workers in WORKERS if workers <= physical_cores()]
    with ExitStack() as closing:
        runs = {}
        for workers in counts:
            config = training_config("cpu", workers=workers, **SIZE[quick])
            updates = 1 if quick else 4
            runs[str(workers)] = training_run(config, updates, closing)
            if workers == 2:
                runs[THREADS] = training_run(config, updates, closing, InThreads)
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate(runs, repeats=1 if quick else 3)
    metrics = []
    for workers in counts:
        name = f"self-play PPO, 5 players, {workers} worker{'s' * (workers > 1)}"
        metrics.append(metric_of(name, results[str(workers)], "/s"))
        if workers > 1:
            target = TARGETS.get(workers)
            metrics.append(
                ratio_of(f"{workers} workers / 1 worker", results[str(workers)], results["1"], target)
            )
    if THREADS in results:
        metrics.append(metric_of(f"self-play PPO, 5 players, {THREADS}", results[THREADS], "/s"))
        metrics.append(ratio_of("2 workers, in processes / in threads", results["2"], results[THREADS], None))
    return metrics
