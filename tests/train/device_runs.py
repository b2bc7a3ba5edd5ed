"""PPO with its networks on a device of torch, for the tests of it; the fixture ``device`` puts them there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.algorithms.ppo.on_device import OnDevice
from catbox_train.config import TrainConfig


@contextmanager
def ppo_with(config: TrainConfig) -> Iterator[PPO]:
    algorithm = PPO(config, config.make_game())
    try:
        yield algorithm
    finally:
        algorithm.close()


def there(algorithm: PPO) -> OnDevice:
    assert algorithm.on_device is not None
    return algorithm.on_device


def collect(algorithm: PPO) -> None:
    """Play a batch on the device, as an update does."""
    algorithm.begin_update(0)
    algorithm.collect()
