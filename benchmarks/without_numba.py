"""Moves of agents without compilation, as in a browser, in processes that cannot import Numba."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.report import Metric, metric_of

#: The id of a game, its options, the spec of the agent in all seats.
PLAYED = (
    ("cat_in_the_box_v0", {"num_players": 4}, "heuristic"),
    ("cat_in_the_box_v0", {"num_players": 4}, "best"),
    ("cat_te_v0", {"num_players": 4}, "heuristic"),
    ("cat_te_v0", {"num_players": 4, "region": "laos"}, "best"),
    ("petrify_v0", {"size": 4}, "heuristic"),
    ("petrify_v0", {"size": 4}, "best"),
)

PROGRAM = """
import json, sys, time, warnings
sys.modules["numba"] = None
warnings.simplefilter("ignore", RuntimeWarning)
import catbox_agents, catbox_env

game_id, options, spec, games = json.loads(sys.argv[1])
game = catbox_env.make_game(game_id, **options)
agent = catbox_agents.make(spec, game, seed=0)
moves = 0
for seed in range(games + 1):
    if seed == 1:  # the first game loads what is loaded once
        moves, started = 0, time.perf_counter()
    state = game.new_initial_state(seed=seed)
    while not state.is_terminal():
        state.apply_action(agent.act(state.observation(state.current_player), state.action_mask()))
        moves += 1
print((time.perf_counter() - started) / moves)
"""


def measure(quick: bool) -> list[Metric]:
    """The observation, the agent's decision and the move together; a browser takes two to five times as long."""
    metrics = []
    for game_id, options, spec in PLAYED:
        asked = json.dumps([game_id, options, spec, 1 if quick else 10])
        command = [sys.executable, "-c", PROGRAM, asked]
        moves = [
            1000 * float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(1 if quick else 5)
        ]
        name = f"a move of {spec} without Numba, {game_id}"
        metrics.append(metric_of(name, moves, "ms", 30))
    return metrics
