"""Self-play training on the CPU with more and more workers, a core each."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import InThreads, training_run
from catbox_agents.machine import physical_cores
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

GAME, NUM_PLAYERS = "cat_in_the_box_v0", 5
WORKERS = (1, 2, 4, 8, 16)
#: The run of 2 workers that are threads; those of the others are processes.
THREADS = "2 workers in threads"
#: Ratio to one worker that should be reached.
TARGETS = {16: 8.0}


def measure(quick: bool) -> list[Metric]:
    """Five players, two hidden layers of 256, two epochs; the same games, batch and minibatch for every number."""
    keep_freed_memory()  # as `catbox train` does
    counts = [workers for workers in WORKERS if workers <= physical_cores()]
    with ExitStack() as closing:
        runs = {}
        for workers in counts:
            config = TrainConfig(
                game=GAME,
                game_options={"num_players": NUM_PLAYERS},
                device="cpu",
                workers=workers,
                hidden=(256, 256),
                epochs=2,
                num_envs=64 if quick else 2048,
                batch_size=2048 if quick else 65_536,
                minibatch_size=1024 if quick else 4096,
            )
            config, updates = config.settled(), 1 if quick else 4
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
