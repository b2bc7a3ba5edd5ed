"""How long training takes until the network is level with the heuristic: one network among heuristics does no worse
than they do, and one heuristic among networks no better.

Each run is that of the preset ``quick``, evaluated every two seconds of playing and learning; the evaluations
themselves do not count.
"""

from __future__ import annotations

from contextlib import closing
from typing import cast

import torch

import catbox_agents
from benchmarks.report import Clock, Metric, metric_of
from catbox_env import Game
from catbox_train.algorithm import Algorithm
from catbox_train.memory import keep_freed_memory
from catbox_train.registry import load_config
from catbox_train.runs.loop import make_algorithm_here

PLAYERS = (5, 3)
SEEDS = (1, 2, 3)
#: Seconds between two evaluations, deals of each, and seconds after which a run is abandoned.
INTERVAL, DEALS, LONGEST = 2.0, 400, 300.0


def margins(game: Game, algorithm: Algorithm) -> tuple[float, float]:
    """The margins of one network among heuristics and of one heuristic among networks."""
    own = cast(catbox_agents.Agent, algorithm.policy())
    among = catbox_agents.evaluate(game, [own, "heuristic"], DEALS)
    against = catbox_agents.evaluate(game, ["heuristic", own], DEALS)
    return among.standings[0].margin, against.standings[0].margin


def seconds_to_level(
    players: int,
    seed: int,
    longest: float = LONGEST,
    preset: str = "quick",
    device: str = "cpu",
    interval: float = INTERVAL,
) -> float:
    """Seconds of playing and learning; ``longest`` for a run that is not level by then."""
    overrides = {"game_options.num_players": players, "seed": seed, "device": device}
    config = load_config(preset, overrides=overrides)
    game, clock, due, decisions, update = config.make_game(), Clock(), interval, 0, 0
    config = config.resolved(game)
    with closing(make_algorithm_here(config, game)) as algorithm:
        while decisions < config.total_decisions:
            with clock:
                played, _ = algorithm.update(update, decisions / config.total_decisions)
            decisions, update = decisions + played, update + 1
            if clock.seconds < min(due, longest):
                continue
            due += interval
            among, against = margins(game, algorithm)
            print(
                f"level: {players} players, seed {seed}, {clock.seconds:.1f} s: {among:+.2f}, {against:+.2f}"
            )
            if among >= 0 >= against:
                return clock.seconds
            if clock.seconds >= longest:
                break
    return longest


def measure(quick: bool) -> list[Metric]:
    """Three seeds each; a short run has one seed and one evaluation."""
    keep_freed_memory()  # as `catbox train` does
    torch.set_num_threads(1)
    metrics = []
    for players in PLAYERS:
        taken = [
            seconds_to_level(players, seed, INTERVAL if quick else LONGEST)
            for seed in SEEDS[: 1 if quick else 3]
        ]
        name = f"PPO until level with the heuristic, {players} players, {len(taken)} seeds"
        metrics.append(metric_of(name, taken, "s"))
    return metrics
