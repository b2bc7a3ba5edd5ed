"""Self-play training beside sb3-contrib's MaskablePPO: same game, networks, batch, minibatch and epochs.

A decision is one that is learned from. In self-play every seat's decisions are; through the learner-seat view only
those of one seat are, and playing the other four is part of what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import GAME, NUM_PLAYERS, training_config, training_run
from catbox_env.registration import gymnasium_id
from catbox_train.algorithms.ppo.options import PPOOptions, ppo_options
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

CORES = 2
#: A minibatch that favours both sides: fewer steps of the optimizer for the same arithmetic.
LARGE = 4096
ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def settings(precision: str, minibatch_size: int, batch_size: int, features: bool = True) -> TrainConfig:
    """Two workers; ``features``: whether the networks have features and an action head."""
    return training_config(
        "cpu",
        workers=CORES,
        batch_size=batch_size,
        minibatch_size=minibatch_size,
        precision=precision,
        features=features,
        action_features=features,
    )


def sb3_run(config: TrainConfig, num_envs: int) -> Callable[[], float]:
    """A run of one batch of MaskablePPO with the numbers of ``config``, torch on all cores."""
    options = ppo_options(config)
    make = partial(gymnasium.make, gymnasium_id(GAME), num_players=NUM_PLAYERS, opponents="random")
    model = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([make] * num_envs),
        learning_rate=options.learning_rate,
        n_steps=config.batch_size // num_envs,
        batch_size=options.minibatch_size,
        n_epochs=options.epochs,
        gamma=options.gamma,
        gae_lambda=options.gae_lambda,
        clip_range=options.clip,
        ent_coef=options.entropy,
        max_grad_norm=options.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": list(options.hidden), "vf": list(options.hidden)},
            "activation_fn": ACTIVATIONS[options.activation],
        },
        seed=0,
        device="cpu",
    )

    def run() -> float:
        torch.set_num_threads(CORES)
        started = time.perf_counter()
        model.learn(config.batch_size, reset_num_timesteps=False)
        return config.batch_size / (time.perf_counter() - started)

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players, two cores; float32 is what MaskablePPO computes in, auto what `catbox train` does."""
    keep_freed_memory()  # as `catbox train` does
    batch_size = 8192 if quick else TrainConfig().batch_size
    updates = 1 if quick else 16
    default = PPOOptions().minibatch_size
    with ExitStack() as closing:
        runs = {
            "large": training_run(settings("auto", LARGE, batch_size), updates, closing),
            "float32": training_run(settings("float32", LARGE, batch_size), updates, closing),
            "default": training_run(settings("auto", default, batch_size), updates, closing),
            "plain": training_run(settings("auto", default, batch_size, features=False), updates, closing),
        }
        for run in runs.values():
            run()  # compiles, and plays past the first games, which all began together
        runs["sb3"] = sb3_run(settings("float32", LARGE, batch_size), num_envs=64)
        results = alternate(runs, repeats=1 if quick else 3)
    name = f"self-play PPO, 5 players, 2 cores, minibatches of {LARGE:,}"
    return [
        metric_of(name, results["large"], "/s", 45_000),
        metric_of("the same with hidden layers in float32", results["float32"], "/s"),
        metric_of(f"the same with the default minibatches of {default:,}", results["default"], "/s"),
        metric_of("sb3-contrib MaskablePPO, 1 seat of 5, 2 cores", results["sb3"], "/s"),
        ratio_of("with features and action head / without", results["default"], results["plain"], 0.75),
        ratio_of("self-play PPO / MaskablePPO", results["large"], results["sb3"], 10),
        ratio_of("self-play PPO in float32 / MaskablePPO", results["float32"], results["sb3"], 10),
    ]
