"""Bytes from outside that are not exactly what was saved are refused with the reason, and change nothing."""

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_env import make_game, make_vec
from catbox_env.core.game import Vec
from catbox_env.core.saved import FORMAT, checksum
from tests.core.game_cases import begun

Saved = dict[str, np.ndarray]

SMALL = {"num_players": 2, "hand_size": 4, "revealed_cards": 0}

OTHER_RULES = [
    ("cat_in_the_box_v0", SMALL | {"num_ranks": 9}, SMALL | {"num_ranks": 2}, "num_ranks=9, expected 2"),
    ("cat_in_the_box_v0", {"reward": "score"}, {"reward": "win"}, "reward='score', expected 'win'"),
    ("petrify_v0", {"size": 8}, {"size": 3}, "size=8, expected 3"),
]  # fmt: skip


def contents(vec: Vec) -> dict[str, bytes]:
    arrays = {name: array for name, array in vars(vec).items() if isinstance(array, np.ndarray)}
    return {name: array.tobytes() for name, array in arrays.items()}


def resealed(saved: Saved) -> Saved:
    """``saved`` with a valid checksum, which anybody can compute."""
    rest = [array for name, array in saved.items() if name != "checksum"]
    return {**saved, "checksum": np.frombuffer(checksum(*rest), np.uint8)}


@pytest.mark.parametrize(("game_id", "one", "other", "named"), OTHER_RULES)
def test_games_of_other_rules_are_refused_by_name(game_id: str, one: dict, other: dict, named: str) -> None:
    saved = make_vec(game_id, num_envs=3, seed=0, **one).save()
    vec = make_vec(game_id, num_envs=3, seed=1, **other)
    before = contents(vec)
    with pytest.raises(ValueError, match=f"other rules or reward.*{named}"):
        vec.load(saved)
    assert contents(vec) == before
    with pytest.raises(ValueError, match=f"other rules or reward.*{named}"):
        vec.set_states(make_game(game_id, **one).new_initial_state(seed=0))
    assert contents(vec) == before
    with pytest.raises(ValueError, match=f"other rules or reward.*{named}"):
        make_game(game_id, **other).deserialize_state(
            make_game(game_id, **one).new_initial_state(seed=0).serialize()
        )


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ({"format": FORMAT + 1}, f"format {FORMAT + 1}, expected {FORMAT}; load it with the version"),
        ({"game": "cat_te_v0"}, "a game of 'cat_te_v0', expected 'petrify_v0'"),
        ({"options": None}, "not a catbox header"),
        ({"options": [[1, 2], ["a", 3]]}, "not a catbox header"),
        (b"[]", "not a catbox header"),
        (b"\xff\xfe", "not a catbox header"),
        (b"[" * 100_000, "not a catbox header"),
    ],
    ids=lambda header: repr(header)[:20],
)
def test_another_header_is_refused_although_the_checksum_is_valid(
    header: bytes | dict[str, Any], named: str
) -> None:
    vec = make_vec("petrify_v0", num_envs=2, seed=0)
    saved = vec.save()
    if isinstance(header, dict):
        header = json.dumps(json.loads(saved["header"].tobytes()) | header).encode()
    with pytest.raises(ValueError, match=f"saved games: {named}"):
        vec.load(resealed({**saved, "header": np.frombuffer(header, np.uint8)}))
    data = vec.game.new_initial_state(seed=0).serialize()
    magic, body = data[:13], data.partition(b"\n\n")[2]
    with pytest.raises(ValueError, match=f"a serialised state: {named}"):
        vec.game.deserialize_state(magic + checksum(header, body) + header + b"\n\n" + body)


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda saved: saved.pop("logs"), "expected what save"),
        (lambda saved: saved.update(more=saved["logs"]), "expected what save"),
        (lambda saved: saved.update(rewards=[[0.0, 0.0]] * 3), "expected what save"),
        (lambda saved: saved.update(resealed({**saved, "logs": saved["logs"][:2]})), "'logs' is int8"),
        (lambda saved: saved.update(resealed({**saved, "logs": saved["logs"] * 1.0})), "'logs' is float64"),
        (lambda saved: saved.update(checksum=saved["checksum"][:-1]), "checksum does not match"),
        (lambda saved: saved["rewards"].__setitem__((0, 0), 1.0), "checksum does not match"),
    ],
)  # fmt: skip
def test_incomplete_saved_games_are_refused(spoil: Callable[[Saved], Any], named: str) -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=3, seed=0, num_players=2, history=True)
    saved = vec.save()
    spoil(saved)
    vec.step_random(7, seed=0)
    before = contents(vec)
    with pytest.raises(ValueError, match=f"saved games: .*{named}"):
        vec.load(saved)
    assert contents(vec) == before


def test_a_batch_with_auto_deal_refuses_a_game_that_is_over() -> None:
    ends = make_vec("petrify_v0", num_envs=2, seed=0, auto_deal=False)
    while (running := np.flatnonzero(ends.current_player >= 0)).size:
        ends.step(ends.action_mask[running].argmax(axis=1), running)
    deals = make_vec("petrify_v0", num_envs=2, seed=0)
    with pytest.raises(ValueError, match=r"game 0 is over.*auto_deal=False"):
        deals.load(ends.save())
    with pytest.raises(ValueError, match=r"game 0 is over.*auto_deal=False"):
        deals.set_states(ends)
    keeps = make_vec("petrify_v0", num_envs=2, seed=1, auto_deal=False)
    keeps.load(ends.save())
    assert not keeps.action_mask.any()


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_no_byte_of_a_serialised_state_can_change(game_id: str) -> None:
    state = begun(make_game(game_id), 9, seed=2)
    data = bytearray(state.serialize())
    rng = np.random.default_rng(0)
    for place in range(len(data)):
        was = data[place]
        data[place] ^= int(rng.integers(1, 256))
        with pytest.raises(ValueError, match="state"):
            state.game.deserialize_state(bytes(data))
        data[place] = was
    for cut in range(0, len(data), 7):
        with pytest.raises(ValueError, match="state"):
            state.game.deserialize_state(bytes(data[:cut]))
    assert state.game.deserialize_state(bytes(data)).serialize() == data


def test_rules_in_a_pickle_are_checked_anew() -> None:
    data = pickle.dumps(make_game("petrify_v0", size=5))
    spoilt = data.replace(b"size\x94K\x05", b"size\x94K\x63")
    assert spoilt != data
    with pytest.raises(ValueError, match="size=99"):
        pickle.loads(spoilt)


@pytest.mark.parametrize(
    ("name", "spoil", "named"),
    [
        ("logs", lambda array: array.fill(99), "the history of game 0 is damaged"),
        ("logs", lambda array: array[0, 4, 2:].fill(array[0, 4, 1] - 1), "the history of game 0 is damaged"),
        ("generators", lambda array: array.fill(255), "'a' of game 0 is not within 0"),
        ("records", lambda array: array.fill(255), "'terminated' of game 0 is not within 0 .. 1"),
    ],
)
def test_values_out_of_bounds_are_found_although_the_checksum_is_valid(
    name: str, spoil: Callable[[np.ndarray], None], named: str
) -> None:
    """What the others saw of a move is the move or -1. What is refused changes nothing; what was saved is restored."""
    vec = make_vec("cat_in_the_box_v0", num_envs=3, seed=0, num_players=2, history=True, rounds=2)
    vec.step_random(5, seed=0)
    saved, history = vec.save(), vec.history.copy()
    spoilt = vec.save()
    spoil(spoilt[name])
    vec.step_random(40, seed=0)
    before = contents(vec)
    with pytest.raises(ValueError, match=named):
        vec.load(resealed(spoilt))
    assert contents(vec) == before
    vec.load(saved)
    assert np.array_equal(vec.history, history)
