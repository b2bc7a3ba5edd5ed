"""Pairs of positions that one seat cannot tell apart, for tests that nothing hidden is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from catbox_env import Game, GameState
from catbox_env.core.worlds import sample_with_history

Position = tuple[GameState, Any]


def alike(state: GameState, seat: int, seed: int) -> GameState:
    """A state in which ``seat`` has seen and done the same: another deal and other hidden actions in this round."""
    game = state.game
    seen, history = state.observation(seat)[None], state.history_observation(seat)
    world = sample_with_history(game, seen, history, np.random.SeedSequence(seed), seat)
    deals = [game._read_deal(records[0]) for records in state._round_starts]
    earlier = len(state.history()) - len(world.history())
    return game.replay([*deals[:-1], game.deal_of(world)], [*state.history()[:earlier], *world.history()])


def hidden_pairs(game: Game, seeds: int = 12) -> Iterator[tuple[int, Position, Position]]:
    """For each seed the seat to move, and two positions, each with its deal, that look alike to it.

    Nearly all differ in what is hidden; in the end it is checked that more than two thirds do.
    """
    rng = np.random.default_rng(1)
    differ = 0
    for seed in range(seeds):
        state = game.new_initial_state(seed=seed)
        deal = game.deal_of(state)
        for _ in range(int(rng.integers(3, 15))):
            after = state.clone()
            after.apply_action(int(rng.choice(state.legal_actions())))
            if after.is_terminal():
                break
            state = after
        seat = state.current_player
        other = alike(state, seat, seed)
        differ += not np.array_equal(other.state_vector(), state.state_vector())
        yield seat, (state, deal), (other, game.deal_of(other))
    assert differ > 2 * seeds / 3
