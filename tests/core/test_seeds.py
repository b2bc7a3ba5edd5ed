"""What a seed gives: for each purpose numbers of its own, every time the same; and nothing that is given changes."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence

from catbox_env import Game, GameState, Vec, make_game, make_vec
from catbox_env.adapters.aec import AECGame
from catbox_env.core import game, vec, worlds
from catbox_env.core.rng import new_generators

GAME = make_game("cat_in_the_box_v0", num_players=2, rounds=2)


def in_play() -> GameState:
    state = GAME.new_initial_state(seed=3)
    for _ in range(7):
        state.apply_action(state.legal_actions()[0])
    return state


@pytest.mark.parametrize("players", [2, 4])
def test_random_actions_do_not_depend_on_the_cards_that_the_same_seed_dealt(players: int) -> None:
    vec = make_vec("cat_in_the_box_v0", 4000, seed=5, num_players=players)
    mask, hands = vec.action_mask.copy(), vec.game.observation_layout.unpack(vec.observation.copy())["hand"]
    vec.step_random(1, seed=5)
    place = [row[:action].sum() / row.sum() for row, action in zip(mask, vec._actions, strict=True)]
    assert max(abs(np.corrcoef(place, hands[:, rank])[0, 1]) for rank in range(hands.shape[1])) < 0.08


def test_one_seed_gives_each_purpose_generators_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []

    def spy(seeds: list[SeedSequence]) -> np.ndarray:
        generators = new_generators(seeds)
        made.extend(generator.tobytes() for generator in generators)
        return generators

    state, batch = in_play(), Vec(GAME, 3, seed=0)
    seen = state.observation(0)
    purposes: dict[str, Callable[[], Any]] = {
        "a deal": lambda: GAME.new_initial_state(seed=5),
        "deals": lambda: batch.reset(seed=5),
        "actions": lambda: batch.step_random(1, seed=5),
        "a world": lambda: GAME.sample_state(seen, seed=5),
        "worlds": lambda: GAME.sample_states(np.stack([seen, seen]), 1, seed=5),
    }
    for module in (game, vec, worlds):
        monkeypatch.setattr(module, "new_generators", spy)
    for purpose in purposes.values():
        purpose()
    assert len({*made}) == len(made) == 1 + 3 + 3 + 1 + 2


def test_a_batch_takes_a_seed_for_each_game_as_a_list_or_a_tuple() -> None:
    one, two = Vec(GAME, 2, seed=[1, 2]), Vec(GAME, 2)
    two.reset(seed=(1, 2))
    assert np.array_equal(one.observation, two.observation)
    two.deal(np.arange(2), (1, SeedSequence(2)))
    assert np.array_equal(one.observation, two.observation)
    for wrong in ((1, 2, 3), [1], (1, -1), np.array([1, 2])):
        with pytest.raises(ValueError, match="seed="):
            two.reset(seed=wrong)
        assert np.array_equal(one.observation, two.observation)
    two.reset(seed=[3, None])  # None: the game's generator goes on
    assert np.array_equal(two.observation[0], GAME.new_initial_state(seed=3).observation(0))
    one.deal(np.array([1]))
    assert np.array_equal(two.observation[1], one.observation[1])


def outcome(result: Any, vec: Vec) -> list[bytes]:
    """Everything that a call can have made or changed."""
    arrays = [vec.observation, vec._records, vec._generators]
    if isinstance(result, GameState | Vec):
        arrays += [result._records, result._generators]
    elif result is not None:
        arrays += [result]
    return [array.tobytes() for array in arrays]


STATE = in_play()
SEEN, HISTORY = STATE.observation(STATE.current_player), STATE.history_observation(STATE.current_player)
ROWS, SEATS = np.array([2, 0]), np.array([1, 0])
DEAL = {"hands": [[1] * 5 + [2] * 5, [3] * 5 + [4] * 5], "revealed": [5, 5, 5]}

#: Calls, with arguments of all kinds.
CALLS: list[tuple[Callable[..., Any], tuple]] = [
    (lambda vec, seed: vec.reset(seed), (SeedSequence(1),)),
    (lambda vec, seed: vec.reset(seed), ([SeedSequence(1), SeedSequence(2), 3],)),
    (lambda vec, rows, seeds: vec.deal(rows, seeds), (ROWS, [SeedSequence(1), None])),
    (lambda vec, seed: vec.step_random(4, seed), (SeedSequence(1),)),
    (lambda vec, rows: vec.step(vec.action_mask[rows].argmax(1), rows), (ROWS,)),
    (lambda vec, actions, rows: vec.step(actions, rows), (np.array([0, 0], np.int8), ROWS)),
    (lambda vec, seats, rows: vec.observe(seats, rows), (SEATS, ROWS)),
    (lambda vec, rows: vec.take(rows), (ROWS,)),
    (lambda vec, state, rows: vec.set_states(state, rows), (STATE, ROWS)),
    (lambda vec, seed: GAME.new_initial_state(seed), (SeedSequence(1),)),
    (lambda vec, deal: GAME.new_initial_state(1, deal), (DEAL,)),
    (lambda vec, seen, seed: GAME.sample_state(seen, seed), (SEEN, SeedSequence(1))),
    (lambda vec, seen, history: GAME.sample_state(seen, 1, history), (SEEN, HISTORY)),
    (lambda vec, seen, count, seed: GAME.sample_states(seen, count, seed), (SEEN[None], ROWS[:1], SeedSequence(1))),
    (lambda vec, history: GAME.rewind(GAME.sample_states(SEEN, 3, 1), history).actions, (HISTORY,)),
    (lambda vec, options: AECGame("cat_in_the_box_v0", num_players=2).reset(1, options), ({"deal": DEAL, "more": 1},)),
]  # fmt: skip


def as_bytes(value: Any) -> Any:
    """What ``value`` holds, to find a change."""
    if isinstance(value, SeedSequence):
        return value.n_children_spawned, value.state
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, GameState):
        return value.serialize()
    return [as_bytes(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_call_changes_nothing_that_it_is_given_and_does_the_same_again(number: int) -> None:
    call, arguments = CALLS[number]
    vec = Vec(GAME, 3, seed=0)
    vecs = [copy.deepcopy(vec), copy.deepcopy(vec), vec]
    for value in arguments:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    before = copy.deepcopy([as_bytes(value) for value in arguments])
    outcomes = [outcome(call(vec, *arguments), vec) for vec in vecs]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert [as_bytes(value) for value in arguments] == before


def test_options_that_were_given_are_not_changed() -> None:
    bids, rules = [0, 2], {"num_players": 2, "bids": [0, 2]}
    game: Game = make_game("cat_in_the_box_v0", num_players=2, bids=bids)
    assert make_game("cat_in_the_box_v0", rules=rules) == game
    assert (bids, rules) == ([0, 2], {"num_players": 2, "bids": [0, 2]})
    game.options["bids"].append(5)
    assert game.options["bids"] == [0, 2]
