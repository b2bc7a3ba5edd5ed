"""Worlds and given states in batches: how they are drawn, put into rows and played on."""

from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_env import GameState, Vec, make_game, make_vec
from catbox_env.core.rng import new_generators
from tests.core.game_cases import CASES, arrays_of, begun


def records(vec: Vec) -> np.ndarray:
    """The games as rows of bytes."""
    return vec._bytes.copy()


def middle(game_id: str, moves: int, **options: Any) -> GameState:
    return begun(make_game(game_id, **options), moves, seed=1)


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_worlds_agree_with_the_observation_and_differ_in_what_is_hidden(game_id: str) -> None:
    state = middle(game_id, 7)
    game, seat = state.game, state.current_player
    worlds = game.sample_states(state.observation(seat), count=50, seed=3)
    assert worlds.num_envs == 50
    assert not worlds.auto_deal
    assert (worlds.current_player == seat).all()
    assert (worlds.observation == state.observation(seat)).all()
    assert (worlds.action_mask == state.action_mask().astype(bool)).all()
    assert (len(np.unique(records(worlds), axis=0)) == 1) == CASES[game_id].perfect_information
    again, other = (records(game.sample_states(state.observation(seat), 50, seed)) for seed in (3, 4))
    assert np.array_equal(again, records(worlds))
    assert np.array_equal(again, other) == CASES[game_id].perfect_information


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_each_of_many_observations_gets_the_worlds_that_it_gets_alone(game_id: str) -> None:
    states = [middle(game_id, moves) for moves in (7, 1, 4)]
    game = states[0].game
    seen = np.stack([state.observation(state.current_player) for state in states])
    many = game.sample_states(seen, 5, seed=3)
    assert many.num_envs == 15
    for i, child in enumerate(np.random.SeedSequence(3).spawn(3)):
        alone = game.sample_states(seen[i], 5, seed=child)
        assert np.array_equal(records(alone), records(many)[5 * i : 5 * i + 5])
        assert (many.observation[5 * i : 5 * i + 5] == seen[i]).all()


def test_observations_may_get_different_numbers_of_worlds_by_generators_that_move_on() -> None:
    state = middle("cat_in_the_box_v0", 9)
    game, seen = state.game, np.stack([state.observation(seat) for seat in (0, 1)])
    generators = new_generators(np.random.SeedSequence(2).spawn(2))
    first, again = (game.sample_states(seen, np.array([1, 4]), generators) for _ in range(2))
    assert [first.num_envs, again.num_envs] == [5, 5]
    for vec in (first, again):
        assert np.array_equal(vec.observe(np.array([0, 1, 1, 1, 1])), seen[[0, 1, 1, 1, 1]])
    assert len(np.unique(np.concatenate([records(first), records(again)]), axis=0)) == 10
    for counts in (np.array([1, 0]), np.array([1]), np.array([1.0, 1.0]), [1, 1], 0, None):
        with pytest.raises(ValueError, match="count="):
            game.sample_states(seen, counts, generators)
    for wrong in (generators[:1], np.zeros(2, np.int64), "1"):
        with pytest.raises(ValueError, match="seed="):
            game.sample_states(seen, np.array([1, 1]), wrong)


def test_one_impossible_observation_of_many_is_named() -> None:
    state = middle("cat_in_the_box_v0", 9)
    seen = np.stack([state.observation(seat) for seat in (0, 1, 2)])
    for spoiled in (0, -128):
        wrong = seen.copy()
        wrong[1] = spoiled
        with pytest.raises(ValueError, match="observation 1: no state of this game agrees"):
            state.game.sample_states(wrong, 4)
    for shape in (seen[:0], seen[:, :-1], seen[None], seen.astype(np.int16)):
        with pytest.raises(ValueError, match=r"observation: .* expected an int8 array of shape"):
            state.game.sample_states(shape, 4)


@pytest.mark.parametrize("history", [False, True])
def test_copies_of_games_go_on_as_the_games_do(history: bool) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=4, seed=1, history=history, num_players=2, rounds=2)
    vec.step_random(5, seed=0)
    before = arrays_of(vec)
    rows = np.array([3, 0, 3])
    vec.take(rows).step_random(3, seed=1)
    assert arrays_of(vec) == before
    copies = vec.take(rows)
    assert copies.num_envs == 3
    assert copies.auto_deal
    for _ in range(30):
        actions = vec.action_mask.argmax(axis=1)
        copies.step(actions[rows])
        vec.step(actions)
        for name in ("observation", "action_mask", "current_player", "rewards", "terminated", "round_ended"):
            assert np.array_equal(getattr(copies, name), getattr(vec, name)[rows]), name
        if history:
            assert np.array_equal(copies.history, vec.history[rows])


def test_worlds_of_a_match_draw_different_later_rounds() -> None:
    state = middle("cat_in_the_box_v0", 5, num_players=2, rounds=2)
    worlds = state.game.sample_states(state.observation(state.current_player), 20, seed=0)
    rows = np.arange(20)
    while len(rows):
        worlds.step(worlds.action_mask[rows].argmax(axis=1), rows)
        rows = rows[~worlds.round_ended[rows]]
    hands = worlds.game.observation_layout.unpack(worlds.observation)["hand"]
    assert len({hand.tobytes() for hand in hands}) > 10


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_a_row_plays_on_as_the_state_that_was_put_there(game_id: str) -> None:
    states = [middle(game_id, moves) for moves in (0, 3, 6)]
    vec = make_vec(game_id, num_envs=5, seed=9, history=True)
    vec.step_random(4, seed=0)
    before = vec.observation.copy()
    rows = np.array([4, 0, 2])
    vec.set_states(states, rows)
    assert np.array_equal(vec.observation[[1, 3]], before[[1, 3]])
    running = dict(zip(rows.tolist(), states, strict=True))
    for _ in range(3):
        for row, state in running.items():
            mover = state.current_player
            assert vec.current_player[row] == mover
            assert np.array_equal(vec.observation[row], state.observation(mover))
            assert np.array_equal(vec.history[row], state.history_observation(mover))
            taken = vec.get_state(row)
            assert taken.record.tobytes() == state.record.tobytes()
            assert taken._generators.tobytes() == state._generators.tobytes()
            assert taken.history() == state.history()
            state.apply_action(int(vec.action_mask[row].argmax()))
        rows = np.array(list(running))
        vec.step(vec.action_mask[rows].argmax(axis=1), rows)
        for row, state in running.items():
            assert vec.rewards[row].tolist() == state.rewards()
            assert vec.terminated[row] == state.is_terminal()
        running = {row: state for row, state in running.items() if not state.is_terminal()}
        if not running:
            break


def test_one_state_or_a_batch_of_states_fills_rows() -> None:
    state = middle("cat_te_v0", 4)
    before = state.serialize()
    vec = make_vec("cat_te_v0", num_envs=3, seed=0)
    vec.set_states(state)
    vec.step(np.flatnonzero(state.action_mask())[[0, 1, 1]])
    assert state.serialize() == before
    assert np.array_equal(vec.observation[1], vec.observation[2])
    larger = make_vec("cat_te_v0", num_envs=4, seed=0)
    larger.set_states(vec, np.array([3, 1, 0]))
    assert np.array_equal(larger.observation[[3, 1, 0]], vec.observation)
    assert not larger.rewards.any()


@pytest.mark.parametrize("history", [False, True])
def test_a_batch_can_exchange_its_own_rows(history: bool) -> None:
    vec = make_vec("cat_in_the_box_v0", 2, seed=0, history=history, num_players=3)
    vec.step(vec.action_mask.argmax(axis=1))
    before = [vec.get_state(row) for row in range(2)]
    vec.set_states(vec, rows=np.array([1, 0]))
    for row, state in enumerate(reversed(before)):
        assert (vec.get_state(row).state_vector() == state.state_vector()).all()
        if history:
            assert vec.get_state(row).history() == state.history()


def test_states_that_do_not_fit_are_refused_and_nothing_changes() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=3, seed=0, history=True)
    state = middle("cat_in_the_box_v0", 2)
    before = arrays_of(vec)
    for states in ([state], [state] * 4, [state, state, None], make_vec("cat_in_the_box_v0", 2)):
        with pytest.raises(ValueError, match="states"):
            vec.set_states(states)
    begun = make_vec("cat_in_the_box_v0", 3)
    begun.step_random(2)
    with pytest.raises(ValueError, match="keep no history"):
        vec.set_states(begun)
    for rows in ([0, 0, 1], [3, 1, 2], [True, False, True], [0.0, 1.0, 2.0], 1):
        with pytest.raises(ValueError, match="rows="):
            vec.set_states([state] * 3, rows)  # type: ignore[arg-type]
    assert arrays_of(vec) == before


def test_worlds_have_a_history_that_begins_with_them() -> None:
    state = middle("cat_in_the_box_v0", 9)
    worlds = state.game.sample_states(state.observation(state.current_player), 3, seed=0)
    vec = make_vec("cat_in_the_box_v0", num_envs=3, seed=0, history=True)
    vec.set_states(worlds)
    assert (vec.history == -2).all()
    vec.step(vec.action_mask.argmax(axis=1))
    assert (vec.history[:, 0, 0] == 3).all()
    assert (vec.history[:, 1:] == -2).all()
