"""Bad input to the Gymnasium view: what is refused, with which message, and that nothing has moved."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent, make
from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv


@pytest.mark.parametrize("illegal_action", ["raise", "terminate", "random_legal"])
def test_what_is_no_legal_action_is_refused_and_changes_nothing(illegal_action: str) -> None:
    """Where illegal actions are allowed, numbers that are no actions are not."""
    env = LearnerEnv("petrify_v0", opponents="random", illegal_action=illegal_action)
    _, info = env.reset(seed=0)
    before = env.games.vec._records.tobytes()
    illegal = [int(info["action_mask"].argmin())] if illegal_action == "raise" else []
    for action in [*illegal, -1, env.action_space.n, 0.5, None]:
        with pytest.raises(ValueError, match=r"illegal actions|expected an integer from 0 to"):
            env.step(action)  # type: ignore[arg-type]
    assert env.games.vec._records.tobytes() == before


@pytest.mark.parametrize("seed", [[1], -1, 1.5, True])
def test_what_is_no_seed_of_one_game_is_refused_and_changes_nothing(seed: Any) -> None:
    env = LearnerEnv("petrify_v0", opponents="random")
    env.reset(seed=0)
    before = env.games.vec._records.tobytes()
    with pytest.raises(ValueError, match=r"expected an integer of 0 or more, or None"):
        env.reset(seed=seed)
    assert env.games.vec._records.tobytes() == before


@pytest.mark.parametrize("batch", [False, True])
def test_a_step_before_the_first_reset_is_refused(batch: bool) -> None:
    env = LearnerVectorEnv(1, "petrify_v0") if batch else LearnerEnv("petrify_v0")
    before = env.games.vec._records.tobytes()
    action = int(env.games.vec.action_mask[0].argmax())
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) of all games first"):
        env.step(np.array([action]) if batch else action)
    assert env.games.vec._records.tobytes() == before


class Illegal(Agent):
    """Plays an illegal action."""

    def act_batch(self, observations, action_masks, histories=None):  # type: ignore[no-untyped-def]
        return np.argmin(action_masks, axis=1)


def test_an_opponent_that_plays_an_illegal_action_is_named_and_the_game_is_over() -> None:
    env = LearnerEnv("petrify_v0", opponents=f"{__name__}:Illegal")
    _, info = env.reset(seed=0)
    action = int(info["action_mask"].argmax())
    with pytest.raises(ValueError, match=r"agent '.*:Illegal' chose the illegal action \d+ \(.*: .*\)"):
        env.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded, match="an opponent's error"):
        env.step(action)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"opponents": make("random", catbox_env.make_game("cat_te_v0"))},
            "made for the game 'cat_te_v0', asked",
        ),
        ({"opponents": ["random"]}, "1 agents for 3 other seats; give one agent for all"),
        ({"opponents": {"pool": ["random"]}}, "expected {'any_of': .one or more agents.}"),
        ({"mask_in_observation": {"mask": "legal"}}, "new names for 'observation' and 'action_mask'"),
        ({"mask_in_observation": {"observation": "action_mask"}}, "new names for"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerEnv("cat_in_the_box_v0", **arguments)


def test_an_unknown_option_is_a_value_error_and_a_type_error() -> None:
    """TorchRL's GymEnv tries options of its own, and goes on after a TypeError with Python's own words."""
    for error in (ValueError, TypeError):
        with pytest.raises(error, match="got an unexpected keyword argument 'frameskip'"):
            gymnasium.make("catbox/Petrify-v0", frameskip=1)
        with pytest.raises(error, match="did you mean 'opponents'"):
            gymnasium.make_vec("catbox/CatTe-v0", 2, opponent="random")
    with pytest.raises(ValueError, match=r"unknown option 'autoreset_mode' of petrify_v0"):
        LearnerEnv("petrify_v0", autoreset_mode="same_step")


def test_a_reset_mask_is_checked_and_nothing_moves() -> None:
    envs = LearnerVectorEnv(3, "petrify_v0", opponents="random", autoreset_mode="disabled")
    some = {"reset_mask": np.array([True, False, False])}
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) of all games first"):
        envs.reset(options=some)
    envs.reset(seed=0)
    before = envs.games.vec._records.tobytes()
    for wrong in (np.zeros(3, bool), np.ones(2, bool), np.ones(3, int)):
        with pytest.raises(ValueError, match="expected a reset_mask of bool, of shape"):
            envs.reset(options={"reset_mask": wrong})
    for seeds in ([1, 2], [1, 2, -1], [1, 2, True]):
        with pytest.raises(ValueError, match="expected one integer of 0 or more for all games, a list of 3"):
            envs.reset(seed=seeds)  # type: ignore[arg-type]
    assert envs.games.vec._records.tobytes() == before
    envs.reset(options=some)


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_refused_step_moves_no_game_and_begins_none(mode: str) -> None:
    envs = LearnerVectorEnv(4, "petrify_v0", opponents="random", autoreset_mode=mode, num_players=3)
    _, infos = envs.reset(seed=0)
    terminated = np.zeros(4, bool)
    while not terminated.any() or terminated.all():
        _, _, terminated, _, infos = envs.step(infos["action_mask"].argmax(1))
        if terminated.all():
            _, infos = envs.reset()
    before = envs.games.vec._records.tobytes()
    running = int(np.argmin(terminated))
    actions = infos["action_mask"].argmax(1)
    actions[running] = infos["action_mask"][running].argmin()
    message = "illegal actions in 1 of" if mode == "next_step" else r"the episodes of games \[.*\] are over"
    with pytest.raises(ValueError, match=message):
        envs.step(actions)
    with pytest.raises(ValueError, match=r"expected integers of shape \(4,\)|are over"):
        envs.step(actions[:3])
    assert envs.games.vec._records.tobytes() == before
