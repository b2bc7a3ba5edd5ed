"""The vectorised Gymnasium view: a learner that plays at random among agents, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Metric, alternate, metric_of
from catbox_agents import Agent, make
from catbox_agents.gymnasium import LearnerVectorEnv
from catbox_env import make_game

GAME, NUM_ENVS, NUM_PLAYERS = "cat_in_the_box_v0", 1024, 5


class Timed(Agent):
    """Another agent, and the ``seconds`` that its choices took."""

    def __init__(self, spec: str) -> None:
        super().__init__(make_game(GAME, num_players=NUM_PLAYERS))
        self.agent, self.seconds = make(spec, self.game, seed=0), 0.0

    def act_batch(self, *seen: Any, **named: Any) -> NDArray[np.int64]:
        started = time.perf_counter()
        actions = self.agent.act_batch(*seen, **named)
        self.seconds += time.perf_counter() - started
        return actions


def learner_run(opponent: Timed, num_steps: int, shares: list[float]) -> Callable[[], float]:
    """A run of ``num_steps`` steps; only the time inside ``step`` counts, not the learner's own choice.

    Each run adds to ``shares`` what share of that time the opponent's choices took.
    """
    envs = LearnerVectorEnv(
        NUM_ENVS, GAME, opponents=opponent, learner_seat="random", num_players=NUM_PLAYERS
    )
    generator = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    masks = infos["action_mask"]

    def run() -> float:
        nonlocal masks
        seconds, opponent.seconds = 0.0, 0.0
        for _ in range(num_steps):
            actions = (generator.random(masks.shape, np.float32) * masks).argmax(1)
            started = time.perf_counter()
            masks = envs.step(actions)[4]["action_mask"]
            seconds += time.perf_counter() - started
        shares.append(opponent.seconds / seconds)
        return NUM_ENVS * num_steps / seconds

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players, 1,024 games."""
    shares: dict[str, list[float]] = {"random": [], "heuristic": []}
    runs = {name: learner_run(Timed(name), 5 if quick else 200, shares[name]) for name in shares}
    alternate(runs, repeats=1)  # compiles
    for taken in shares.values():
        taken.clear()
    results = alternate(runs, repeats=1 if quick else 5)
    return [
        metric_of("Gymnasium view, 5 players, random opponents", results["random"], "/s", 150_000),
        metric_of("share of that time in the opponents' choices", shares["random"], "%"),
        metric_of("Gymnasium view, 5 players, heuristic opponents", results["heuristic"], "/s"),
        metric_of("share of that time in the opponents' choices", shares["heuristic"], "%"),
    ]
