"""Self-play training beside sb3-contrib's MaskablePPO: same game, networks, batch, minibatch and epochs.

A decision is one that is learned from. In self-play every seat's decisions are; through the learner-seat view only
those of one seat are, and playing the other four is part of what it costs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.learner_seat import LearnerSeat
from benchmarks.report import Metric, alternate, metric_of, ratio_of
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.algorithms.ppo.training import Trainer
from catbox_train.config import Precision, TrainConfig
from catbox_train.memory import keep_freed_memory

GAME, NUM_PLAYERS, CORES = "cat_in_the_box_v0", 5, 2
#: A minibatch that favours both sides: fewer steps of the optimizer for the same arithmetic.
LARGE = 4096
ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def settings(precision: Precision, minibatch_size: int, batch_size: int) -> TrainConfig:
    """The defaults of `catbox train` with two hidden layers of 256 and two epochs, whatever they are."""
    return TrainConfig(
        game=GAME,
        game_options={"num_players": NUM_PLAYERS},
        workers=CORES,
        hidden=(256, 256),
        epochs=2,
        batch_size=batch_size,
        minibatch_size=minibatch_size,
        precision=precision,
    )


def catbox_run(config: TrainConfig, num_updates: int, pool: ThreadPoolExecutor) -> Callable[[], float]:
    """A run of ``num_updates`` batches, each played and learned from."""
    # The folder is not used: a trainer writes nothing by itself.
    trainer = Trainer(config, config.make_game(), Path(tempfile.gettempdir()), pool)

    def run() -> float:
        torch.set_num_threads(1)
        started = time.perf_counter()
        for _ in range(num_updates):
            list(pool.map(Worker.collect, trainer.workers))
            trainer.learn(config.learning_rate, config.entropy)
        return num_updates * config.batch_size / (time.perf_counter() - started)

    return run


def sb3_run(config: TrainConfig, num_envs: int) -> Callable[[], float]:
    """A run of one batch of MaskablePPO with the numbers of ``config``, torch on all cores."""
    make = partial(LearnerSeat, GAME, num_players=NUM_PLAYERS)
    model = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([make] * num_envs),
        learning_rate=config.learning_rate,
        n_steps=config.batch_size // num_envs,
        batch_size=config.minibatch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": list(config.hidden), "vf": list(config.hidden)},
            "activation_fn": ACTIVATIONS[config.activation],
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
    default = TrainConfig().minibatch_size
    with ThreadPoolExecutor(CORES, initializer=partial(torch.set_num_threads, 1)) as pool:
        runs = {
            "large": catbox_run(settings("auto", LARGE, batch_size), updates, pool),
            "float32": catbox_run(settings("float32", LARGE, batch_size), updates, pool),
            "default": catbox_run(settings("auto", default, batch_size), updates, pool),
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
        ratio_of("self-play PPO / MaskablePPO", results["large"], results["sb3"], 10),
        ratio_of("self-play PPO in float32 / MaskablePPO", results["float32"], results["sb3"], 10),
    ]
