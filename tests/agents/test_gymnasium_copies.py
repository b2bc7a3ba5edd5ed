"""Copies of the Gymnasium views play on exactly as the original does and share no memory with it."""

import numpy as np
import pytest

import catbox_env
from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env.core.conformance import check_copies_play_on


def nth_legal(mask: np.ndarray, number: int) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[number % len(legal)])


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
