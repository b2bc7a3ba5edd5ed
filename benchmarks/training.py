"""Training batches, for the measurements that time them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from catbox_train.algorithms.ppo.ppo import PPO

from benchmarks.report import Clock
from catbox_train.algorithm import Algorithm
from catbox_train.config import TrainConfig

GAME, NUM_PLAYERS = "cat_in_the_box_v0", 5


def training_config(device: str, **settings: Any) -> TrainConfig:
    """Five players, two hidden layers of 256 and two epochs; everything else as by default in `catbox train`."""
    return TrainConfig(
        game=GAME,
        game_options={"num_players": NUM_PLAYERS},
        device=device,
        **{"hidden": (256, 256), "epochs": 2, **settings},
    ).resolved()


def training_run(
    config: TrainConfig, num_updates: int, closing: ExitStack, kind: type[Algorithm] = PPO
) -> Callable[[], float]:
    """A run of ``num_updates`` batches, each played and learned from: decisions a second, end to end.

    ``closing`` stops its workers.
    """
    algorithm = kind(config, config.make_game())
    closing.callback(algorithm.close)
    return updates_run(algorithm, num_updates)


def updates_run(algorithm: Algorithm, num_updates: int) -> Callable[[], float]:
    """The same for an existing algorithm."""

    def run() -> float:
        clock = Clock()
        with clock:
            for _ in range(num_updates):
                algorithm.update(progress=0)
        return num_updates * algorithm.config.batch_size / clock.seconds

    return run
