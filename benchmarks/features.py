"""`Features.compute`: the features of positions and of their legal actions."""

from __future__ import annotations

from typing import Any

import catbox_agents.features
import catbox_env
from benchmarks.report import Clock, Metric, metric_of

NUM_ENVS = 4096


def measure(quick: bool) -> list[Metric]:
    """Decisions a second in the course of random games, for five players of Cat in the Box and the other games."""
    return [
        measure_game("cat_in_the_box_v0", quick, 1 / 1.5e-6, num_players=5),
        measure_game("cat_te_v0", quick, num_players=4),
        measure_game("petrify_v0", quick),
    ]


def measure_game(game_id: str, quick: bool, target: float | None = None, **options: Any) -> Metric:
    """The mean over positions at every stage of the game; each is measured once in every repeat."""
    vec = catbox_env.make_vec(game_id, NUM_ENVS, seed=0, num_threads=1, **options)
    features = catbox_agents.features.features_of(vec.game)
    assert features is not None
    arrays = features.compute(vec.observation, vec.action_mask)  # compiles
    rates, steps = [], 5 if quick else 60
    for _ in range(2 if quick else 7):
        clock = Clock()
        for _ in range(steps):
            vec.step_random(1, seed=0)
            with clock:
                features.compute(vec.observation, vec.action_mask, *arrays)
        rates.append(NUM_ENVS * steps / clock.seconds)
    players = vec.game.num_players
    return metric_of(f"features, {game_id}, {players} players, 4,096 games, 1 thread", rates, target=target)
