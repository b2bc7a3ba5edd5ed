"""The agent that plays what a rollout search chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed
from catbox_agents.search.rollout import MAX_GAMES, RolloutSearch
from catbox_agents.specs import AgentSpec
from catbox_env import Game
from catbox_env.core.rng import seed_sequence


class RolloutSearchAgent(Agent):
    """Plays the action that a `RolloutSearch` chooses; the arguments after ``seed`` are those of the search."""

    def __init__(
        self,
        game: Game,
        seed: Seed = None,
        policy: AgentSpec | None = None,
        worlds: int = 64,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
    ) -> None:
        super().__init__(game, seed)
        self.search = RolloutSearch(game, policy, worlds, max_games, num_threads)
        self._seeds = np.random.default_rng(seed_sequence(seed))

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        seed = int.from_bytes(self._seeds.bytes(16), "little")
        return self.search.search(observations, action_masks, seed).actions
