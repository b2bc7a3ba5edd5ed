"""Self-play training with the features of the game and the action head, which are the default, and without them."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import training_run
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

GAME, NUM_PLAYERS, CORES = "cat_in_the_box_v0", 5, 2
#: Speed with features, of that without them, that should be reached.
TARGET = 0.75


def measure(quick: bool) -> list[Metric]:
    """Five players with the default settings."""
    keep_freed_memory()  # as `catbox train` does
    runs = {}
    with ExitStack() as closing:
        for name, given in (("observation alone", False), ("features and action head", True)):
            config = TrainConfig(
                game=GAME,
                game_options={"num_players": NUM_PLAYERS},
                device="cpu",
                workers=CORES,
                num_envs=64 if quick else 512,
                batch_size=2048 if quick else 32_768,
                features=given,
                action_features=given,
            )
            runs[name] = training_run(config.settled(), 1 if quick else 6, closing)
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate(runs, repeats=2 if quick else 7)
    metrics = [metric_of(f"self-play PPO, 5 players, {name}", found, "/s") for name, found in results.items()]
    without, with_features = results.values()
    return [
        *metrics,
        ratio_of("features and action head / observation alone", with_features, without, TARGET),
    ]
