"""Random play in compiled code beside OpenSpiel's hearts; one thread and two."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pyspiel

import catbox_env
from benchmarks.report import Metric, alternate, metric_of, ratio_of

GAME = "cat_in_the_box_v0"
NUM_ENVS = 512
#: Decisions per second that the other games are to reach on one core.
TARGETS = {"cat_te_v0": 2_000_000, "petrify_v0": 1_000_000}


def batch_run(
    num_players: int | None, num_threads: int, num_steps: int, game: str = GAME
) -> Callable[[], float]:
    """A run of random legal actions chosen in compiled code, observation and mask written for every decision."""
    options: dict[str, Any] = {} if num_players is None else {"num_players": num_players}
    vec = catbox_env.make_vec(game, NUM_ENVS, seed=0, num_threads=num_threads, **options)
    vec.step_random(1, seed=0)

    def run() -> float:
        started = time.perf_counter()
        vec.step_random(num_steps, seed=1)
        return NUM_ENVS * num_steps / (time.perf_counter() - started)

    return run


def hearts_run(num_games: int) -> Callable[[], float]:
    """A run of OpenSpiel's C++ hearts, stepped from Python with tensor and legal mask for every decision.

    Hearts has no observation tensor, so it is the information state tensor. The clock stands still during the deal
    (chance nodes), although catbox's time includes dealing.
    """
    game = pyspiel.load_game("hearts")
    generator = random.Random(0)

    def run() -> float:
        decisions, seconds = 0, 0.0
        for _ in range(num_games):
            state = game.new_initial_state()
            while state.is_chance_node():
                state.apply_action(generator.choice(state.legal_actions()))
            started = time.perf_counter()
            while not state.is_terminal():
                state.information_state_tensor()
                state.legal_actions_mask()
                state.apply_action(generator.choice(state.legal_actions()))
                decisions += 1
            seconds += time.perf_counter() - started
        return decisions / seconds

    return run


def measure(quick: bool) -> list[Metric]:
    """Five players against hearts and against two threads; the other player counts for the record."""
    num_steps = 20 if quick else 10_000
    results = alternate(
        {
            "one": batch_run(5, 1, num_steps),
            "hearts": hearts_run(1 if quick else 100),
            "two": batch_run(5, 2, num_steps),
        },
        repeats=2 if quick else 7,
    )
    others = alternate(
        {
            **{str(p): batch_run(p, 1, num_steps) for p in (2, 3, 4)},
            **{
                game_id: batch_run(None, 1, num_steps, game_id)
                for game_id in catbox_env.GAMES
                if game_id != GAME
            },
        },
        repeats=1 if quick else 3,
    )
    return [
        metric_of("batch engine, random play, 5 players, 1 thread", results["one"], "/s", 4_000_000),
        metric_of("OpenSpiel hearts from Python, tensor and legal mask", results["hearts"], "/s"),
        ratio_of("batch engine / OpenSpiel hearts", results["one"], results["hearts"], 40),
        metric_of("batch engine, random play, 5 players, 2 threads", results["two"], "/s"),
        ratio_of("2 threads / 1 thread", results["two"], results["one"], 1.7),
        *(
            metric_of(f"batch engine, random play, {p} players, 1 thread", others[str(p)], "/s")
            for p in (2, 3, 4)
        ),
        *(
            metric_of(f"the same, {game_id}, default rules", others[game_id], "/s", TARGETS.get(game_id))
            for game_id in catbox_env.GAMES
            if game_id != GAME
        ),
    ]
