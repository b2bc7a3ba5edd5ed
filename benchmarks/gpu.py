"""Self-play training with the networks on a GPU, compared with the same run on the CPU of that machine."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import torch

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import training_config, training_run
from catbox_train.config import TrainConfig
from catbox_train.devices import check_compiler
from catbox_train.memory import keep_freed_memory

#: Decisions a second that the largest size should reach on an H100 with 16 cores.
TARGET = 1_500_000
#: Games side by side; a batch is 32 decisions of each, a minibatch 2. The largest one is also run on the CPU.
GAMES = (2048, 4096, 8192, 16_384)


def config(device: str, games: int, compiled: bool = False) -> TrainConfig:
    """The configuration of a run with ``games`` games side by side."""
    return training_config(
        device, num_envs=games, batch_size=32 * games, minibatch_size=2 * games, compile=compiled
    )


def gpu_name() -> str | None:
    """The name of the GPU that torch uses, or ``None`` without one."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def measure(quick: bool) -> list[Metric]:
    """Five players, a worker for each core; no metrics if torch finds no CUDA device."""
    if (device := gpu_name()) is None:
        print("gpu: torch finds no CUDA device here, so nothing is measured", file=sys.stderr)
        return []
    keep_freed_memory()  # as `catbox train` does
    sizes = (64,) if quick else GAMES
    most = sizes[-1]
    configs = {f"on the GPU, {games:,} games": config("cuda", games) for games in sizes}
    largest, cpu = list(configs)[-1], f"on the CPU alone, {most:,} games"
    try:
        check_compiler(torch.device("cuda"))
    except ValueError as error:
        print(f"gpu: not measured: {error}", file=sys.stderr)
    else:
        configs[f"the same with compile: true, {most:,} games"] = config("cuda", most, compiled=True)
    configs[cpu] = config("cpu", most)
    results: dict[str, list[float]] = {}
    for name, chosen in configs.items():  # one at a time: a batch takes much of the memory
        with ExitStack() as closing:
            runs = {name: training_run(chosen, 1, closing)}
            alternate(runs, repeats=2)  # compiles, and plays past the first games, which all began together
            results |= alternate(runs, repeats=1 if quick else 5)
    workers = configs[largest].num_workers
    setting = f"self-play PPO, 5 players, {device}, {workers} workers"
    targets = {largest: TARGET}
    return [
        *(
            metric_of(f"{setting}, {name}", values, target=targets.get(name))
            for name, values in results.items()
        ),
        ratio_of("GPU / CPU", results[largest], results[cpu]),
    ]
