"""Frozen copies of the learner, which play the other seats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from catbox_agents.networks.numpy_network import PolicyNetwork


class Pool:
    """The last K copies of a policy: the first made when the run begins, then one every ``every`` updates.

    ``arrays``: the weights of the copies, (K, ...) float32 each, by the names of a `PolicyNetwork`. After ``update``
    updates there are ``count(update)`` of them; once the pool is full, a new copy replaces the oldest.
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
        """The copies after ``update`` updates."""
        return [
            PolicyNetwork({name: array[k] for name, array in self.arrays.items()}, self._described)
            for k in range(self.count(update))
        ]

    def restore(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Resume from the ``arrays`` of an equal pool."""
        for name, array in arrays.items():
            self.arrays[name][:] = array
