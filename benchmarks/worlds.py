"""What a rollout search does: worlds drawn from one observation, played out by the heuristic; and a whole search."""

from __future__ import annotations

import time

import numpy as np

import catbox_agents
import catbox_env
from benchmarks.report import Metric, metric_of

NUM_WORLDS = 4096
#: Decisions that are searched at once, and the worlds of each.
NUM_SEARCHED, SEARCH_WORLDS = 128, 16


def measure(quick: bool) -> list[Metric]:
    """Worlds drawn in the third trick of a game of five, and decisions of the heuristic in worlds played to the end."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=5)
    agent = catbox_agents.make("heuristic", game)
    state = game.new_initial_state(seed=1)
    for _ in range(20):
        state.apply_action(agent.act(state.observation(state.current_player), state.action_mask()))
    seen = state.observation(state.current_player)
    drawing, playing = [], []
    repeats = 2 if quick else 7
    for number in range(repeats + 1):  # the first one compiles
        began = time.perf_counter()
        worlds = game.sample_states(seen, NUM_WORLDS, seed=number)
        drawn = time.perf_counter()
        before = worlds.save()["records"].view(game.state_dtype)["num_moves"].sum()
        began_to_play = time.perf_counter()
        catbox_agents.play_out(worlds, agent)
        played = time.perf_counter()
        moves = worlds.save()["records"].view(game.state_dtype)["num_moves"].sum() - before
        if number > 0:
            drawing.append(NUM_WORLDS / (drawn - began))
            playing.append(moves / (played - began_to_play))
    return [
        metric_of("sample_states, 5 players, 4,096 worlds, 1 thread", drawing, "/s", 400_000),
        metric_of("decisions of play_out with the heuristic, 5 players", playing, "/s"),
        *(search_rate(players, quick) for players in (3, 5)),
    ]


def search_rate(players: int, quick: bool) -> Metric:
    """Rollouts to the end of the round that a search makes with the heuristic, of decisions throughout the round."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=players)
    agent = catbox_agents.make("heuristic", game)
    vec = catbox_env.Vec(game, NUM_SEARCHED, seed=1)
    for move in range(8 * players):  # game i has moved i % (8 * players) times
        rows = np.flatnonzero(np.arange(NUM_SEARCHED) % (8 * players) > move)
        vec.step(agent.act_batch(vec.observation[rows], vec.action_mask[rows]), rows)
    search = catbox_agents.RolloutSearch(game, agent, worlds=SEARCH_WORLDS)
    search.search(vec.observation[:2], vec.action_mask[:2], seed=0)  # compiles
    rates = []
    for seed in range(1 if quick else 5):
        began = time.perf_counter()
        result = search.search(vec.observation, vec.action_mask, seed=seed)
        rates.append(result.visits.sum() / (time.perf_counter() - began))
    return metric_of(
        f"rollouts of RolloutSearch with the heuristic, {players} players, 1 thread", rates, "/s"
    )
