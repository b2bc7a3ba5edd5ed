"""What the examples with toolkits share: the game, its Gymnasium view, and how well a policy plays as an agent.

An example imports this file from its own folder, so it runs from anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch

from catbox_agents import Agent, evaluate
from catbox_env import make_game

GAME = make_game("cat_in_the_box_v0", num_players=3)

#: Options of the Gymnasium view: a table of three, two random players, the learner in a seat drawn for every game.
VIEW: dict[str, Any] = {
    "num_players": 3,
    "opponents": "random",
    "learner_seat": "random",
    "dtype": np.float32,
}

#: From observations (N, O) float32 and action masks (N, A) bool to actions (N,).
Choose = Callable[[torch.Tensor, torch.Tensor], Any]


def amount(default: int) -> int:
    """How long to train: the number on the command line, or ``default``."""
    return next((int(word) for word in sys.argv[1:] if word.isdigit()), default)


def make_envs(num_envs: int, **own: Any) -> gymnasium.vector.VectorEnv:
    """A batch of games in that view; ``own`` options count instead of those."""
    return gymnasium.make_vec("catbox/CatInTheBox-v0", num_envs, "vector_entry_point", **VIEW | own)


class Learned(Agent):
    """An agent that plays what ``choose`` chooses."""

    def __init__(self, choose: Choose) -> None:
        super().__init__(GAME)
        self.choose = choose

    @torch.no_grad()
    def act_batch(self, observations, action_masks, histories=None):  # type: ignore[no-untyped-def]
        return np.asarray(self.choose(torch.from_numpy(observations).float(), torch.from_numpy(action_masks)))


def margin(choose: Choose) -> float:
    """The points a round that ``choose`` makes more than random players, in 500 deals from every seat."""
    return evaluate(GAME, [Learned(choose), "random"], 500, seed=1).standings[0].margin


def report(learner: str, decisions: int, before: float, after: float) -> None:
    """Say what ``learner`` learned: its ``margin`` before and after ``decisions`` decisions."""
    print(f"{learner} made {decisions:,} decisions at a table of three, among random players.")
    print(
        f"Points a round more than theirs: {before:+.2f} before, {after:+.2f} after (500 deals in each seat)"
    )
