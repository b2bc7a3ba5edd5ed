"""MaskablePPO of sb3-contrib, unmodified, on the batch and on 16 single environments of the Gymnasium view.

The same game and opponents, network (SB3's own: two layers of 64), decisions in a batch, minibatches and epochs. A
decision is one of the learner's, played and learned from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from catbox_agents.sb3 import VecEnv
from catbox_env.registration import gymnasium_id

GAME, NUM_PLAYERS = "cat_in_the_box_v0", 5
#: Games of the batch: more of them at a time cost less each, and 32 steps of each make a batch.
NUM_ENVS, NUM_SINGLE = 512, 16
BATCH, MINIBATCH, EPOCHS = 16_384, 2048, 4


def learning_run(env: Any, batch_size: int) -> Callable[[], float]:
    """A run of one batch: decisions a second."""
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=batch_size // env.num_envs,
        batch_size=min(MINIBATCH, batch_size),
        n_epochs=EPOCHS,
        seed=0,
        device="cpu",
    )

    def run() -> float:
        torch.set_num_threads(1)
        started = time.perf_counter()
        model.learn(batch_size, reset_num_timesteps=False)
        return batch_size / (time.perf_counter() - started)

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players, one core."""
    batch_size = 1024 if quick else BATCH
    metrics = []
    for opponents in ("heuristic", "random"):
        options: dict[str, Any] = {
            "num_players": NUM_PLAYERS,
            "opponents": opponents,
            "learner_seat": "random",
        }
        make = partial(gymnasium.make, gymnasium_id(GAME), **options)
        runs = {
            "batch": learning_run(VecEnv(GAME, NUM_ENVS, **options), batch_size),
            "single": learning_run(DummyVecEnv([make] * NUM_SINGLE), batch_size),
        }
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate(runs, repeats=1 if quick else 3)
        among = f"5 players, {opponents} opponents"
        metrics += [
            metric_of(f"MaskablePPO on catbox_agents.sb3.VecEnv, {among}", results["batch"], "/s"),
            metric_of(f"MaskablePPO on DummyVecEnv of {NUM_SINGLE}, {among}", results["single"], "/s"),
            ratio_of(f"VecEnv / DummyVecEnv, {opponents} opponents", results["batch"], results["single"], 4),
        ]
    return metrics
