"""`vec.step` with NumPy actions chosen outside."""

from __future__ import annotations

import numpy as np

import catbox_env
from benchmarks.report import Clock, Metric, metric_of

NUM_ENVS = 4096


def measure(quick: bool) -> list[Metric]:
    """The time inside `vec.step` alone, and of the whole loop with its random legal choice in NumPy."""
    vec = catbox_env.make_vec("cat_in_the_box_v0", NUM_ENVS, seed=0, num_threads=1, num_players=5)
    vec.reset(seed=0)
    vec.step(vec.action_mask.argmax(axis=1))  # compiles
    generator = np.random.default_rng(0)
    stepping, looping = [], []
    num_steps = 5 if quick else 300
    for _ in range(2 if quick else 7):
        inside, whole = Clock(), Clock()
        with whole:
            for _ in range(num_steps):
                # Random keys below the mask: the largest one is a uniformly random legal action.
                keys = generator.random(vec.action_mask.shape, dtype=np.float32) * vec.action_mask
                actions = keys.argmax(axis=1)
                with inside:
                    vec.step(actions)
        looping.append(NUM_ENVS * num_steps / whole.seconds)
        stepping.append(NUM_ENVS * num_steps / inside.seconds)
    return [
        metric_of("vec.step, 4,096 games, 5 players, 1 thread", stepping, target=2_500_000),
        metric_of("the same with the random legal choice in NumPy", looping),
    ]
