"""Agents for the tests of the arena, in a module that its processes can import."""

from __future__ import annotations

import multiprocessing
import os
import time
from typing import Any, ClassVar

import numpy as np

from catbox_agents import Agent
from catbox_agents.agent import RandomAgent


class Lowest(Agent):
    """The lowest legal id."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks.argmax(axis=1)


class Highest(Agent):
    """The highest legal id."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)


class Middle(Agent):
    """The legal id in the middle; tells its policy."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        legal = np.flatnonzero(action_mask)
        return int(legal[len(legal) // 2])

    def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks / action_masks.sum(axis=1, keepdims=True)


class Drawing(Agent):
    """A random legal action from a generator of its own, whatever its place in the batch."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self._generator = np.random.default_rng(seed)

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return int(self._generator.choice(np.flatnonzero(action_mask)))


class RandomButBids(RandomAgent):
    """As random with the same numbers, but bids the lowest."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        bidding = observations[:, self.game.observation_layout["phase"].offset + 1] == 1
        return np.where(bidding, action_masks.argmax(axis=1), super().act_batch(observations, action_masks))


def starts_with(observation: Any, game: Any) -> bool:
    """Whether the seat holds two cards or more of the highest rank: about half of the deals."""
    part = game.observation_layout["hand"]
    return bool(observation[part.slice][-1] >= 2)


class Faulty(Lowest):
    """Does something wrong in the discard phase of some games."""

    def wrong(self, observations: Any) -> Any:
        phase = self.game.observation_layout["phase"].offset
        some = np.array([starts_with(row, self.game) for row in observations])
        return (observations[:, phase] == 1) & some


class Raising(Faulty):
    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        if self.wrong(observations).any():
            raise RuntimeError("a card too high")
        return super().act_batch(observations, action_masks)


class Illegal(Faulty):
    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        actions = super().act_batch(observations, action_masks)
        return np.where(self.wrong(observations), action_masks.shape[1] - 1, actions)


class IllegalByte(Illegal):
    """The same as bytes without a sign."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return super().act_batch(observations, action_masks).astype(np.uint8)


class Slow(Faulty):
    """Takes 0.1 seconds in these games."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        time.sleep(0.1 * self.wrong(observations).any())
        return super().act_batch(observations, action_masks)


class Hanging(Faulty):
    """Never answers in these games."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        while self.wrong(observations).any():
            time.sleep(0.1)
        return super().act_batch(observations, action_masks)


class Leaving(Faulty):
    """Ends its process in these games."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        if self.wrong(observations).any():
            os._exit(3)
        return super().act_batch(observations, action_masks)


class NeverMade(Lowest):
    """Ends its process where it is made, unless that is the one of the test."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        if multiprocessing.parent_process() is not None:
            os._exit(3)


class BadPolicy(Lowest):
    """Its policy is none."""

    def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return np.full(action_masks.shape, np.nan)


class Sleepy(Lowest):
    """Takes a while for everything, so that an arena can be stopped in the middle."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        time.sleep(0.002)
        return super().act_batch(observations, action_masks)


class Impatient(Lowest):
    """Presses Ctrl-C after some decisions."""

    left: ClassVar[int] = 0

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        Impatient.left -= len(observations)
        if Impatient.left < 0:
            raise KeyboardInterrupt
        return super().act_batch(observations, action_masks)


def spec(agent: type) -> str:
    """The spec of a class of this module."""
    return f"{__name__}:{agent.__name__}"
