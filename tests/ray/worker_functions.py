"""What runs in the processes of workers for the tests. It is imported there, by its name."""

from __future__ import annotations

import os
from typing import Any

from catbox_agents import Agent
from catbox_train.ppo import PPO


class Deadly(Agent):
    """Ends its process in the first game, and every time after."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        os._exit(7)


class Unlucky(PPO):
    """Fails in one process, in its third update."""

    def update(self, update: int, progress: float) -> Any:
        if self.learner.group.rank == 1 and update == 2:
            raise LookupError("process 1 is unlucky")
        return super().update(update, progress)
