"""MaskablePPO of sb3-contrib, unmodified, on the batch and on 16 single environments of the Gymnasium view.

Same game, opponents, network (SB3's default: two layers of 64), decisions in a batch, minibatches and epochs. Only the
learner's decisions count, played and learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv
from stable_baselines3.common.vec_env import VecEnv as AnyVecEnv

from benchmarks.report import Clock, Metric, alternate, metric_of, ratio_of
from catbox_agents.sb3 import VecEnv
from catbox_env.registration import gymnasium_id

GAME, NUM_PLAYERS = "cat_in_the_box_v0", 5
#: Games of the batch: more of them cost less each; 32 steps of each make a batch.
NUM_ENVS, NUM_SINGLE = 512, 16


def single_envs(num_envs: int, **options: Any) -> DummyVecEnv:
    """Environments of the Gymnasium view, one after the other."""
    make = partial(gymnasium.make, gymnasium_id(GAME), num_players=NUM_PLAYERS, **options)
    return DummyVecEnv([make] * num_envs)


def maskable_ppo_run(
    env: AnyVecEnv, decisions: int, num_threads: int = 1, **options: Any
) -> Callable[[], float]:
    """A run of one batch of MaskablePPO with ``options``: decisions a second."""
    model = MaskablePPO("MlpPolicy", env, n_steps=decisions // env.num_envs, seed=0, device="cpu", **options)

    def run() -> float:
        torch.set_num_threads(num_threads)
        clock = Clock()
        with clock:
            model.learn(decisions, reset_num_timesteps=False)
        return decisions / clock.seconds

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players, one core."""
    decisions = 1024 if quick else 16_384
    settings = {"batch_size": min(2048, decisions), "n_epochs": 4}
    metrics = []
    for opponents in ("heuristic", "random"):
        among: dict[str, Any] = {"opponents": opponents, "learner_seat": "random"}
        batch = VecEnv(GAME, NUM_ENVS, num_players=NUM_PLAYERS, **among)
        runs = {
            "batch": maskable_ppo_run(batch, decisions, **settings),
            "single": maskable_ppo_run(single_envs(NUM_SINGLE, **among), decisions, **settings),
        }
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate(runs, repeats=1 if quick else 3)
        where = f"5 players, {opponents} opponents"
        metrics += [
            metric_of(f"MaskablePPO on catbox_agents.sb3.VecEnv, {where}", results["batch"]),
            metric_of(f"MaskablePPO on DummyVecEnv of {NUM_SINGLE}, {where}", results["single"]),
            ratio_of(f"VecEnv / DummyVecEnv, {opponents} opponents", results["batch"], results["single"], 4),
        ]
    return metrics
