"""The Gymnasium view, one game and many: a learner among agents, on one core.

Times ``step`` and ``reset``, not the learner's own choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Clock, Metric, alternate, metric_of
from catbox_agents import Agent, make
from catbox_agents.learners.gymnasium import LearnerVectorEnv
from catbox_env import make_game
from catbox_env.registration import gymnasium_id

GAME, NUM_ENVS, NUM_PLAYERS = "cat_in_the_box_v0", 1024, 5


class Timed(Agent):
    """Wraps an agent and measures the time of its choices."""

    def __init__(self, spec: str) -> None:
        super().__init__(make_game(GAME, num_players=NUM_PLAYERS))
        self.agent, self.clock = make(spec, self.game, seed=0), Clock()

    def act_batch(self, *seen: Any, **named: Any) -> NDArray[np.int64]:
        with self.clock:
            return self.agent.act_batch(*seen, **named)


def single_run(num_steps: int) -> Callable[[], float]:
    """A run of ``num_steps`` steps of the environment that `gymnasium.make` gives, among ``random``."""
    env = gymnasium.make(
        gymnasium_id(GAME), opponents="random", learner_seat="random", num_players=NUM_PLAYERS
    )
    info = env.reset(seed=0)[1]

    def run() -> float:
        nonlocal info
        clock = Clock()
        for _ in range(num_steps):
            action = int(info["action_mask"].argmax())
            with clock:
                _, _, over, _, info = env.step(action)
                if over:
                    info = env.reset()[1]
        return num_steps / clock.seconds

    return run


def batch_run(opponent: Timed | str, num_steps: int, shares: list[float]) -> Callable[[], float]:
    """A run of ``num_steps`` steps of 1,024 games.

    With a timed opponent, each run appends the share of its time that the opponent's choices took to ``shares``.
    """
    envs = LearnerVectorEnv(
        NUM_ENVS, GAME, opponents=opponent, learner_seat="random", num_players=NUM_PLAYERS
    )
    generator = np.random.default_rng(0)
    masks = envs.reset(seed=0)[1]["action_mask"]

    def run() -> float:
        nonlocal masks
        clock = Clock()
        before = opponent.clock.seconds if isinstance(opponent, Timed) else 0.0
        for _ in range(num_steps):
            actions = (generator.random(masks.shape, np.float32) * masks).argmax(1)
            with clock:
                masks = envs.step(actions)[4]["action_mask"]
        if isinstance(opponent, Timed):
            shares.append((opponent.clock.seconds - before) / clock.seconds)
        return NUM_ENVS * num_steps / clock.seconds

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players; one game, and 1,024 games."""
    num_steps = 5 if quick else 200
    shares: list[float] = []
    runs = {
        "single": single_run(100 * num_steps),
        "random": batch_run("random", num_steps, []),
        "heuristic": batch_run(Timed("heuristic"), num_steps, shares),
    }
    alternate(runs, repeats=1)  # compiles
    results = alternate(runs, repeats=1 if quick else 5)
    view = "Gymnasium view, 5 players"
    return [
        metric_of(f"{view}, one game, random opponents", results["single"], target=20_000),
        metric_of(f"{view}, 1,024 games, random opponents", results["random"], target=150_000),
        metric_of(f"{view}, 1,024 games, heuristic opponents", results["heuristic"]),
        metric_of("share of that time in the opponents' choices", shares[1:], "%"),
    ]
