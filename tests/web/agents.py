"""An opponent that fails, for the tests: ``tests.web.agents:Failing``."""

from __future__ import annotations

from typing import Any

from catbox_agents import Agent


class Failing(Agent):
    """Raises an error at its first move."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        raise RuntimeError("the cat has left the box")
