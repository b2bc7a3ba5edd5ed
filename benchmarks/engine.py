"""Random play in compiled code beside OpenSpiel's hearts; one thread and two."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyspiel

import catbox_env
from benchmarks.report import Clock, Metric, alternate, metric_of, ratio_of

GAME = "cat_in_the_box_v0"
NUM_ENVS = 512
#: The other games, and the decisions per second that they should reach on one core.
OTHERS = {"cat_te_v0": 2_000_000, "petrify_v0": 1_000_000}


def batch_run(game_id: str, num_steps: int, num_threads: int = 1, **options: Any) -> Callable[[], float]:
    """A run of random legal actions chosen in compiled code, observation and mask written for every decision."""
    vec = catbox_env.make_vec(game_id, NUM_ENVS, seed=0, num_threads=num_threads, **options)
    vec.step_random(1, seed=0)

    def run() -> float:
        clock = Clock()
        with clock:
            vec.step_random(num_steps, seed=1)
        return NUM_ENVS * num_steps / clock.seconds

    return run


def hearts_run(num_games: int) -> Callable[[], float]:
    """A run of OpenSpiel's C++ hearts, stepped from Python with tensor and legal mask for every decision.

    Hearts has no observation tensor, so this uses the information state tensor. The clock stops during the deal (chance
    nodes), although catbox's time includes dealing.
    """
    game = pyspiel.load_game("hearts")
    generator = random.Random(0)

    def run() -> float:
        decisions, clock = 0, Clock()
        for _ in range(num_games):
            state = game.new_initial_state()
            while state.is_chance_node():
                state.apply_action(generator.choice(state.legal_actions()))
            with clock:
                while not state.is_terminal():
                    state.information_state_tensor()
                    state.legal_actions_mask()
                    state.apply_action(generator.choice(state.legal_actions()))
                    decisions += 1
        return decisions / clock.seconds

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players against hearts and against two threads; other numbers of players and games for the record."""
    num_steps = 20 if quick else 10_000
    compared = alternate(
        {
            "one": batch_run(GAME, num_steps, num_players=5),
            "hearts": hearts_run(1 if quick else 100),
            "two": batch_run(GAME, num_steps, num_threads=2, num_players=5),
        },
        repeats=2 if quick else 7,
    )
    players = {
        f"batch engine, random play, {p} players, 1 thread": batch_run(GAME, num_steps, num_players=p)
        for p in (2, 3, 4)
    }
    games = {
        f"the same, {game_id}, default rules": (batch_run(game_id, num_steps), target)
        for game_id, target in OTHERS.items()
    }
    recorded = alternate(players | {name: run for name, (run, _) in games.items()}, repeats=1 if quick else 3)
    return [
        metric_of("batch engine, random play, 5 players, 1 thread", compared["one"], target=4_000_000),
        metric_of("OpenSpiel hearts from Python, tensor and legal mask", compared["hearts"]),
        ratio_of("batch engine / OpenSpiel hearts", compared["one"], compared["hearts"], 40),
        metric_of("batch engine, random play, 5 players, 2 threads", compared["two"]),
        ratio_of("2 threads / 1 thread", compared["two"], compared["one"], 1.7),
        *(metric_of(name, recorded[name]) for name in players),
        *(metric_of(name, recorded[name], target=target) for name, (_, target) in games.items()),
    ]
