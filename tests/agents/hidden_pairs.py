"""Pairs of positions that one seat cannot tell apart, for tests that nothing hidden is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from catbox_env import Game, GameState
from catbox_env.core.past import sample_past

Position = tuple[GameState, Any]


def hidden_pairs(game: Game, seeds: int = 12) -> Iterator[tuple[int, Position, Position]]:
    """For each seed the seat to move, and two positions, each with its deal, that look alike to it.

    Nearly all differ in what is hidden; in the end it is checked that more than two thirds do.
    """
    rng = np.random.default_rng(1)
    differ = 0
    for seed in range(seeds):
        state = game.new_initial_state(seed=seed)
        deal = game.deal_of(state.record)
        for _ in range(int(rng.integers(3, 15))):
            after = state.clone()
            after.apply_action(int(rng.choice(state.legal_actions())))
            if after.is_terminal():
                break
            state = after
        seat = state.current_player
        seen, history = state.observation(seat)[None], state.history_observation(seat)
        world, (only,) = sample_past(game, seen, seed, history, seat=seat)
        differ += not np.array_equal(world.state_vector(), state.state_vector())
        yield seat, (state, deal), (world, only.deal)
    assert differ > 2 * seeds / 3
