"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib
import numpy as np
import ray
from matplotlib.figure import Figure
from rich.console import Console

from benchmarks.on_ray.exchange import nothing, seconds_of_exchange
from benchmarks.on_ray.model import MEASURED
from benchmarks.report import alternate, machine
from benchmarks.scaling import SIZE
from benchmarks.training import training_config
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory
from catbox_train.ray import RayWorkers
from catbox_train.runs.loop import train
from catbox_train.runs.metrics import read_metrics

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "on-ray.svg"
ALONE, ONE, TWO = "1 worker, a thread of one process", "1 worker on Ray", "2 workers on Ray"
#: Workers and widths of the hidden layers for which exchanges are timed.
COUNTS, WIDTHS = (2, 4, 8), ((64, 64), (256, 256), (512, 512))


def config(workers: int, quick: bool, **settings: Any) -> TrainConfig:
    """As `python -m benchmarks scaling` has it, in float32."""
    return training_config("cpu", workers=workers, precision="float32", **SIZE[quick], **settings)


def updates(algorithm: PPO, number: int) -> Callable[[], float]:
    """Decisions a second over ``number`` updates."""

    def run() -> float:
        began = time.perf_counter()
        for _ in range(number):
            algorithm.update(0.0)
        return number * algorithm.config.batch_size / (time.perf_counter() - began)

    return run


def speed(quick: bool) -> dict[str, Any]:
    """Everything that the model takes."""
    keep_freed_memory()
    with ExitStack() as closing:
        made: dict[str, PPO] = {}
        for name, workers, on_ray in ((ALONE, 1, False), (ONE, 1, True), (TWO, 2, True)):
            chosen = config(workers, quick)
            crew = closing.enter_context(RayWorkers(workers)).crew if on_ray else None
            made[name] = PPO(chosen, chosen.make_game(), crew)
            closing.callback(made[name].close)
        runs = {name: updates(algorithm, 1 if quick else 2) for name, algorithm in made.items()}
        alternate(runs, 1)  # compiles, and plays past the first games, which all began together
        speeds = alternate(runs, 1 if quick else 4)
        alone, chosen = made[ALONE], made[ALONE].config
        play, learn = [], []
        for _ in range(1 if quick else 3):
            alone.begin_update(0.0)
            began = time.perf_counter()
            alone.collect()
            played = time.perf_counter()
            alone.learn_at(0.0)
            play.append((played - began) / chosen.batch_size)
            learn.append((time.perf_counter() - played) / chosen.batch_size / alone.options.epochs)
            alone.updates_done += 1
        began, asked = time.perf_counter(), 50
        for _ in range(asked):
            made[ONE].crew.map(nothing)
        ask = (time.perf_counter() - began) / asked
        began = time.perf_counter()
        made[ONE].crew.fetch(made[ONE].weights)
        fetch = time.perf_counter() - began
        weight_bytes = len(alone.weights.vector) * 4
        steps = alone.options.epochs * chosen.batch_size // alone.options.minibatch_size
    # An update asks for: its beginning, the batch, what was learned from, the mean, rows, steps, outputs, statistics.
    return {
        "machine": machine(),
        "speeds": speeds,
        "seconds": {"play": np.median(play), "learn": np.median(learn), "fixed": 8 * ask + fetch},
        "exchange": exchanges(quick),
        "run": {
            "rows": chosen.batch_size,
            "steps": steps,
            "epochs": alone.options.epochs,
            "weight_bytes": weight_bytes,
        },
    }


def exchanges(quick: bool) -> list[dict[str, Any]]:
    """Seconds of an exchange for several numbers of workers and weights."""
    found = []
    for count in COUNTS[:1] if quick else COUNTS:
        with RayWorkers(count) as workers:
            for hidden in WIDTHS[:1] if quick else WIDTHS:
                chosen = config(count, quick=True, hidden=hidden)
                algorithm = PPO(chosen, chosen.make_game(), workers.crew)
                seconds = algorithm.crew.map(seconds_of_exchange, count, 10 if quick else 100)
                size = len(algorithm.weights.vector) * 4
                found.append({"workers": count, "bytes": size, "seconds": float(np.median(seconds))})
                algorithm.close()
    return found


def curves(quick: bool) -> None:
    """Runs in one process with one worker, and on Ray with two, of several seeds: the margin among heuristics."""
    total = 3 if quick else 50
    shown: dict[str, list[tuple[list[float], list[float]]]] = {ALONE: [], TWO: []}
    with tempfile.TemporaryDirectory() as folder, RayWorkers(2) as two:
        for seed in range(1, 2 if quick else 4):
            for name, workers, crew in ((ALONE, 1, None), (TWO, 2, two.crew)):
                chosen = TrainConfig(
                    game_options={"num_players": 3},
                    device="cpu",
                    seed=seed,
                    workers=workers,
                    hidden=(64, 64),
                    num_envs=256,
                    batch_size=8192,
                    minibatch_size=1024,
                    total_decisions=total * 8192,
                    evaluate_every=5,
                    evaluate_deals=200,
                    final_deals=10,
                    checkpoint_every=1000,
                    opponents=["heuristic"],
                    precision="float32",
                )
                run = Path(folder) / f"{seed}-{workers}"
                train(chosen, run, Console(quiet=True), make_crew=crew)
                rows = [row for row in read_metrics(run) if "evaluation/heuristic/margin" in row]
                margins = [row["evaluation/heuristic/margin"] for row in rows]
                shown[name].append(([row["update"] for row in rows], margins))
                print(f"seed {seed}, {name}: {margins[-1]:+.2f}", flush=True)
    if not quick:
        draw(shown)


def draw(shown: dict[str, list[tuple[list[float], list[float]]]]) -> None:
    """A thin line for each run, a thick one for the mean over the seeds."""
    matplotlib.rcParams["svg.hashsalt"] = "catbox"
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for (name, runs), (colour, line) in zip(
        shown.items(), (("#0072B2", "-"), ("#D55E00", "--")), strict=True
    ):
        for steps, margins in runs:
            axes.plot(steps, margins, color=colour, linewidth=0.6, alpha=0.6)
        mean = np.mean([margins for _, margins in runs], axis=0)
        axes.plot(
            runs[0][0], mean, line, color=colour, linewidth=2.2, label=f"{name}, mean of {len(runs)} seeds"
        )
    axes.set_xlabel("updates")
    axes.set_ylabel("margin among heuristics (points)")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Measure, or draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.on_ray", description=__doc__)
    parser.add_argument("what", choices=("speed", "curves"))
    parser.add_argument(
        "--quick", action="store_true", help="a short run, only to see that it works; writes nothing"
    )
    arguments = parser.parse_args()
    ray.init(
        "local", num_cpus=2 * max(COUNTS), include_dashboard=False, logging_level="ERROR", log_to_driver=False
    )
    if arguments.what == "curves":
        curves(arguments.quick)
        return
    found = speed(arguments.quick)
    text = json.dumps(found, indent=1)
    print(text)
    if not arguments.quick:
        MEASURED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
