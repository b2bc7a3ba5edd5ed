"""From `python` to the first step of a batch, in fresh processes with their own compilation cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.report import Clock, Metric, metric_of

PROGRAM = """
import catbox_env
vec = catbox_env.make_vec("cat_in_the_box_v0", num_envs=4096, num_players=5)
vec.reset(seed=0)
vec.step(vec.action_mask.argmax(axis=1))
"""


def start(cache: str) -> float:
    """Seconds of one process, the interpreter's own start and end included."""
    clock = Clock()
    with clock:
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=os.environ | {"NUMBA_CACHE_DIR": cache}, check=True
        )
    return clock.seconds


def measure(quick: bool) -> list[Metric]:
    """Each repeat starts with an empty cache, then runs again with what the first run left."""
    cold, warm = [], []
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(start(cache))
            warm += [start(cache) for _ in range(3)]
    return [
        metric_of("first make_vec, reset, step: empty cache", cold, "s", 20),
        metric_of("first make_vec, reset, step: warm cache", warm, "s", 2),
    ]
