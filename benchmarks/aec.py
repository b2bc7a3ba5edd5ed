"""`raw_env` and PettingZoo's connect_four, both driven through `last()` and `step()` by the same loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pettingzoo.classic import connect_four_v3

from benchmarks.report import Clock, Metric, alternate, metric_of, ratio_of
from catbox_env import cat_in_the_box_v0


def drive(env: Any, num_decisions: int) -> Callable[[], float]:
    """A run of at least ``num_decisions`` random legal decisions, in whole games; dead steps do not count."""
    generator = random.Random(0)

    def run() -> float:
        decisions, clock = 0, Clock()
        with clock:
            while decisions < num_decisions:
                env.reset(seed=generator.randrange(2**31))
                while env.agents:
                    observation, _, terminated, truncated, _ = env.last()
                    if terminated or truncated:
                        env.step(None)
                        continue
                    legal = observation["action_mask"].nonzero()[0]
                    env.step(int(legal[int(generator.random() * len(legal))]))
                    decisions += 1
        return decisions / clock.seconds

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players against connect_four."""
    num_decisions = 200 if quick else 20_000
    runs = {
        "catbox": drive(cat_in_the_box_v0.raw_env(num_players=5), num_decisions),
        "connect_four": drive(connect_four_v3.raw_env(), num_decisions // 10),
    }
    alternate(runs, repeats=1)  # compiles
    results = alternate(runs, repeats=2 if quick else 7)
    return [
        metric_of("raw_env, 5 players, last() and step()", results["catbox"]),
        metric_of("PettingZoo connect_four, the same loop", results["connect_four"]),
        ratio_of("raw_env / connect_four", results["catbox"], results["connect_four"], 3),
    ]
