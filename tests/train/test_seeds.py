"""One seed for several purposes: no run learns from what an evaluation, a batch or a data set deals with any seed."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.random import SeedSequence

import catbox_agents
from catbox_agents import DEAL_SETS
from catbox_agents.dataset.game_data import play_games
from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import Vec
from catbox_env.adapters.aec import AECGame
from catbox_env.core import rng
from catbox_env.core.rng import new_generators
from catbox_train.networks import make_network
from catbox_train.rollout import Rollout
from catbox_train.runs.report import evaluate_policy
from tests.train.ppo_runs import small
from tests.train.test_rollout import choose

#: Some follow each other, as the numbers of updates do.
SEEDS = (0, 1, 2, 3, 2**32 + 1)
CONFIG = small(games_per_update=12, evaluate_deals=10, eval_opponents=["random"])
GAME = CONFIG.make_game()
GAMES = 12
OTHER = 99
STATE = GAME.new_initial_state(OTHER)
SEEN = STATE.observation(0)


def learn(seed: int) -> None:
    config = CONFIG.replace(seed=seed).resolved(GAME)
    rollout = Rollout(config, GAME, NetworkInputs(GAME, use_features=False, use_action_features=False))
    network = make_network(config, GAME)
    for update in range(4):
        rollout.play(update, network, choose)


def evaluate(seed: int) -> None:
    catbox_agents.evaluate(GAME, ["random", "random"], GAMES, seed=seed, names=["a", "b"])


def evaluate_in_training(seed: int) -> None:
    policy: Any = catbox_agents.make("random", GAME, 0)
    evaluate_policy(CONFIG.replace(seed=seed), GAME, policy, 0, lambda text: None)


def see_as_gymnasium(seed: int) -> None:
    options: dict[str, Any] = {"num_envs": GAMES, "vectorization_mode": "vector_entry_point"}
    gymnasium.make_vec("catbox_env:catbox/CatInTheBox-v0", num_players=3, **options).reset(seed=seed)


def search(seed: int) -> None:
    agent = catbox_agents.make("search:worlds=4,beta=0", GAME, seed)
    agent.act(SEEN, STATE.action_mask())


PURPOSES: dict[str, Callable[[int], Any]] = {
    "training": learn,
    "evaluation": evaluate,
    "evaluation in training": evaluate_in_training,
    "data set": lambda seed: list(play_games(GAME, ["random"], GAMES, seed).chunks),
    "deal sets": lambda seed: [evaluate(number) for number in DEAL_SETS.values()],
    "search": search,
    "batch": lambda seed: Vec(GAME, GAMES, seed),
    "game": lambda seed: AECGame("cat_in_the_box_v0", num_players=3).reset(seed),
    "Gymnasium": see_as_gymnasium,
    "random actions": lambda seed: Vec(GAME, GAMES, OTHER).step_random(1, seed),
    "worlds": lambda seed: GAME.sample_states(SEEN, GAMES, seed),
}


def test_every_purpose_has_streams_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seeded: dict[str, set[bytes]] = defaultdict(set)
    purpose: list[str] = []

    def spy(seeds: list[SeedSequence]) -> np.ndarray:
        generators = new_generators(seeds)
        seeded[purpose[-1]].update(generator.tobytes() for generator in generators)
        return generators

    here = sys.modules[__name__]
    for module in [*sys.modules.values()]:  # wherever it was imported
        if getattr(module, "new_generators", None) is new_generators and module not in (rng, here):
            monkeypatch.setattr(module, "new_generators", spy)
    for name, use in PURPOSES.items():
        purpose.append(name)
        for seed in SEEDS:
            use(seed)
    assert len(seeded["training"]) >= len(SEEDS) * 4 * GAMES
    assert all(len(seeds) >= len(SEEDS) for seeds in seeded.values())
    shared = {pair: seeded[pair[0]] & seeded[pair[1]] for pair in combinations(PURPOSES, 2)}
    assert not [pair for pair, seeds in shared.items() if seeds]
