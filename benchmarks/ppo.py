"""Self-play training compared with sb3-contrib's MaskablePPO: same game, hidden layers, batch, minibatch and epochs.
MaskablePPO has a second network for the values.

Only decisions that are learned from count: in self-play those of every seat, in the learner-seat view those of one
seat, whose cost includes playing the other four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.sb3 import maskable_ppo_run, single_envs
from benchmarks.training import training_config, training_run
from catbox_train.memory import keep_freed_memory

CORES = 1
#: A minibatch that favours both sides: fewer optimizer steps for the same arithmetic.
LARGE = 4096
ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def sb3_run(config: Any) -> Callable[[], float]:
    """A run of one batch of MaskablePPO with the sizes of ``config``."""
    return maskable_ppo_run(
        single_envs(64, opponents="random"),
        8192 if config.games_per_update < 500 else 32_768,
        CORES,
        learning_rate=config.learning_rate,
        batch_size=config.minibatch_size,
        n_epochs=config.update_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_coef,
        ent_coef=config.ent_coef,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": list(config.hidden), "vf": list(config.hidden)},
            "activation_fn": ACTIVATIONS[config.activation],
        },
    )


def measure(quick: bool) -> list[Metric]:
    """Five players, one core; float32 is what MaskablePPO computes in, auto what `catbox train` does."""
    keep_freed_memory()  # as `catbox train` does
    torch.set_num_threads(1)
    size = {"games_per_update": 230 if quick else "auto", "workers": 1}
    float32 = training_config(minibatch_size=LARGE, precision="float32", **size)
    configs = {
        "large": training_config(minibatch_size=LARGE, **size),
        "float32": float32,
        "default": training_config(**size),
        "plain": training_config(features=False, action_features=False, **size),
    }
    runs = {name: training_run(config, 1 if quick else 16) for name, config in configs.items()}
    alternate(runs, repeats=1)  # compiles
    results = alternate({**runs, "sb3": sb3_run(float32)}, repeats=1 if quick else 3)
    name = f"self-play PPO, 5 players, 1 core, minibatches of {LARGE:,}"
    default = configs["default"].minibatch_size
    return [
        metric_of(name, results["large"], target=45_000),
        metric_of("the same with all layers in float32", results["float32"]),
        metric_of(f"the same with the default minibatches of {default:,}", results["default"]),
        metric_of("sb3-contrib MaskablePPO, 1 seat of 5, 1 core", results["sb3"]),
        ratio_of("with features and action head / without", results["default"], results["plain"], 0.75),
        ratio_of("self-play PPO / MaskablePPO", results["large"], results["sb3"], 10),
        ratio_of("self-play PPO in float32 / MaskablePPO", results["float32"], results["sb3"], 10),
    ]
