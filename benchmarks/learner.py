"""The vectorised Gymnasium view: a learner that plays at random among agents, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.report import Figure, alternate, figure_of
from catbox_agents.gymnasium import LearnerVectorEnv

GAME, NUM_ENVS, NUM_PLAYERS = "cat_in_the_box_v0", 1024, 5


def learner_run(opponents: str, num_steps: int) -> Callable[[], float]:
    """A run of ``num_steps`` steps; only the time inside ``step`` counts, not the learner's own choice."""
    envs = LearnerVectorEnv(
        NUM_ENVS, GAME, opponents=opponents, learner_seat="random", num_players=NUM_PLAYERS
    )
    generator = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    masks = infos["action_mask"]

    def run() -> float:
        nonlocal masks
        seconds = 0.0
        for _ in range(num_steps):
            actions = (generator.random(masks.shape, np.float32) * masks).argmax(1)
            started = time.perf_counter()
            masks = envs.step(actions)[4]["action_mask"]
            seconds += time.perf_counter() - started
        return NUM_ENVS * num_steps / seconds

    return run


def measure(quick: bool) -> list[Figure]:
    """Five players, 1,024 games."""
    runs = {name: learner_run(name, 5 if quick else 200) for name in ("random", "heuristic")}
    alternate(runs, repeats=1)  # compiles
    results = alternate(runs, repeats=1 if quick else 5)
    return [
        figure_of("Gymnasium view, 5 players, random opponents", results["random"], "/s", 150_000),
        figure_of("Gymnasium view, 5 players, heuristic opponents", results["heuristic"], "/s"),
    ]
