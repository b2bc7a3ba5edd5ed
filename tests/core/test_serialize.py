"""Games as bytes and copies: what was saved plays on exactly; what is not exactly what was saved is refused."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_env import GameState, make_game, make_vec
from catbox_env.core.spec import FORMAT
from tests.core.fuzz import sealed
from tests.core.game_cases import arrays_of, begun

SMALL = {"num_players": 2, "hand_size": 4, "revealed_cards": 0}

OTHER_RULES = [
    ("cat_in_the_box_v0", SMALL | {"num_ranks": 9}, SMALL | {"num_ranks": 2}, "num_ranks=9, expected 2"),
    ("cat_in_the_box_v0", {"reward": "score"}, {"reward": "win"}, "reward='score', expected 'win'"),
    ("petrify_v0", {"size": 8}, {"size": 3}, "size=8, expected 3"),
]  # fmt: skip


def changed(state: GameState, change: Callable[[Any], Any]) -> bytes:
    """``state`` serialised, with another content and a valid checksum."""
    data = state.serialize()
    content = json.loads(data.partition(b"\n")[2])
    change(content)
    return sealed(data, json.dumps(content).encode())


# States.


@pytest.mark.parametrize(("game_id", "options"), [
    ("cat_in_the_box_v0", {"num_players": 2, "rounds": 3, "start_player": "random"}),
    ("cat_te_v0", {"num_players": 3, "rounds": 3, "side_pot": 1}),
    ("petrify_v0", {"size": 3, "wildcards": 2}),
])  # fmt: skip
def test_a_state_that_was_read_plays_on_as_the_one_that_was_written(game_id: str, options: dict) -> None:
    """Over several rounds, from any deal, and however often it was cloned."""
    game, rng = make_game(game_id, **options), np.random.default_rng(1)
    first = make_game(game_id, **options | {"reward": "win"}).new_initial_state(seed=77)
    state = game.new_initial_state(seed=1, deal=game.deal_of(game.new_initial_state(seed=77)))
    assert state.state_vector().tobytes() == first.state_vector().tobytes()
    while not state.is_terminal():
        data = state.serialize()
        state.clone().clone()
        assert state.serialize() == data
        again = game.deserialize_state(data)
        assert again.record.tobytes() == state.record.tobytes()
        for _ in range(9):
            if not state.is_terminal():
                action = int(rng.choice(state.legal_actions()))
                for one in (state, again):
                    one.apply_action(action)
        assert again.serialize() == state.serialize()
        assert again.history_observation(1).tolist() == state.history_observation(1).tolist()


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


@pytest.mark.parametrize(("game_id", "one", "other", "named"), OTHER_RULES)
def test_games_of_other_rules_are_refused_by_name(game_id: str, one: dict, other: dict, named: str) -> None:
    state, vec = make_game(game_id, **one).new_initial_state(seed=0), make_vec(game_id, 3, seed=1, **other)
    before = arrays_of(vec)
    for read, given in ((vec.set_states, state), (vec.game.deserialize_state, state.serialize())):
        with pytest.raises(ValueError, match=f"other rules or reward.*{named}"):
            read(given)  # type: ignore[operator]
    assert arrays_of(vec) == before


def played_on(content: dict, action: int) -> None:
    content["actions"].append(action)


@pytest.mark.parametrize(("change", "named"), [
    (lambda c: c.update(format=FORMAT + 1), f"format {FORMAT + 1}, expected {FORMAT}; read it with the version"),
    (lambda c: c.update(game="cat_te_v0"), "a game of 'cat_te_v0', expected 'cat_in_the_box_v0'"),
    (lambda c: c.update(options=None), "other rules or reward"),
    (lambda c: c.pop("deals"), "not what state.serialize"),
    (lambda c: c.update(actions=3), "not what state.serialize"),
    (lambda c: c["generator"].pop(), "not what state.serialize"),
    (lambda c: c.update(generator=[2**32] * 4), "not what state.serialize"),
    (lambda c: played_on(c, 25), "illegal action 25"),
    (lambda c: played_on(c, 26), "action 26: expected an integer from 0 to 25"),
    (lambda c: played_on(c, None), "action None: expected an integer"),
    (lambda c: c["deals"].append(c["deals"][0]), "2 deals for 1 rounds"),
    (lambda c: c.update(deals=[None]), "1 deals for|illegal action"),
    (lambda c: c["deals"][0]["hands"][0].append(5), r"hands of \[11, 10\] cards"),
    (lambda c: c["actions"].__setitem__(0, 25), r"illegal action 25 \(paradox\)"),
])  # fmt: skip
def test_another_content_is_refused_although_the_checksum_is_valid(change: Callable, named: str) -> None:
    state = make_game("cat_in_the_box_v0", num_players=2, rounds=2).new_initial_state(seed=5)
    for _ in range(6):
        state.apply_action(state.legal_actions()[-1])
    with pytest.raises(ValueError, match=named):
        state.game.deserialize_state(changed(state, change))


@pytest.mark.parametrize("body", [b"[]", b"\xff\xfe", b"[" * 100_000, b'"deals"', b""])
def test_anything_but_a_state_is_refused_although_the_checksum_is_valid(body: bytes) -> None:
    state = make_game("petrify_v0").new_initial_state(seed=0)
    with pytest.raises(ValueError, match=r"a serialised state: not what state\.serialize"):
        state.game.deserialize_state(sealed(state.serialize(), body))


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_a_sampled_state_has_no_deals_to_write_and_can_be_copied(game_id: str) -> None:
    state = begun(make_game(game_id), 5, seed=2)
    vec = make_vec(game_id, 2, seed=0, history=True)
    for world in (state.game.sample_state(state.observation(0), 3), vec.get_state(1)):
        with pytest.raises(ValueError, match="this state was sampled, taken from a batch"):
            world.serialize()
        copies = [pickle.loads(pickle.dumps(world)), copy.deepcopy(world)]
        for one in (world, *copies):
            one.apply_action(one.legal_actions()[0])
        assert {one.record.tobytes() for one in copies} == {world.record.tobytes()}
        assert all(one.history() == world.history() for one in copies)


def test_clones_have_the_same_cards_and_different_futures_that_can_be_repeated() -> None:
    game = make_game("cat_in_the_box_v0", num_players=2, rounds=2)

    def next_deals() -> list[Any]:
        state = game.new_initial_state(seed=4)
        data, states = state.serialize(), [state]
        states += [state.clone(), state.clone(), states[0].clone().clone()]
        assert state.serialize() == data
        for one in states:
            assert one.record.tobytes() == state.record.tobytes()
        for one in states:
            while not one.round_ended:
                one.apply_action(one.legal_actions()[0])
        assert len({tuple(one.history()) for one in states}) == 1
        return [game.deal_of(one)["hands"] for one in states]

    deals = next_deals()
    assert next_deals() == deals
    assert len({repr(deal) for deal in deals}) == len(deals)


def test_a_replayed_game_is_dealt_as_given_and_beyond_that_by_the_seed() -> None:
    game = make_game("cat_te_v0", num_players=2, rounds=3)
    rng, state = np.random.default_rng(3), game.new_initial_state(seed=9)
    deals = [game.deal_of(state)]
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        if state.round_ended and not state.is_terminal():
            deals.append(game.deal_of(state))
    assert game.replay(deals, state.history()).state_vector().tolist() == state.state_vector().tolist()
    begun_only = [game.replay(deals[:1], [], seed=seed) for seed in (1, 1, 2)]
    assert all(game.deal_of(one) == deals[0] for one in begun_only)
    with pytest.raises(ValueError, match="illegal action"):
        game.replay([{"hands": deals[0]["hands"][::-1]}], state.history())


# Batches.


def test_a_batch_with_auto_deal_refuses_a_game_that_is_over() -> None:
    ends = make_vec("petrify_v0", num_envs=2, seed=0, auto_deal=False)
    while (running := np.flatnonzero(ends.current_player >= 0)).size:
        ends.step(ends.action_mask[running].argmax(axis=1), running)
    with pytest.raises(ValueError, match=r"game 0 is over.*auto_deal=False"):
        make_vec("petrify_v0", num_envs=2, seed=0).set_states(ends)
