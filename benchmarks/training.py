"""Batches of self-play training, for the measurements that time them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

import torch

from catbox_train.algorithm import Algorithm
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.config import TrainConfig


class InThreads(PPO):
    """PPO whose workers are threads however long the run."""

    processes_from = sys.maxsize


def training_run(
    config: TrainConfig, num_updates: int, closing: ExitStack, kind: type[Algorithm] = PPO
) -> Callable[[], float]:
    """A run of ``num_updates`` batches, each played and learned from: decisions a second, end to end.

    ``closing`` ends its workers.
    """
    algorithm = kind(config, config.make_game())
    closing.callback(algorithm.close)

    def run() -> float:
        torch.set_num_threads(1)
        started = time.perf_counter()
        for _ in range(num_updates):
            algorithm.update(through=0)
        return num_updates * config.batch_size / (time.perf_counter() - started)

    return run
