"""The PettingZoo interface: what the official checks, in tests/games/test_conformance.py, do not check."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from catbox_env import cat_in_the_box_v0
from catbox_env.adapters import aec
from tests.games.test_conformance import VARIANTS

#: Illegal moves through `env` log a warning.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")

OPTIONS = [
    {"num_players": 5},
    {"num_players": 4, "rounds": "match"},
    {"num_players": 3, "history": True, "rounds": 2},
    {"num_players": 2, "reward": "margin", "history": True},
]


def play(env: Any, rng: np.random.Generator, steps: int | None = None) -> tuple[dict, dict]:
    """Play at random through ``last``. Returns the sum of the rewards, and the statistics, that each agent got."""
    received, told = dict.fromkeys(env.possible_agents, 0.0), {agent: [] for agent in env.possible_agents}
    while env.agents and steps != 0:
        observation, reward, terminated, truncated, info = env.last()
        received[env.agent_selection] += reward
        told[env.agent_selection] += [info] if info else []
        steps = None if steps is None else steps - 1
        done = terminated or truncated
        env.step(None if done else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return received, told


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_agent_sees_what_its_seat_sees_and_the_one_to_move_has_a_mask(options: dict) -> None:
    env = cat_in_the_box_v0.raw_env(**options)
    rng = np.random.default_rng(0)
    env.reset(seed=1)
    while not all(env.terminations.values()):
        state = env.game_state
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            expected = state.legal_actions() if agent == env.agent_selection else []
            assert list(np.flatnonzero(seen["action_mask"])) == expected
            assert np.array_equal(seen["observation"], state.observation(seat))
            assert ("history" in seen) == options.get("history", False)
            if "history" in seen:
                assert np.array_equal(seen["history"], state.history_observation(seat))
        assert env.state_space.contains(env.state())
        assert np.array_equal(env.state(), state.state_vector())
        env.step(int(rng.choice(state.legal_actions())))
        assert list(env.rewards.values()) == state.rewards()


@pytest.mark.parametrize(("game_id", "options"), VARIANTS, ids=str)
def test_no_reward_is_lost_or_counted_twice_and_all_get_the_statistics_of_every_round(
    game_id: str, options: dict
) -> None:
    """Also of a seat that acts twice in a row."""
    env, rng = aec.env(game_id, **options), np.random.default_rng(0)
    for seed in range(4):
        env.reset(seed=seed)
        received, told = play(env, rng)
        state = env.unwrapped.game_state
        assert list(received.values()) == pytest.approx(state.returns())
        assert [len(infos) for infos in told.values()] == [state.game.num_rounds] * state.game.num_players
        assert [infos[-1] for infos in told.values()] == [state.info(seat) for seat in range(len(told))]
        assert all(type(value) is int for infos in told.values() for info in infos for value in info.values())
        if "score" in state.game.kernels.info_names and state.game.reward == "score":
            assert [sum(info["score"] for info in infos) for infos in told.values()] == state.returns()


def test_observations_are_never_changed_by_a_later_step() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=2, history=True)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    kept = []
    while not all(env.terminations.values()):
        seen = env.last()[0]
        kept.append((seen, copy.deepcopy(seen)))
        env.step(int(rng.choice(env.game_state.legal_actions())))
    for seen, was in kept:
        assert all(np.array_equal(seen[key], was[key]) for key in seen)


def test_an_illegal_action_is_refused_and_the_game_is_unchanged() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=2)
    env.reset(seed=0)
    before = env.game_state.serialize()
    with pytest.raises(ValueError, match=r"illegal action 25 \(paradox\)"):
        env.step(25)
    assert env.game_state.serialize() == before
    env.step(env.game_state.legal_actions()[0])


def test_the_functions_that_make_an_environment_can_be_pickled() -> None:
    for make in (cat_in_the_box_v0.env, cat_in_the_box_v0.raw_env):
        assert pickle.loads(pickle.dumps(make)) is make


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64, np.array])
def test_an_action_may_be_any_integer(kind: object) -> None:
    env = cat_in_the_box_v0.raw_env(num_players=2)
    env.reset(seed=0)
    env.step(kind(env.game_state.legal_actions()[-1]))
    assert len(env.game_state.history()) == 1


def test_a_seat_has_spaces_of_its_own() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=3, history=True)
    for spaces in (env.observation_space, env.action_space):
        own, other = spaces("player_0"), spaces("player_1")
        assert spaces("player_0") is own
        samples = []
        for seed in (1, 2):
            other.seed(5)
            own.seed(seed)
            samples.append(repr([other.sample() for _ in range(5)]))
        assert samples[0] == samples[1]


def test_an_illegal_action_through_env_ends_the_game_with_less_than_any_legal_play_can_bring() -> None:
    env = cat_in_the_box_v0.env(num_players=2)
    env.reset(seed=0)
    env.last()
    env.step(25)
    rewards = {}
    for agent in env.agent_iter():
        _, rewards[agent], terminated, _, _ = env.last()
        assert terminated
        env.step(None)
    assert rewards["player_0"] == env.unwrapped.game.min_utility == -8.0
    assert rewards["player_1"] == 0


def test_the_same_seed_gives_the_same_game_and_without_one_the_generator_continues() -> None:
    states = []
    for _ in range(2):
        env = cat_in_the_box_v0.raw_env(num_players=4)
        for seed in (11, None):
            env.reset(seed=seed)
            states.append(env.state().tolist())
    assert states[:2] == states[2:]
    assert states[0] != states[1]
    assert states[0] == env.game.new_initial_state(seed=11).state_vector().tolist()


@pytest.mark.parametrize("seed", [None, 99])
def test_a_deal_that_is_refused_leaves_the_game_under_way_as_it_is(seed: int | None) -> None:
    """Also the deals of its later rounds, and of later games without a seed, stay the same."""
    spoilt, plain = (cat_in_the_box_v0.raw_env(num_players=2, rounds=2) for _ in range(2))
    for env in (spoilt, plain):
        env.reset(seed=1)
    with pytest.raises(ValueError, match="hands of"):
        spoilt.reset(seed=seed, options={"deal": {"hands": []}})
    for _ in range(2):
        while spoilt.agents and not all(spoilt.terminations.values()):
            action = int(np.flatnonzero(spoilt.last()[0]["action_mask"])[-1])
            for env in (spoilt, plain):
                env.step(action)
            assert np.array_equal(spoilt.state(), plain.state())
        for env in (spoilt, plain):
            env.reset()


@pytest.mark.parametrize(
    "call", [lambda env: env.step(None), lambda env: env.step(0), lambda env: env.last()]
)
def test_a_step_after_every_agent_has_left_says_so(call: object) -> None:
    env = cat_in_the_box_v0.raw_env(num_players=2)
    env.reset(seed=0)
    play(env, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"every agent has left; call reset\(\)"):
        call(env)


def test_use_before_reset_and_rendering_without_a_mode_say_what_to_do() -> None:
    env = cat_in_the_box_v0.raw_env()
    with pytest.raises(RuntimeError, match="call reset"):
        env.observe("player_0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="make the environment with render_mode"):
        env.render()


def test_ansi_shows_the_hand_of_the_seat_to_move_and_no_other() -> None:
    env = cat_in_the_box_v0.env(num_players=5, render_mode="ansi")
    env.reset(seed=0)
    play(env, np.random.default_rng(0), steps=20)
    text = env.render()
    assert f"hand of {env.agent_selection}" in text
    assert text.count("hand of") == 1
    for word in ("red", "blue", "yellow", "green", "X-tokens", "bid", "tricks", "trick:", "to move"):
        assert word in text
