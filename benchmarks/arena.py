"""Rounds that an arena plays in two processes, with their start and the result: heuristics, random, networks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import catbox_agents
from benchmarks.report import Clock, Metric, metric_of
from benchmarks.search import network_file
from catbox_env import Game, make_game


def rate(game: Game, spec: str, num_deals: int) -> float:
    """Games a second in an arena of an agent against itself; each deal is played 12 times: from five seats in both
    directions, and once by each agent alone."""
    clock = Clock()
    with clock:
        result = catbox_agents.run_arena(game, [spec, spec], num_deals, names=["one", "two"], processes=2)
    return result.games / clock.seconds


def measure(quick: bool) -> list[Metric]:
    """Each arena as a user runs it."""
    game = make_game("cat_in_the_box_v0", num_players=5)
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        network = network_file(game, Path(folder))
        for spec, num_deals in (("heuristic", 834), ("random", 2502), (network, 834)):
            rate(game, spec, 10)  # compiles
            rates[spec] = [rate(game, spec, 32 if quick else num_deals) for _ in range(1 if quick else 3)]
    longest = [10_000 / found for found in rates["heuristic"]]
    return [
        metric_of("arena: 10,000 rounds of heuristics, 2 processes", longest, "s", 10),
        metric_of("arena: rounds of random, 2 processes", rates["random"], target=3_000),
        metric_of("arena: rounds of networks of 2 x 256, 2 processes", rates[network], target=500),
    ]
