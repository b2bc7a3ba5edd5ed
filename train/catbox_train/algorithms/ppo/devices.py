"""PPO with a GPU for each worker: workers in processes of their own, on machines of a cluster, learn data-parallel.

Each worker has its share of the games and of every minibatch on its own device, where `OnDevice` does for it what it
does for all workers of one machine; the gradient of a step is the mean of those of all workers. So all make the same
steps, and have the same weights at any time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from catbox_train.algorithms.ppo.on_device import OnDevice
from catbox_train.algorithms.ppo.options import ppo_options
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.config import TrainConfig
from catbox_train.self_play.adam import Adam
from catbox_train.self_play.crew import Crew


class Devices:
    """The devices of all workers of ``crew``, one each; as `OnDevice` to an algorithm.

    Raises ``ValueError`` where the workers cannot share a minibatch in equal parts, or a device's memory does not
    suffice.
    """

    def __init__(self, device: str, config: TrainConfig, crew: Crew[Any], optimizer: Adam) -> None:
        minibatch, count = ppo_options(config).minibatch_size, config.num_workers
        if minibatch % count:
            raise ValueError(
                f"minibatch_size = {minibatch}: expected a multiple of workers ({count}), each of which has a GPU"
            )
        self._crew, self._optimizer = crew, optimizer
        self._steps = ppo_options(config).epochs * (config.batch_size // minibatch)
        crew.map(begin, device)

    def collect(self, update: int) -> None:
        """See `OnDevice.collect`."""
        self._crew.map(collect, update)

    def learn(self, learning_rate: float, entropy_weight: float) -> tuple[np.ndarray, np.ndarray]:
        """See `OnDevice.learn`; the means over the workers too."""
        metrics, norms = zip(*self._crew.map(learn, learning_rate, entropy_weight), strict=True)
        self._optimizer.num_steps += self._steps
        return np.mean(metrics, axis=0), norms[0]

    def check_outputs(self) -> None:
        """See `OnDevice.check_outputs`."""
        self._crew.map(check_outputs)


# What the workers are told to do.


def begin(worker: Worker, device: str) -> None:
    """Put the networks of the worker on ``device``."""
    config, count = worker.config, worker.config.num_workers
    own = config.replace(
        workers=1,
        num_envs=config.num_envs // count,
        batch_size=config.batch_size // count,
        algorithm_options={
            **config.algorithm_options.as_dict(),
            "minibatch_size": ppo_options(config).minibatch_size // count,
        },
    )
    weights = worker.networks.weights
    worker.on_device = OnDevice(
        torch.device(device), own, weights, weights.optimizer.state, [worker], worker.networks.number
    )
    worker.on_device.average = worker.meeting.average
    worker.threads = ThreadPoolExecutor(1)


def collect(worker: Worker, update: int) -> None:
    """Play a batch on the worker's device."""
    assert worker.on_device
    worker.on_device.collect(update, worker.threads)


def learn(worker: Worker, learning_rate: float, entropy_weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Learn on the worker's device."""
    assert worker.on_device
    return worker.on_device.learn(learning_rate, entropy_weight)


def check_outputs(worker: Worker) -> None:
    """Raise ``DivergedError`` for outputs of no use."""
    assert worker.on_device
    worker.on_device.check_outputs()
