"""PPO with a device for each worker: the devices are CPUs here, all else is as on GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.algorithms.ppo.devices import Devices
from catbox_train.algorithms.ppo.on_device import OnDevice
from catbox_train.config import TrainConfig
from catbox_train.ray import RayWorkers
from tests.ray.worker_functions import moments_of, weights_of
from tests.train.ppo_runs import small


def on_devices(config: TrainConfig, make_crew: Callable[[TrainConfig], Any]) -> PPO:
    algorithm = PPO(config, config.make_game(), make_crew)
    algorithm.on_device = Devices("cpu", config, algorithm.crew, algorithm.optimizer)
    return algorithm


def test_one_worker_learns_what_a_device_of_this_machine_does(cluster: Any) -> None:
    config = small(workers=1)
    local = PPO(config, config.make_game())
    device = torch.device("cpu")
    local.on_device = OnDevice(device, config, local.weights, local.optimizer.state, local.workers, number=0)
    with RayWorkers(1, cluster.address) as workers:
        there = on_devices(config, workers.crew)
        for _ in range(2):
            here, found = local.update(0.0), there.update(0.0)
            assert found == here
        np.testing.assert_array_equal(there.weights.vector.numpy(), local.weights.vector.numpy())
        for name, moment in local.optimizer.state.items():
            np.testing.assert_array_equal(there.optimizer.state[name].numpy(), moment.numpy())
    local.close()


def test_all_workers_have_the_same_weights_and_a_run_goes_on_exactly(cluster: Any) -> None:
    config = small(workers=2)
    with RayWorkers(2, cluster.address) as workers:
        algorithm = on_devices(config, workers.crew)
        algorithm.update(0.0)
        one, other = algorithm.crew.map(weights_of)
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, algorithm.weights.vector.numpy())
        for name in ("exp_avg", "exp_avg_sq", "step"):
            first, second = (moments[name] for moments in algorithm.crew.map(moments_of))
            np.testing.assert_array_equal(first, second)
        state = algorithm.state()
        kept = {name: array.copy() for name, array in state.arrays.items()}
        expected = algorithm.update(0.5)
        end = algorithm.weights.vector.numpy().copy()

        again = on_devices(config, workers.crew)
        again.restore(type(state)(kept, state.values), 1)
        assert again.update(0.5) == expected
        np.testing.assert_array_equal(again.weights.vector.numpy(), end)
        assert again.optimizer.num_steps == algorithm.optimizer.num_steps == 2 * 2 * 4


def test_a_minibatch_that_the_workers_cannot_share_is_refused(cluster: Any) -> None:
    config = small(workers=4, minibatch_size=2, batch_size=512)
    with RayWorkers(4, cluster.address) as workers, pytest.raises(ValueError, match="minibatch_size = 2"):
        on_devices(config, workers.crew)
