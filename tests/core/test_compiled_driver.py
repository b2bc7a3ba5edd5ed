"""A driver of one's own in compiled code plays by the same rules as a single game does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_env.core.compilation import cached_njit
from catbox_env.core.game import Game
from catbox_env.core.rng import new_generators
from catbox_env.core.state import GameState


def make_playout(game: Game) -> Callable[..., Any]:
    """A compiled function that plays one game to its end at random; it writes every view on the way."""
    begin_game, step_game = game.loops.begin_game, game.loops.step_game
    view_game, draw_legal = game.loops.view_game, game.loops.draw_legal

    @cached_njit
    def playout(params, generators, states, log, action_generator, observation, mask, state_vector):
        state = states[0]
        scratch = np.empty(len(mask), np.int64)
        begin_game(params[0], generators[0], state)
        while not state.terminated:
            view_game(params[0], state, observation, mask, state_vector)
            step_game(params[0], generators[0], state, log, draw_legal(mask, action_generator[0], scratch))
        view_game(params[0], state, observation, mask, state_vector)

    return playout


@pytest.mark.parametrize("game_id", ["petrify_v0", "cat_te_v0"])
def test_a_compiled_driver_plays_as_a_single_game_does(game_id: str) -> None:
    game = catbox_env.make_game(game_id, reward="margin")
    seed = np.random.SeedSequence(5)
    generators, action_generator = new_generators([seed]), new_generators([np.random.SeedSequence(6)])
    played = GameState(game, np.zeros(1, game.state_dtype), generators, game.empty_log())
    observation = np.zeros(game.observation_layout.size, np.int8)
    mask, state_vector = np.ones(game.num_actions, np.int8), np.zeros(game.state_layout.size, np.int8)
    make_playout(game)(
        game.params, generators, played.records, played.log, action_generator, observation, mask, state_vector
    )

    state = game.new_initial_state(seed=seed)
    assert len(played.history()) > 5
    for action in played.history():
        state.apply_action(action)
    assert state.is_terminal()
    assert played.serialize() == state.serialize()
    assert played.returns() == state.returns() != [0.0] * game.num_players
    assert not mask.any()
    assert np.array_equal(observation, state.observation(0))
    assert np.array_equal(state_vector, state.state_vector(0))
