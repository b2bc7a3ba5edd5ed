"""Agents that play in small training runs, for the tests of opponents."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from catbox_agents import Agent
from catbox_agents.agent import Seed
from catbox_env import Game
from catbox_train import PPO, Algorithm

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
    """Draws its actions with a generator of its own. ``made`` counts how often one was made."""

    made: ClassVar[int] = 0

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        type(self).made += 1
        self.generator = np.random.default_rng(seed)

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        return np.where(action_masks, self.generator.random(action_masks.shape), -1).argmax(axis=1)


class Seeded(Drawing):
    """Draws its actions from the seeds that it is given for its decisions, so that it is made once."""

    made: ClassVar[int] = 0

    def seed_decisions(self, seeds: NDArray[np.uint64]) -> None:
        self.seeds = seeds

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        legal = np.asarray(action_masks, bool)
        place = self.seeds % legal.sum(axis=1).astype(np.uint64)
        return (legal.cumsum(axis=1) > place[:, None]).argmax(axis=1)


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


class Favourite(Agent):
    """Plays the legal action that comes first in ``order``, and saves it in a file of its own."""

    order: NDArray[np.int64]

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: Any = None
    ) -> NDArray[np.int64]:
        return self.order[np.asarray(action_masks, bool)[:, self.order].argmax(axis=1)]

    def save(self, folder: Path, training: Any) -> None:
        (folder / "favourites.txt").write_text(f"{training['update']}: {self.order.tolist()}")


class Favourites(Algorithm):
    """Learns nothing: it draws another order of favourite actions in each update."""

    def __init__(self, config: Any, game: Game) -> None:
        super().__init__(config, game)
        self.order = np.arange(game.num_actions)

    def update(self, update: int, progress: float) -> tuple[int, dict[str, float]]:
        self.order = np.random.default_rng([self.config.seed, update]).permutation(self.order)
        return 384, {"learning/first": float(self.order[0])}

    def policy(self) -> Any:
        agent = Favourite(self.game)
        agent.order = self.order
        return agent

    def state(self) -> dict[str, np.ndarray]:
        return {"order": self.order}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self.order = state["order"]


class OneProcess(PPO):
    """An algorithm that cannot share its work."""

    processes = False
