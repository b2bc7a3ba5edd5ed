"""The Gymnasium view of many games: autoreset modes, seeds, Gymnasium's wrappers and vector environments, rewards."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import NormalizeReward, RecordEpisodeStatistics

from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import GAMES
from tests.agents.policies import episode, random_legal
from tests.conservation import payments

MODES = ["same_step", "next_step", "disabled"]
#: Games in which a learner in the last seat is often paid, or out, before its first decision.
UNEVEN: dict[str, dict[str, Any]] = {
    "cat_in_the_box_v0": {"num_players": 3, "rounds": 2},
    "cat_te_v0": {"num_players": 4, "rounds": 3},
    "petrify_v0": {"num_players": 4, "size": 3},
}
SEEDS: list[int | None] = [3, 14, 3, 2**33, 0]


def same(one: Any, two: Any) -> None:
    """Arrays, dicts of arrays and arrays of them have the same values."""
    if isinstance(one, dict):
        assert set(one) == set(two)
        for name in one:
            same(one[name], two[name])
    elif isinstance(one, np.ndarray) and one.dtype == object:
        for i in range(len(one)):
            same(one[i], two[i])
    else:
        assert np.array_equal(one, two)


def ours_and_gymnasiums(game_id: str, mode: str, **options: Any) -> tuple[VectorEnv, VectorEnv]:
    """The same games in one batch, and as single environments in Gymnasium's own vector environment."""
    options = {"opponents": "random", "learner_seat": "random", **UNEVEN[game_id], **options}
    ours = LearnerVectorEnv(len(SEEDS), game_id, autoreset_mode=mode, **options)
    single = partial(LearnerEnv, game_id, **options)
    return ours, SyncVectorEnv([single] * len(SEEDS), autoreset_mode=ours.autoreset_mode)


@pytest.mark.parametrize(
    ("game_id", "mode"),
    [*((game_id, "same_step") for game_id in GAMES), *(("petrify_v0", m) for m in MODES[1:])],
)
def test_a_batch_does_what_gymnasiums_own_vector_environment_does(game_id: str, mode: str) -> None:
    """With one seed for each game: observations, rewards, ends, infos, and what wrappers make of them.

    ``SyncVectorEnv`` takes the mask of a partial reset out of the options, so that ``RecordEpisodeStatistics`` around
    it forgets the other games: its statistics are compared with sums of their own.
    """
    bare, theirs = ours_and_gymnasiums(game_id, mode, mask_in_observation=True, illegal_action="random_legal")
    envs, expected = RecordEpisodeStatistics(NormalizeReward(bare)), NormalizeReward(theirs)
    returns, lengths = np.zeros(len(SEEDS)), np.zeros(len(SEEDS), int)
    seen, infos = envs.reset(seed=SEEDS)
    told, told_infos = expected.reset(seed=SEEDS)
    same(seen, told)
    same(infos, told_infos)
    rng, ended, reported = np.random.default_rng(0), 0, set()
    begins = np.zeros(len(SEEDS), bool)
    for _ in range(90):
        legal = random_legal(rng, seen["action_mask"])
        actions = np.where(rng.random(len(SEEDS)) < 0.2, bare.action_space.sample(), legal)
        seen, rewards, terminated, truncated, infos = envs.step(actions)
        told, paid, over, cut, told_infos = expected.step(actions)
        assert np.allclose(rewards, paid)
        returns, lengths = returns + rewards, lengths + ~begins
        begins = terminated if mode == "next_step" else np.zeros(len(SEEDS), bool)
        if terminated.any():
            statistics = infos.pop("episode")
            assert np.array_equal(infos.pop("_episode"), terminated)
            assert np.allclose(statistics["r"][terminated], returns[terminated])
            assert np.array_equal(statistics["l"][terminated], lengths[terminated])
            returns[terminated], lengths[terminated] = 0.0, 0
        same(seen, told)
        same(terminated, over)
        same(truncated, cut)
        same(infos, told_infos)
        ended += int(terminated.sum())
        reported |= {name for part in (infos, infos.get("final_info", {})) for name in part}
        if mode == "disabled" and terminated.any():
            seen, infos = envs.reset(options={"reset_mask": terminated.copy()})
            told, told_infos = expected.reset(options={"reset_mask": terminated.copy()})
            same(seen, told)
            reported |= set(infos)
            for name in set(told_infos) - {"action_mask", "_action_mask"}:
                same(infos[name], told_infos[name])
            same(infos["action_mask"], bare.action_masks())
            assert infos["_action_mask"].all()
    assert ended > 10
    assert "illegal_action" in reported
    assert ("skipped_games" in reported) == (game_id == "petrify_v0")


@pytest.mark.parametrize(
    ("game_id", "mode"),
    [*((game_id, "same_step") for game_id in GAMES), *(("petrify_v0", m) for m in MODES[1:])],
)
def test_the_learner_is_offered_or_told_all_that_its_seat_is_paid(game_id: str, mode: str) -> None:
    """The rewards, and the rewards of skipped games in the infos, sum to what the games paid to the seat."""
    seat = UNEVEN[game_id]["num_players"] - 1
    options = {"opponents": "heuristic", "learner_seat": seat, "reward": "margin", **UNEVEN[game_id]}
    envs, rng = LearnerVectorEnv(6, game_id, autoreset_mode=mode, **options), np.random.default_rng(1)
    ended, running, skipped = 0.0, np.zeros(6), 0
    with payments() as paid:
        _, infos = envs.reset(seed=0)
        for step in range(151):
            if "skipped_reward" in infos:
                assert np.array_equal(infos["_skipped_reward"], infos["skipped_games"] > 0)
                ended += infos["skipped_reward"].sum()
                skipped += infos["skipped_games"].sum()
            if step == 150:
                break
            _, rewards, terminated, _, infos = envs.step(random_legal(rng, infos["action_mask"]))
            running += rewards
            ended += running[terminated].sum()
            running[terminated] = 0.0
            if mode == "disabled" and terminated.any():
                _, infos = envs.reset(options={"reset_mask": terminated})
    assert len(paid) > 20
    assert ended == pytest.approx(sum(game[seat] for game in paid), abs=1e-3)
    assert (skipped > 0) == (game_id == "petrify_v0")
    assert skipped == envs.games.num_skipped


@pytest.mark.parametrize("game_id", GAMES)
def test_the_learner_of_a_single_game_is_offered_or_told_all_that_its_seat_is_paid(game_id: str) -> None:
    seat = UNEVEN[game_id]["num_players"] - 1
    env = LearnerEnv(game_id, opponents="heuristic", learner_seat=seat, reward="margin", **UNEVEN[game_id])
    with payments() as paid:
        told = [
            reward + info.get("skipped_reward", 0.0)
            for seed in range(60)
            for _, reward, info in episode(env, seed)
        ]
    assert sum(told) == pytest.approx(sum(game[seat] for game in paid), abs=1e-3)
    assert (len(paid) > 60) == (game_id == "petrify_v0") == (env.games.num_skipped > 0)


def test_the_step_after_the_end_deals_whatever_the_action_is() -> None:
    envs = LearnerVectorEnv(4, "petrify_v0", opponents="random", autoreset_mode="next_step", num_players=3)
    _, infos = envs.reset(seed=0)
    dealt = 0
    for _ in range(40):
        over = envs.games.over.copy()
        actions = np.where(over, -7, infos["action_mask"].argmax(1))
        seen, rewards, terminated, _, infos = envs.step(actions)
        assert not rewards[over].any()
        assert not terminated[over].any()
        assert infos["action_mask"][over].any(axis=1).all()
        assert np.array_equal(seen, envs.games.observation())
        dealt += over.sum()
    assert dealt > 5


def test_a_reset_mask_begins_its_games_alone_and_with_their_seeds() -> None:
    envs = LearnerVectorEnv(
        3, "cat_in_the_box_v0", opponents="random", autoreset_mode="disabled", num_players=3
    )
    env = LearnerEnv("cat_in_the_box_v0", opponents="random", num_players=3)
    seen, infos = envs.reset(seed=1)
    again, infos = envs.reset(seed=[None, 9, None], options={"reset_mask": np.array([True, True, False])})
    assert np.array_equal(again[2], seen[2])
    assert not np.array_equal(again[0], seen[0])
    assert np.array_equal(again[1], env.reset(seed=9)[0])
    assert infos["_action_mask"].all()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_environments_in_processes_play_the_same_games() -> None:
    options = {"opponents": "random", "learner_seat": "random", "num_players": 3}
    single = [partial(LearnerEnv, "petrify_v0", **options)] * 2
    here, there = SyncVectorEnv(single), AsyncVectorEnv(single, context="fork")
    try:
        (seen, infos), (told, _) = here.reset(seed=4), there.reset(seed=4)
        same(seen, told)
        for _ in range(12):
            actions = infos["action_mask"].argmax(1)
            (seen, rewards, *_, infos), (told, paid, *_, told_infos) = here.step(actions), there.step(actions)
            same(seen, told)
            same(rewards, paid)
            same(infos, told_infos)
    finally:
        there.close()


def test_what_a_step_returns_shares_no_memory_with_anything_else() -> None:
    """A caller may write into an observation, a mask or an info without changing another one, or a later step."""
    env = LearnerVectorEnv(
        6, "cat_in_the_box_v0", "random", learner_seat="random", mask_in_observation=True, constant_info=True,
        illegal_action="random_legal", num_players=3,
    )  # fmt: skip

    def arrays(value: Any) -> list[np.ndarray]:
        if isinstance(value, dict):
            return [array for part in value.values() for array in arrays(part)]
        if isinstance(value, np.ndarray) and value.dtype == object:
            return [array for part in value for array in arrays(part)]
        return [value] if isinstance(value, np.ndarray) else []

    kept = arrays(dict(enumerate(env.reset(seed=1))))
    ended = False
    while not ended:
        returned = env.step(np.zeros(6, np.int64))
        ended = "final_obs" in returned[4]
        found = arrays(dict(enumerate(returned)))
        for array, other in itertools.combinations([*kept, *found], 2):
            assert not np.shares_memory(array, other)
        kept = found
