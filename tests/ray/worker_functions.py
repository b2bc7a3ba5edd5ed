"""What the tests tell workers to do. It is imported in their processes, by its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from catbox_agents import Agent
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo.loss import loss_gradient
from catbox_train.self_play.worker import Worker


def _unlucky(worker: Any, rows: np.ndarray, size: int, failing: int, **settings: Any) -> np.ndarray:
    if worker.networks.number == failing and worker.updates_done == 2:
        raise DivergedError(f"the number of worker {failing}")
    return loss_gradient(worker, rows, size, **settings)


def unlucky_loss(failing: int) -> Callable[..., np.ndarray]:
    """The loss of PPO, which raises an error in the third update of worker ``failing``."""
    return partial(_unlucky, failing=failing)


def weights_of(worker: Worker) -> np.ndarray:
    """The weights as the worker sees them."""
    return worker.networks.weights.vector.numpy()


class Deadly(Agent):
    """Ends its process in the first game, and every time after."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        os._exit(7)


def moments_of(worker: Worker) -> dict[str, np.ndarray]:
    """Adam's moments as the worker has them."""
    return {name: tensor.numpy() for name, tensor in worker.networks.weights.optimizer.state.items()}
