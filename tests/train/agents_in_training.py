"""Agents that play in small training runs, for the tests of opponents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents import Agent
from catbox_agents.agent import Seed
from catbox_env import Game

HERE = "tests.train.agents_in_training"
HIGHEST, DRAWING, REMEMBERING, ILLEGAL, RAISING = (
    f"{HERE}:{name}" for name in ("Highest", "Drawing", "Remembering", "Illegal", "Raising")
)
#: Decisions after which an agent that fails does so.
FAILS_AFTER = 600


def highest(action_masks: NDArray[Any]) -> NDArray[np.int64]:
    """The legal action (N,) with the highest id in each row."""
    masks = np.asarray(action_masks, bool)
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Highest(Agent):
    """Plays the legal action with the highest id."""

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        return highest(action_masks)


class Drawing(Agent):
    """Draws its actions with a generator of its own."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self.generator = np.random.default_rng(seed)

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        return np.where(action_masks, self.generator.random(action_masks.shape), -1).argmax(axis=1)


class Remembering(Agent):
    """Chooses by the sum of its history."""

    needs_history = True

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        assert histories.shape == (len(observations), self.game.max_game_length, 2)
        legal = np.asarray(action_masks, bool)
        place = histories.sum(axis=(1, 2), dtype=np.int64) % legal.sum(axis=1)
        return (legal.cumsum(axis=1) > place[:, None]).argmax(axis=1)


class Illegal(Highest):
    """Plays an action that is not there once it has made many decisions."""

    decisions = 0

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        type(self).decisions += len(observations)
        return highest(action_masks) + (1000 if type(self).decisions > FAILS_AFTER else 0)


class Raising(Illegal):
    """Raises an error once it has made many decisions."""

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        type(self).decisions += len(observations)
        if type(self).decisions > FAILS_AFTER:
            raise RuntimeError("out of ideas")
        return highest(action_masks)
