"""Self-play training compared with sb3-contrib's MaskablePPO: same game, hidden layers, batch, minibatch and epochs.
MaskablePPO has a second network for the values.

Only decisions that are learned from count: in self-play those of every seat, in the learner-seat view those of one
seat, whose cost includes playing the other four.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import torch
from catbox_train.algorithms.ppo.options import PPOOptions, ppo_options

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.sb3 import maskable_ppo_run, single_envs
from benchmarks.training import training_config, training_run
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

CORES = 2
#: A minibatch that favours both sides: fewer optimizer steps for the same arithmetic.
LARGE = 4096
ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def sb3_run(config: TrainConfig) -> Callable[[], float]:
    """A run of one batch of MaskablePPO with the sizes of ``config``, torch on all cores."""
    options = ppo_options(config)
    return maskable_ppo_run(
        single_envs(64, opponents="random"),
        config.batch_size,
        CORES,
        learning_rate=options.learning_rate,
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
    )


def measure(quick: bool) -> list[Metric]:
    """Five players, two cores; float32 is what MaskablePPO computes in, auto what `catbox train` does."""
    keep_freed_memory()  # as `catbox train` does
    size = {"workers": CORES, "batch_size": 8192 if quick else TrainConfig().batch_size}
    default = PPOOptions().minibatch_size
    float32 = training_config("cpu", minibatch_size=LARGE, precision="float32", **size)
    configs = {
        "large": training_config("cpu", minibatch_size=LARGE, **size),
        "float32": float32,
        "default": training_config("cpu", minibatch_size=default, **size),
        "plain": training_config(
            "cpu", minibatch_size=default, features=False, action_features=False, **size
        ),
    }
    with ExitStack() as closing:
        runs = {name: training_run(config, 1 if quick else 16, closing) for name, config in configs.items()}
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate({**runs, "sb3": sb3_run(float32)}, repeats=1 if quick else 3)
    name = f"self-play PPO, 5 players, 2 cores, minibatches of {LARGE:,}"
    return [
        metric_of(name, results["large"], target=45_000),
        metric_of("the same with all layers in float32", results["float32"]),
        metric_of(f"the same with the default minibatches of {default:,}", results["default"]),
        metric_of("sb3-contrib MaskablePPO, 1 seat of 5, 2 cores", results["sb3"]),
        ratio_of("with features and action head / without", results["default"], results["plain"], 0.75),
        ratio_of("self-play PPO / MaskablePPO", results["large"], results["sb3"], 10),
        ratio_of("self-play PPO in float32 / MaskablePPO", results["float32"], results["sb3"], 10),
    ]
