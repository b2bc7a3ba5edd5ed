"""Training updates, for the measurements that time them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.report import Clock
from catbox_train.config import TrainConfig
from catbox_train.registry import load_config
from catbox_train.runs.loop import MakeAlgorithm, make_algorithm_here

GAME, NUM_PLAYERS = "cat_in_the_box_v0", 5


def training_config(**settings: Any) -> Any:
    """PPO with five players and two hidden layers of 256, on the CPU; everything else as by default."""
    own = {"game": GAME, "game_options.num_players": NUM_PLAYERS, "device": "cpu"}
    config = load_config(overrides={**own, **settings})
    return config.resolved(config.make_game())


def training_run(
    config: TrainConfig, num_updates: int, make: MakeAlgorithm = make_algorithm_here
) -> Callable[[], float]:
    """A run of ``num_updates`` updates, each played and learned from: decisions a second, end to end."""
    algorithm = make(config, config.make_game())
    update = 0

    def run() -> float:
        nonlocal update
        played, clock = 0, Clock()
        with clock:
            for _ in range(num_updates):
                decisions, _ = algorithm.update(update, 0.0)
                played, update = played + decisions, update + 1
        return played / clock.seconds

    return run
