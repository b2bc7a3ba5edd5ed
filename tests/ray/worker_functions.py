"""What runs in the processes of workers for the tests. It is imported there, by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from catbox_agents import Agent
from catbox_train.ppo import PPO


class Deadly(Agent):
    """Ends its process in the first game, and every time after."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        os._exit(7)


class Held(PPO):
    """Waits in its fifth update while there is the file that the variable ``HELD`` names, if any."""

    def update(self, update: int, progress: float) -> Any:
        while update == 4 and self.learner.group.rank == 0 and Path(os.environ.get("HELD", "")).is_file():
            time.sleep(0.02)
        return super().update(update, progress)


class Unlucky(PPO):
    """Fails in one process, in its third update."""

    def update(self, update: int, progress: float) -> Any:
        if self.learner.group.rank == 1 and update == 2:
            raise LookupError("process 1 is unlucky")
        return super().update(update, progress)
