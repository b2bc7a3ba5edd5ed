"""Options of the Gymnasium view: the form of observations, and what an illegal action does."""

import importlib.util
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import GAMES
from catbox_env.cat_in_the_box_v0 import Rules

RLLIB = {"observation": "observations", "action_mask": "action_mask"}
FORMS = [
    {"mask_in_observation": True},
    {"mask_in_observation": RLLIB, "dtype": np.float32},
    {"mask_in_observation": {"action_mask": "legal"}, "dtype": "int16"},
    {"dtype": np.float64},
]


@pytest.mark.parametrize(
    ("game_id", "options"), [*((game_id, {}) for game_id in GAMES), *(("petrify_v0", form) for form in FORMS)]
)
def test_gymnasiums_checker_passes(game_id: str, options: dict) -> None:
    env = LearnerEnv(game_id, opponents="random", illegal_action="random_legal", **options)
    check_env(env, skip_render_check=True)
    assert env.observation_space.contains(env.reset(seed=0)[0])


WITHOUT_PICTURES = """
import sys
sys.modules["pyvips"] = None
import gymnasium
from gymnasium.utils.env_checker import check_env
import catbox_env
env = gymnasium.make("catbox/Petrify-v0", opponents="random", illegal_action="random_legal")
check_env(env.unwrapped)
print(env.metadata["render_modes"])
"""


def test_gymnasiums_checker_passes_without_the_extra_render() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PICTURES], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "['ansi']\n", done.stderr
    pictures = ["rgb_array"] if importlib.util.find_spec("pyvips") else []
    assert LearnerEnv.metadata["render_modes"] == ["ansi", *pictures]


@pytest.mark.parametrize("illegal_action", ["raise", "random_legal"])
@pytest.mark.parametrize("game_id", GAMES)
def test_constant_info_has_the_same_keys_in_every_step(game_id: str, illegal_action: str) -> None:
    options: dict[str, Any] = {"opponents": "random", "illegal_action": illegal_action}
    constant, plain = LearnerEnv(game_id, constant_info=True, **options), LearnerEnv(game_id, **options)
    keys, told = set(), 0
    for seed in range(5):
        (_, info), (_, own) = constant.reset(seed=seed), plain.reset(seed=seed)
        keys, over = keys or set(info), False
        while not over:
            nothing = {name: -(name == "illegal_action") for name in info if name != "action_mask"}
            assert set(info) == keys
            assert {**info, "action_mask": 0} == {**nothing, **own, "action_mask": 0}
            action = int(info["action_mask"].argmax() if illegal_action == "raise" else seed)
            _, _, over, _, info = constant.step(action)
            own = plain.step(action)[4]
            told += len(own) > 1
    assert told
    assert keys >= {"action_mask", "skipped_games", "skipped_reward", *constant.game.kernels.info_names}
    assert ("illegal_action" in keys) == (illegal_action != "raise")


def test_constant_info_of_a_batch_names_everything_in_every_step() -> None:
    envs = LearnerVectorEnv(3, "petrify_v0", opponents="random", constant_info=True)
    _, infos = envs.reset(seed=0)
    keys = set(infos)
    for _ in range(30):
        *_, infos = envs.step(infos["action_mask"].argmax(1))
        assert set(infos) - {"final_obs", "_final_obs", "final_info", "_final_info"} == keys
        assert not infos[
            f"_{envs.game.kernels.info_names[0]}"
        ].any()  # a finished episode's are in final_info
    with pytest.raises(ValueError, match="constant_info=1: expected True or False"):
        LearnerVectorEnv(3, "petrify_v0", constant_info=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", FORMS, ids=str)
def test_the_form_changes_neither_the_games_nor_the_values(options: dict) -> None:
    common = {"opponents": "random", "learner_seat": "random", "num_players": 2}
    plain = LearnerVectorEnv(3, "cat_in_the_box_v0", **common)
    formed = LearnerVectorEnv(3, "cat_in_the_box_v0", **common, **options)
    single = LearnerEnv("cat_in_the_box_v0", num_players=2, **options)
    keys = formed._form.keys
    dtype = np.dtype(options.get("dtype", np.int8))
    assert formed.single_observation_space == single.observation_space

    def same(given: object, seen: np.ndarray, masks: np.ndarray) -> None:
        if keys:
            assert isinstance(given, dict)
            assert tuple(given) == keys
            assert given[keys[1]].dtype == np.int8
            assert np.array_equal(given[keys[1]], masks)
            given = given[keys[0]]
        assert isinstance(given, np.ndarray)
        assert given.dtype == dtype
        assert np.array_equal(given, seen)

    seen, infos = plain.reset(seed=1)
    given, _ = formed.reset(seed=1)
    same(given, seen, infos["action_mask"])
    ended = 0
    for _ in range(60):
        actions = infos["action_mask"].argmax(1)
        seen, rewards, terminated, _, infos = plain.step(actions)
        given, paid, over, _, told = formed.step(actions)
        assert formed.observation_space.contains(given)
        assert np.array_equal(paid, rewards)
        assert np.array_equal(over, terminated)
        same(given, seen, infos["action_mask"])
        for row in np.flatnonzero(terminated):
            same(told["final_obs"][row], infos["final_obs"][row], np.zeros(plain.single_action_space.n))
        ended += terminated.sum()
    assert ended > 5


def test_what_the_caller_does_to_an_observation_changes_nothing_else() -> None:
    env = LearnerEnv("petrify_v0", opponents="random", mask_in_observation=True)
    seen, info = env.reset(seed=0)
    expected = info["action_mask"].copy()
    seen["action_mask"][:] = 0
    assert np.array_equal(info["action_mask"], expected)
    assert np.array_equal(env.action_masks(), expected)
    info["action_mask"][:] = 0
    assert np.array_equal(env.action_masks(), expected)


def test_an_unsigned_dtype_is_refused_where_values_are_negative() -> None:
    dtype = np.uint8
    env = LearnerEnv("petrify_v0", dtype=dtype)  # nothing negative there
    assert env.reset(seed=0)[0].dtype == dtype
    with pytest.raises(ValueError, match="values below 0; give a signed dtype"):
        LearnerEnv("cat_te_v0", rounds=2, dtype=dtype)


# Illegal actions ---------------------------------------------------------------------------------------------------


def forbidden(mask: np.ndarray) -> int:
    return int(np.argmin(mask))


@pytest.mark.parametrize("game_id", ["cat_te_v0", "petrify_v0"])
def test_an_illegal_action_ends_the_episode_with_the_illegal_reward(game_id: str) -> None:
    env = LearnerEnv(game_id, opponents="random", illegal_action="terminate")
    seen, info = env.reset(seed=3)
    action = forbidden(info["action_mask"])
    after, reward, terminated, truncated, info = env.step(action)
    assert (terminated, truncated) == (True, False)
    assert reward == env.games.illegal_reward == min(-1.0, env.game.min_utility)
    assert info["illegal_action"] == action
    assert np.array_equal(after, seen)
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    with pytest.raises(ValueError, match=r"the game is over; call reset\(\)"):
        env.step(0)
    _, info = env.reset()
    assert "illegal_action" not in info
    _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    assert "illegal_action" not in info


def test_what_was_paid_before_the_first_decision_is_paid_with_the_illegal_reward() -> None:
    """In Cat Te a round may end before a seat has decided anything."""
    env = LearnerVectorEnv(
        2000, "cat_te_v0", opponents="random", learner_seat="random", rounds=3, illegal_action="terminate"
    )
    _, infos = env.reset(seed=1)
    owed = np.array([env.games.vec.info["score"][row, seat] for row, seat in enumerate(env.games.seats)])
    owed = np.where(env.games.round_ended, owed, 0)
    assert np.count_nonzero(owed)
    _, rewards, terminated, _, _ = env.step(infos["action_mask"].argmin(axis=1))
    assert terminated.all()
    assert np.array_equal(rewards, owed + env.games.illegal_reward)


def test_a_random_legal_action_takes_the_place_of_an_illegal_one() -> None:
    """Each of the legal actions, equally often, and only in games whose action is illegal."""
    game_id = "cat_in_the_box_v0"
    envs = LearnerVectorEnv(
        2000, game_id, "random", num_players=3, illegal_action="random_legal", autoreset_mode="next_step"
    )
    _, infos = envs.reset(seed=[7] * 2000)  # the same game 2000 times; what is drawn must differ
    envs.games.generators[:] = LearnerVectorEnv(2000, game_id, num_players=3).games.generators
    masks = infos["action_mask"]
    actions = masks.argmax(1)
    actions[1000:] = forbidden(masks[0])
    taken = []
    step = envs.games.vec.step
    envs.games.vec.step = lambda actions, rows=None: taken.append(actions.copy()) or step(actions, rows)  # type: ignore[method-assign]
    _, _, _, _, infos = envs.step(actions)
    assert np.array_equal(taken[0][:1000], actions[:1000])
    assert np.array_equal(infos["_illegal_action"], np.arange(2000) >= 1000)
    assert (infos["illegal_action"][1000:] == forbidden(masks[0])).all()
    legal = np.flatnonzero(masks[0])
    counts = np.bincount(taken[0][1000:], minlength=len(masks[0]))
    assert counts[legal].sum() == 1000
    expected = 1000 / len(legal)
    assert (abs(counts[legal] - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_in_a_batch_an_illegal_action_ends_its_own_game_alone(mode: str) -> None:
    envs = LearnerVectorEnv(
        3, "petrify_v0", opponents="random", illegal_action="terminate", autoreset_mode=mode
    )
    first, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(1)
    actions[1] = forbidden(infos["action_mask"][1])
    seen, rewards, terminated, _, infos = envs.step(actions)
    assert terminated.tolist() == [False, True, False]
    assert rewards.tolist() == [0.0, envs.games.illegal_reward, 0.0]
    told = infos["final_info"] if mode == "same_step" else infos
    assert told["illegal_action"].tolist() == [0, actions[1], 0]
    assert told["_illegal_action"].tolist() == [False, True, False]
    last = infos["final_obs"][1] if mode == "same_step" else seen[1]
    assert np.array_equal(last, first[1])
    assert all((seen[row] != first[row]).any() for row in (0, 2))  # the others have moved
    assert infos["action_mask"][1].any() == (mode == "same_step")
    if mode == "disabled":
        _, infos = envs.reset(options={"reset_mask": terminated})
    _, rewards, terminated, _, infos = envs.step(infos["action_mask"].argmax(1))
    assert not terminated.any()
    assert "illegal_action" not in infos


# Baselines that know no masks ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning")
def test_the_checker_of_stable_baselines_passes() -> None:
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    options = {"opponents": "random", "illegal_action": "random_legal"}
    check_for_sb3(LearnerEnv("petrify_v0", **options))
    check_for_sb3(LearnerEnv("petrify_v0", mask_in_observation=True, dtype=np.float32, **options))


def test_an_environment_is_made_again_from_its_specification() -> None:
    """As Minari does: the specification as JSON, in which rules are a mapping."""
    made = gymnasium.make(
        "catbox/CatInTheBox-v0", rules=Rules(num_players=3, bids=(1, 3)), opponents="random"
    )
    again = gymnasium.make(EnvSpec.from_json(made.spec.to_json()))
    assert again.unwrapped.games.game == made.unwrapped.games.game
