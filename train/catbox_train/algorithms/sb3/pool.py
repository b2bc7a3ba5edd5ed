"""Frozen copies of the learner, which play the other seats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from catbox_agents.networks.numpy_network import PolicyNetwork


class Pool:
    """The last K of the copies that are made of a policy: the first when the run begins, then one from time to time.

    ``arrays``: the numbers of the copies, (K, ...) float32 each, by the names of a `PolicyNetwork`. After ``update``
    updates ``count(update)`` of them are there; where the pool is full, a new copy takes the place of the oldest.
    """

    def __init__(self, size: int, every: int, network: PolicyNetwork) -> None:
        self.size, self.every = size, every
        self._described = network.describe()
        self.arrays = {name: np.repeat(array[None], size, axis=0) for name, array in network.arrays().items()}

    def count(self, update: int) -> int:
        """How many copies there are after ``update`` updates."""
        return min(update // self.every + 1, self.size)

    def end_update(self, update: int, network: PolicyNetwork) -> None:
        """Keep ``network``, the policy after ``update`` updates, if it is time."""
        if update % self.every == 0:
            slot = update // self.every % self.size
            for name, array in network.arrays().items():
                self.arrays[name][slot] = array

    def networks(self, update: int) -> list[PolicyNetwork]:
        """The copies that are there after ``update`` updates."""
        return [
            PolicyNetwork({name: array[k] for name, array in self.arrays.items()}, self._described)
            for k in range(self.count(update))
        ]

    def restore(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Take what ``arrays`` of an equal pool were."""
        for name, array in arrays.items():
            self.arrays[name][:] = array
