"""What a rollout search does: worlds sampled from one observation, and played out by the heuristic."""

from __future__ import annotations

import time

import catbox_agents
import catbox_env
from benchmarks.report import Metric, metric_of

NUM_WORLDS = 4096


def measure(quick: bool) -> list[Metric]:
    """Worlds sampled in the third trick of a game of five, and decisions of the heuristic until their end."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=5)
    agent = catbox_agents.make("heuristic", game)
    state = game.new_initial_state(seed=1)
    for _ in range(20):
        state.apply_action(agent.act(state.observation(state.current_player), state.action_mask()))
    seen = state.observation(state.current_player)
    sampling, playing = [], []
    repeats = 2 if quick else 7
    for number in range(repeats + 1):  # the first one compiles
        began = time.perf_counter()
        worlds = game.sample_states(seen, NUM_WORLDS, seed=number)
        sampled = time.perf_counter()
        before = worlds.save()["records"].view(game.state_dtype)["num_moves"].sum()
        began_to_play = time.perf_counter()
        catbox_agents.play_out(worlds, agent)
        played = time.perf_counter()
        moves = worlds.save()["records"].view(game.state_dtype)["num_moves"].sum() - before
        if number > 0:
            sampling.append(NUM_WORLDS / (sampled - began))
            playing.append(moves / (played - began_to_play))
    return [
        metric_of("sample_states, 5 players, 4,096 worlds, 1 thread", sampling, "/s", 400_000),
        metric_of("decisions of play_out with the heuristic, 5 players", playing, "/s"),
    ]
