"""Runs the workers with Ray Train."""

from __future__ import annotations

import logging
import os
from typing import Any

import ray
from ray.train import FailureConfig, RunConfig, ScalingConfig, UserCallback
from ray.train.torch import TorchConfig, TorchTrainer
from ray.train.v2.api.config import LoggingConfig

from catbox_agents.ray_cluster import short_reason
from catbox_train.ray.ranks import serve


class _TellsOfLosses(UserCallback):
    """Tells the run, through its channel, when a worker was lost."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def after_exception(self, run_context: Any, worker_exceptions: dict[int, Exception]) -> None:
        """Called by Ray Train, which then restarts all workers."""
        # The surviving ones only report a lost connection.
        gone = {
            number: error
            for number, error in worker_exceptions.items()
            if isinstance(error, ray.exceptions.RayActorError | ray.exceptions.RaySystemError)
        }
        said = [f"worker {number}: {short_reason(error)}" for number, error in sorted(gone.items())]
        some = next(iter(worker_exceptions.values()), None)
        why = "; ".join(said[:3]) or ("" if some is None else short_reason(some))
        ray.get(self._channel.lost.remote(why))


def fit(count: int, gpu: bool, channel: Any, folder: str) -> None:
    """Run ``count`` workers, each with a core and perhaps a ``gpu``, until they end.

    ``folder`` is for Ray Train's own files. Lost workers are restarted without limit: the run counts the losses.
    """
    logging.getLogger("ray.train").setLevel(logging.ERROR)
    TorchTrainer(
        serve,
        train_loop_config={"channel": channel, "folder": os.getcwd()},
        scaling_config=ScalingConfig(
            num_workers=count, use_gpu=gpu, resources_per_worker={"CPU": 1} | ({"GPU": 1} if gpu else {})
        ),
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if gpu else "gloo"),
        run_config=RunConfig(
            name="catbox",
            storage_path=folder,
            failure_config=FailureConfig(max_failures=-1),
            callbacks=[_TellsOfLosses(channel)],
            logging_config=LoggingConfig(log_level="ERROR"),
        ),
    ).fit()
