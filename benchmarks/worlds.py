"""What a rollout search does: worlds sampled from one observation, and played out by the heuristic."""

from __future__ import annotations

import catbox_agents
import catbox_env
from benchmarks.report import Clock, Metric, metric_of

NUM_WORLDS = 4096


def num_moves(vec: catbox_env.Vec) -> int:
    """The number of moves in all games together."""
    return int(vec._records["num_moves"].sum())


def measure(quick: bool) -> list[Metric]:
    """Worlds sampled in the third trick of a game of five, and decisions of the heuristic until their end."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=5)
    agent = catbox_agents.make("heuristic", game)
    state = game.new_initial_state(seed=1)
    for _ in range(20):
        state.apply_action(agent.act(state.observation(state.current_player), state.action_mask()))
    seen = state.observation(state.current_player)
    rates = []
    for number in range(3 if quick else 8):
        sampling, playing = Clock(), Clock()
        with sampling:
            worlds = game.sample_states(seen, NUM_WORLDS, seed=number)
        before = num_moves(worlds)
        with playing:
            catbox_agents.play_out(worlds, agent)
        rates.append((NUM_WORLDS / sampling.seconds, (num_moves(worlds) - before) / playing.seconds))
    sampled, played = zip(*rates[1:], strict=True)  # the first one compiles
    return [
        metric_of("sample_states, 5 players, 4,096 worlds, 1 thread", sampled, target=400_000),
        metric_of("decisions of play_out with the heuristic, 5 players", played),
    ]
