"""Whole games of every kind by every kind of agent: what they come to must not depend on whether code is compiled."""

from __future__ import annotations

from typing import Any

import catbox_agents
import catbox_env
from catbox_env.cat_in_the_box_v0 import Rules as CatInTheBoxRules
from catbox_env.petrify_v0 import Rules as PetrifyRules

#: A game, its options, and the agents that play it in all seats. Searches are slow uncompiled: they play small games.
PLAYED: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("cat_in_the_box_v0", {"num_players": 2}, ("heuristic", "zoo:cat_in_the_box-2p")),
    ("cat_in_the_box_v0", {"num_players": 5}, ("random", "heuristic", "zoo:cat_in_the_box-5p")),
    (
        "cat_in_the_box_v0",
        {"rules": CatInTheBoxRules.tiny()},
        ("search:worlds=4,beta=1", "ismcts:simulations=8", "pimc:samples=2"),
    ),
    ("cat_te_v0", {"num_players": 3, "region": "laos"}, ("random", "heuristic", "zoo:cat_te-3p-laos")),
    ("cat_te_v0", {"num_players": 2}, ("search:worlds=2", "ismcts:simulations=8", "pimc:samples=2")),
    ("petrify_v0", {"size": 4}, ("random", "heuristic", "zoo:petrify-4x4")),
    ("petrify_v0", {"rules": PetrifyRules.full()}, ("heuristic", "zoo:petrify-full")),
    ("petrify_v0", {"size": 3}, ("search:worlds=2", "ismcts:simulations=8")),
)


def play_all() -> list[list[Any]]:
    """For each game and agent: which it is, the actions, the returns, and everything about the last state."""
    played = []
    for game_id, options, specs in PLAYED:
        game = catbox_env.make_game(game_id, **options)
        for spec in specs:
            agent = catbox_agents.make(spec, game, seed=1)
            state = game.new_initial_state(seed=2)
            actions = []
            while not state.is_terminal():
                seat = state.current_player
                seen = state.observation(seat), state.action_mask(), state.history_observation(seat)
                actions.append(agent.act(*seen))
                state.apply_action(actions[-1])
            played.append([game_id, spec, actions, state.returns(), state.state_vector().tolist()])
    return played
