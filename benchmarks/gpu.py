"""Self-play training with the networks on a GPU, beside the same run on the CPU of that machine."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import NamedTuple

import torch

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import training_config, training_run
from catbox_train.devices import check_compiler
from catbox_train.memory import keep_freed_memory

#: Decisions a second that the largest size should reach on an H100 with 16 cores.
TARGET = 1_500_000


class Size(NamedTuple):
    """Games side by side, and decisions in a batch and in a minibatch."""

    num_envs: int
    batch_size: int
    minibatch_size: int


#: The last one is also run on the CPU.
SIZES = (
    Size(2048, 65_536, 4096),
    Size(4096, 131_072, 8192),
    Size(8192, 262_144, 16_384),
    Size(16_384, 524_288, 32_768),
)
QUICK = (Size(64, 1024, 256),)


def measure(quick: bool) -> list[Metric]:
    """Five players, a worker for each core; no metrics where torch finds no CUDA device."""
    if not torch.cuda.is_available():
        print("gpu: torch finds no CUDA device here, so nothing is measured", file=sys.stderr)
        return []
    keep_freed_memory()  # as `catbox train` does
    sizes = QUICK if quick else SIZES
    configs = {f"on the GPU, {described(size)}": training_config("cuda", **size._asdict()) for size in sizes}
    most = sizes[-1]._asdict()
    largest = f"on the GPU, {described(sizes[-1])}"
    try:
        check_compiler(torch.device("cuda"))
    except ValueError as error:
        print(f"gpu: not measured: {error}", file=sys.stderr)
    else:
        configs[f"the same with compile: true, {described(sizes[-1])}"] = training_config(
            "cuda", compile=True, **most
        )
    cpu = f"on the CPU alone, {described(sizes[-1])}"
    configs[cpu] = training_config("cpu", **most)
    results: dict[str, list[float]] = {}
    for name, config in configs.items():  # one at a time: a batch takes much of the memory
        with ExitStack() as closing:
            run = training_run(config, 1, closing)
            run()  # compiles, and plays past the first games, which all began together
            run()
            results |= alternate({name: run}, repeats=1 if quick else 5)
    gpu, workers = torch.cuda.get_device_name(), configs[largest].num_workers
    setting = f"self-play PPO, 5 players, {gpu}, {workers} workers"
    return [
        *(
            metric_of(f"{setting}, {name}", values, "/s", TARGET if name == largest else None)
            for name, values in results.items()
        ),
        ratio_of("GPU / CPU", results[largest], results[cpu], None),
    ]


def described(size: Size) -> str:
    """The numbers of ``size`` in words."""
    return f"{size.num_envs:,} games, batches of {size.batch_size:,}, minibatches of {size.minibatch_size:,}"
