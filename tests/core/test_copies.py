"""Copies of everything that holds games play on exactly as the original does and share no memory with it."""

import copy

import numpy as np
import pytest
from pettingzoo import AECEnv

import catbox_env
from catbox_env import make_game, make_vec
from catbox_env.adapters.aec import env as wrapped_env
from catbox_env.core.conformance import check_copies_play_on


def nth_legal(mask: np.ndarray, number: int) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[number % len(legal)])


def take_turn(env: AECEnv, number: int) -> None:
    if env.agents:
        over = env.terminations[env.agent_selection]
        env.step(None if over else nth_legal(env.last()[0]["action_mask"], number))
    else:
        env.reset()


def what_agents_see(env: AECEnv) -> dict[str, np.ndarray]:
    seen = {
        f"{agent} {name}": array
        for agent in env.possible_agents
        for name, array in env.observe(agent).items()
    }
    attributes = {
        name: np.array(repr(getattr(env, name))) for name in ("rewards", "infos", "terminations", "agents")
    }
    return seen | attributes | {"state": env.state(), "mover": np.array(env.agent_selection)}


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_a_copied_environment_plays_on_into_the_next_game(game_id: str) -> None:
    env = wrapped_env(game_id, history=True)
    env.reset(seed=3)
    for number in range(5):
        take_turn(env, number)
    check_copies_play_on(env, take_turn, what_agents_see, num_moves=env.unwrapped.game.max_game_length + 8)


def test_the_statistics_of_a_batch_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        make_vec("cat_in_the_box_v0", num_envs=2, seed=0).info["score"][0, 0] = 9


def test_a_game_cannot_be_changed() -> None:
    game = make_game("petrify_v0")
    for name in ("num_players", "rules", "params", "another"):
        with pytest.raises(AttributeError, match=f"{name} of a game cannot be changed"):
            setattr(game, name, 9)
    with pytest.raises(ValueError, match="read-only"):
        game.params["num_players"] = 9
    assert copy.deepcopy(game) is game
