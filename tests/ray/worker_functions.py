"""What runs in the processes of workers for the tests. It is imported there, by its name."""

from __future__ import annotations

import os
from typing import Any

import ray

from catbox_agents import Agent


class Deadly(Agent):
    """Ends its process in the first game, and every time after."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        os._exit(7)


class Unlucky(Agent):
    """Fails in the process of one worker alone, after some decisions."""

    decisions = 0

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        type(self).decisions += len(action_masks)
        if (
            type(self).decisions > 400
            and ray.is_initialized()
            and ray.train.get_context().get_world_rank() == 1
        ):
            raise RuntimeError("worker 1 is unlucky")
        return action_masks.argmax(axis=1)
