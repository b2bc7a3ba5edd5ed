"""A batch plays the same games as single games do, with any number of threads, and bad input moves no game."""

from collections.abc import Callable

import numpy as np
import pytest

from catbox_env import Vec, make_vec
from tests.core.game_cases import arrays_of


def random_actions(vec: Vec, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in vec.action_mask])


def test_shapes_and_types_are_those_of_the_contract() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=3, seed=0, num_players=5)
    contract = {
        "observation": (np.int8, (3, vec.game.observation_layout.size)),
        "action_mask": (np.bool_, (3, 50)),
        "current_player": (np.int8, (3,)),
        "rewards": (np.float32, (3, 5)),
        "terminated": (np.bool_, (3,)),
    }
    for name, (dtype, shape) in contract.items():
        assert (getattr(vec, name).dtype, getattr(vec, name).shape) == (dtype, shape), name


def test_threads_do_not_change_the_games() -> None:
    one, many = (
        make_vec("cat_in_the_box_v0", 7, seed=4, history=True, state=True, num_threads=num_threads)
        for num_threads in (1, 3)
    )
    rng = np.random.default_rng(0)
    for _ in range(120):
        actions = random_actions(one, rng)
        one.step(actions)
        many.step(actions)
        assert arrays_of(one) == arrays_of(many)


def test_step_random_is_a_loop_of_steps() -> None:
    compiled = make_vec("cat_in_the_box_v0", num_envs=4, seed=1)
    plain = make_vec("cat_in_the_box_v0", num_envs=4, seed=1)
    compiled.step_random(1, seed=9)
    plain.step(compiled._actions)
    assert arrays_of(compiled) == arrays_of(plain)


def test_a_game_that_does_not_move_has_no_outcomes_and_a_new_one_has_no_returns() -> None:
    vec = make_vec("petrify_v0", num_envs=2, seed=0)
    while not vec.terminated[0]:
        vec.step(vec.action_mask.argmax(axis=1))
    assert vec.rewards[0].any()
    assert vec.get_state(0).returns() == [0, 0]
    vec.step(vec.action_mask[1:].argmax(axis=1), np.array([1]))
    assert not vec.rewards[0].any()
    assert not vec.terminated[0]


def test_random_play_takes_every_legal_action_equally_often() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=3000, seed=None, num_players=2)
    one = vec.game.new_initial_state(seed=0)
    vec.set_states(one)
    vec.step_random(1, seed=3)
    legal = one.legal_actions()
    counts = np.bincount(vec._actions, minlength=26)
    assert counts.sum() == counts[legal].sum()
    assert abs(counts[legal] - 3000 / len(legal)).max() < 5 * np.sqrt(3000 / len(legal))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda a: a.astype(float), r"float64 of shape \(4,\); expected integers of shape \(4,\)"),
        (lambda a: a[:, None], r"shape \(4, 1\); expected integers"),
        (lambda a: a > 0, "bool of shape"),
        (lambda a: np.where([0, 1, 0, 1], [0, 99, 0, -1], a), "in 2 of 4 games .row 1: action 99 of seat 0"),
        (lambda a: np.append(a[:3].astype(np.uint64), np.uint64(2**63)), "in 1 of 4 games .row 3"),
        (lambda a: np.append(a[:3], 49), "illegal actions in 1 of 4 games .row 3: action 49"),
    ],
)
def test_wrong_actions_are_refused_and_no_game_moves(spoil: Callable, message: str) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=0, num_players=5)
    before = arrays_of(vec)
    with pytest.raises(ValueError, match=message):
        vec.step(spoil(vec.action_mask.argmax(1)))
    assert arrays_of(vec) == before


def test_a_caller_that_overwrites_the_mask_does_not_make_an_action_legal() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=2, seed=0)
    vec.action_mask[:] = True
    with pytest.raises(ValueError, match="illegal actions in 2 of 2 games"):
        vec.step(np.array([44, 44]))


def test_reset_without_a_seed_continues_and_with_one_starts_again() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=2, seed=5)
    first = vec.observation.copy()
    vec.reset()
    assert not np.array_equal(first, vec.observation)
    vec.reset(seed=5)
    assert np.array_equal(first, vec.observation)


def test_history_and_state_exist_only_where_asked_for() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=1, seed=0)
    with pytest.raises(ValueError, match="history=True"):
        _ = vec.history
    with pytest.raises(ValueError, match="state=True"):
        _ = vec.state


def test_games_are_dealt_with_seeds_of_their_own() -> None:
    vec = make_vec("cat_in_the_box_v0", 4, seed=0)
    kept = vec.observation.copy()
    vec.deal(np.array([2, 0]), [7, None])
    assert np.array_equal(vec.observation[2], vec.game.new_initial_state(seed=7).observation(0))
    assert np.array_equal(vec.observation[[1, 3]], kept[[1, 3]])
    assert not np.array_equal(vec.observation[0], kept[0])
    before = arrays_of(vec)
    for seeds, said in (([7], "expected a list, one seed for each of 2 rows"), ([7, -1], "seed=-1")):
        with pytest.raises(ValueError, match=said):
            vec.deal(np.array([2, 0]), seeds)
    assert arrays_of(vec) == before
