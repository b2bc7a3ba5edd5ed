"""How strong an opponent is, in a word: mixtures of the agents at hand, for every game.

| level | how it plays |
|---|---|
| ``easy`` | every other action, drawn anew each time, is random; the others are those of the hand-written player |
| ``normal`` | the hand-written player (``heuristic``; ``random`` in a game without one) |
| ``hard`` | a search in 64 worlds, in which the strongest agent that needs no search (``best``) plays on |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed
from catbox_agents.random_agent import RandomAgent, SamplingAgent, sample_actions
from catbox_agents.specs import best_agent, hand_written_agent, make
from catbox_env import Game

#: How often ``easy`` plays at random.
EASY_RANDOM = 0.5
#: Worlds that ``hard`` tries for a decision. A number, and no time, so that it plays alike on every machine.
HARD_WORLDS = 64


class EasyAgent(SamplingAgent):
    """The level ``easy``: plays as the hand-written player does, or at random, as likely the one as the other."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._random = RandomAgent(game, 0)
        self._player = make(hand_written_agent(game.id), game, 0)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        policies = self.policy_batch(observations, action_masks)
        return sample_actions(policies, self.uniforms(len(policies)))

    def policy_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.float64]:
        """(N, A) float64."""
        policies = EASY_RANDOM * self._random.policy_batch(observations, action_masks)
        chosen = self._player.act_batch(observations, action_masks)
        policies[np.arange(len(policies)), chosen] += 1 - EASY_RANDOM
        return policies


def level_spec(level: str, game: Game) -> str:
    """The spec for which ``level``, one of the table, stands in ``game``."""
    return {
        "easy": f"{__name__}:{EasyAgent.__name__}",
        "normal": hand_written_agent(game.id),
        "hard": f"search:worlds={HARD_WORLDS},policy={best_agent(game)}",
    }[level]
