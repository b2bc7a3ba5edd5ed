"""Rounds that an arena plays in two processes, with their start and the result: heuristics, random, networks."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import catbox_agents
from benchmarks.report import Metric, metric_of
from benchmarks.search import network_file
from catbox_env import Game, make_game

PROCESSES, NUM_PLAYERS = 2, 5
#: Of two agents, a deal is played 12 times: from five seats in both directions, and once by each agent alone.
NUM_DEALS = {"heuristic": 834, "random": 2502, "network": 834}


def seconds(game: Game, spec: str, num_deals: int) -> tuple[float, int]:
    """The time of an arena of an agent with itself, and how many games it played."""
    began = time.perf_counter()
    result = catbox_agents.run_arena(game, [spec, spec], num_deals, names=["one", "two"], processes=PROCESSES)
    return time.perf_counter() - began, result.games


def measure(quick: bool) -> list[Metric]:
    """Each arena as a user runs it."""
    game = make_game("cat_in_the_box_v0", num_players=NUM_PLAYERS)
    repeats = 1 if quick else 3
    with tempfile.TemporaryDirectory() as folder:
        agents = {"heuristic": "heuristic", "random": "random", "network": network_file(game, Path(folder))}
        for spec in agents.values():
            seconds(game, spec, 10)  # compiles
        times = {
            name: [seconds(game, spec, 32 if quick else NUM_DEALS[name]) for _ in range(repeats)]
            for name, spec in agents.items()
        }
    rates = {name: [games / took for took, games in found] for name, found in times.items()}
    longest = [10_000 * took / games for took, games in times["heuristic"]]
    return [
        metric_of("arena: 10,000 rounds of heuristics, 2 processes", longest, "s", 10, at_most=True),
        metric_of("arena: rounds of random, 2 processes", rates["random"], "/s", 3_000),
        metric_of("arena: rounds of networks of 2 x 256, 2 processes", rates["network"], "/s", 500),
    ]
