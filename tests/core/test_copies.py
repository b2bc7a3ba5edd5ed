"""Copies of everything that holds games play on exactly as the original does and share no memory with it."""

import copy
import pickle

import numpy as np
import pytest
from pettingzoo import AECEnv

import catbox_env
from catbox_agents.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import make_game, make_vec
from catbox_env.adapters.aec import env as wrapped_env
from catbox_env.core.game import Vec
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


def learn(env: LearnerEnv, number: int) -> None:
    mask = env.action_masks()
    env.shown = env.step(nth_legal(mask, number)) if mask.any() else env.reset()  # type: ignore[attr-defined]


def what_the_learner_sees(env: LearnerEnv) -> dict[str, np.ndarray]:
    return {"seen": np.array(repr(getattr(env, "shown", None))), "mask": env.action_masks()}


def learn_in_all(env: LearnerVectorEnv, number: int) -> None:
    env.shown = env.step(np.array([nth_legal(mask, number) for mask in env.action_masks()]))  # type: ignore[attr-defined]


def what_the_learners_see(env: LearnerVectorEnv) -> dict[str, np.ndarray]:
    vec = env.games.vec
    attributes = {"seen": np.array(repr(getattr(env, "shown", None))), "masks": env.action_masks()}
    return (
        attributes
        | {f"info {name}": values for name, values in vec.info.items()}
        | {"seats": env.games.seats}
    )


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_a_copied_learner_environment_plays_on_with_the_same_opponents(game_id: str) -> None:
    env = LearnerEnv(game_id, opponents="random", learner_seat="random")
    env.reset(seed=2)
    check_copies_play_on(env, learn, what_the_learner_sees, num_moves=30)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_copied_vector_environment_plays_on_with_the_same_opponents(num_threads: int) -> None:
    env = LearnerVectorEnv(
        3, "cat_in_the_box_v0", opponents={"any_of": ["random", "heuristic"]}, learner_seat="random",
        num_threads=num_threads, rounds=2,
    )  # fmt: skip
    env.reset(seed=2)
    for number in range(12):
        learn_in_all(env, number)
    check_copies_play_on(env, learn_in_all, what_the_learners_see, num_moves=30)


def test_copies_keep_what_a_subclass_added() -> None:
    vec = CountingVec(make_game("petrify_v0"), 2, seed=0)
    vec.friend = vec
    vec.step(vec.action_mask.argmax(axis=1))
    for twin in (copy.deepcopy(vec), pickle.loads(pickle.dumps(vec))):
        assert type(twin) is CountingVec
        assert twin.friend is twin
        twin.step(twin.action_mask.argmax(axis=1))
        assert (twin.steps, vec.steps) == (2, 1)


class CountingVec(Vec):
    """A user's batch that counts its steps."""

    steps = 0
    friend: "CountingVec"

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> None:
        super().step(actions, rows)
        self.steps += 1


@pytest.mark.parametrize(
    "name",
    ["num_envs", "num_threads", "game", "auto_deal", "observation", "action_mask", "current_player", "rewards",
     "terminated", "round_ended", "win_shares", "info", "history", "state"],
)  # fmt: skip
def test_the_attributes_of_a_batch_cannot_be_assigned(name: str) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=2, seed=0, history=True, state=True)
    with pytest.raises(AttributeError):
        setattr(vec, name, 3)
    with pytest.raises(ValueError, match="read-only"):
        vec.info["score"][0, 0] = 9


def test_a_game_cannot_be_changed() -> None:
    game = make_game("petrify_v0")
    with pytest.raises(AttributeError, match="num_players of a game cannot be changed"):
        game.num_players = 9
    assert copy.deepcopy(game) is game
