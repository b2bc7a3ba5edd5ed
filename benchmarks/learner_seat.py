"""The lightest single-agent view, for a fair comparison with another library's learner.

One seat learns, the others play at random. `catbox/...` of `gymnasium.make` does the same for any agents and any seat,
somewhat slower, and that time would be counted as the other library's.
"""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np

import catbox_env


class LearnerSeat(gymnasium.Env[np.ndarray, np.int64]):
    """Seat 0 of a game; each step runs from its decision to its next one, all rewards in between summed.

    Observation: int8 ``(O,)``. ``action_masks()`` is what sb3-contrib asks for.
    """

    def __init__(self, game_id: str, **options: Any) -> None:
        self.game = catbox_env.make_game(game_id, **options)
        low, high = self.game.observation_layout.bounds()
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.int8)
        self.action_space = gymnasium.spaces.Discrete(self.game.num_actions)
        self._random = random.Random()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._random.seed(seed)
        self._state = self.game.new_initial_state(seed=self._random.getrandbits(32))
        self._play_others()
        return self._state.observation(0), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self._state.apply_action(int(action))
        reward = float(self._state.rewards()[0]) + self._play_others()
        return self._state.observation(0), reward, self._state.is_terminal(), False, {}

    def action_masks(self) -> np.ndarray:
        """What seat 0 may do, ``(A,)``."""
        return self._state.action_mask(0)

    def _play_others(self) -> float:
        """Random play until seat 0 is to move or the game is over; what seat 0 was paid meanwhile."""
        reward = 0.0
        while self._state.current_player > 0:
            self._state.apply_action(self._random.choice(self._state.legal_actions()))
            reward += float(self._state.rewards()[0])
        return reward
