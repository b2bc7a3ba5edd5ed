"""The processes that learn together, each with its own share of the games and a copy of the networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from catbox_agents.errors import portable


class Group:
    """One process, alone. ``rank``: its number among the ``size`` processes of the group.

    `catbox_train.ray.ranks.Ranks` is a group of several, on one machine or many.
    """

    rank = 0
    size = 1

    def average(self, tensor: torch.Tensor) -> None:
        """Replace ``tensor`` in every process by the mean over all of them."""

    def together(self, work: Callable[[], None]) -> None:
        """Do ``work``; if it raises in one process, all raise that error, so that none waits for another later."""
        error = None
        try:
            work()
        except Exception as raised:  # noqa: BLE001  (raised below)
            error = raised
        for found in self.gather(error and portable(error)):
            if found is not None:
                raise error or found

    def gather(self, value: Any) -> list[Any]:
        """The ``value`` of each process, the same list in each of them."""
        return [value]
