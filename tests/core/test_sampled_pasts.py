"""States drawn with a past: what the seat has seen and done is the same in it."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from catbox_env import make_game
from catbox_env.core.kernels import UNUSED
from catbox_env.core.past import sample_past
from tests.core.game_cases import played

RULES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3}),
    ("cat_in_the_box_v0", {"num_players": 2, "rounds": 3}),
    ("cat_in_the_box_v0", {"num_players": 4, "bids": (), "rounds": 2, "start_player": "random"}),
    ("cat_te_v0", {"num_players": 4}),
    ("cat_te_v0", {"num_players": 5, "side_pot": 2, "rounds": 3}),
    ("cat_te_v0", {"num_players": 2, "region": "khmer", "offsuit_faceup": False, "rounds": 2}),
    ("petrify_v0", {"num_players": 2}),
    ("petrify_v0", {"num_players": 3, "size": 5, "teleports": 3, "walls": 2, "wildcards": 2, "zeros": 1}),
]


@pytest.mark.parametrize("beginnings", [False, True])
@pytest.mark.parametrize(("game_id", "options"), RULES, ids=str)
def test_a_state_drawn_with_a_history_has_one_that_looks_the_same(
    game_id: str, options: dict[str, Any], beginnings: bool
) -> None:
    game = make_game(game_id, **options)
    differ = 0
    for seed in range(8):
        state, begun = played(game, seed)
        for player in range(game.num_players):
            seen = np.stack([each.observation(player) for each in begun]) if beginnings else None
            history = state.history_observation(player)
            drawn, rounds = sample_past(game, state.observation(player)[None], seed, history, seen, player)
            assert np.array_equal(drawn.observation(player), state.observation(player))
            assert np.array_equal(drawn.history_observation(player), history)
            assert drawn.current_player == state.current_player
            assert drawn.returns() == state.returns()
            assert drawn.record.rounds_ended == state.record.rounds_ended
            assert [action for round_ in rounds for action in round_.actions] == drawn.history()
            differ += drawn.history() != state.history()
            assert game.deserialize_state(drawn.serialize()).history() == drawn.history()
            if not beginnings:
                continue
            again = game.new_initial_state(seed=0)
            for i, round_ in enumerate(rounds):  # what the seat saw at the beginning of each round
                game.set_deal(again.record, round_.deal)
                assert np.array_equal(again.observation(player), begun[i].observation(player))
                for action in round_.actions:
                    again.apply_action(action)
            assert np.array_equal(again.state_vector(), drawn.state_vector())
    assert bool(differ) != game.is_perfect_information


def test_the_same_seed_draws_the_same_past_and_another_one_another() -> None:
    game = make_game("cat_te_v0", num_players=3, rounds=2)
    state, _ = played(game, 5, 18)
    seen = state.observation(0), state.history_observation(0)
    drawn = [game.sample_state(seen[0], seed, history=seen[1]) for seed in (3, 3, 4)]
    assert drawn[0].serialize() == drawn[1].serialize() != drawn[2].serialize()
    assert drawn[0].history() != game.sample_state(seen[0], 3).history() == []


def test_a_round_that_ended_in_a_paradox_tells_what_the_last_hand_could_not_play() -> None:
    game = make_game("cat_in_the_box_v0", num_players=2, rounds=2)
    paradox, found = game.rules.paradox, 0
    for seed in range(60):
        state, begun = played(game, seed, 30)
        if len(begun) < 2 or paradox not in state.history():
            continue
        found += 1
        other = (begun[0].current_player + 1) % 2
        drawn = game.sample_state(state.observation(other), seed, history=state.history_observation(other))
        assert paradox in drawn.history()
        assert drawn.returns() == state.returns()
    assert found > 3


def test_where_too_many_boards_can_have_been_the_first_the_beginning_has_to_be_given() -> None:
    game = make_game("petrify_v0", size=8, zeros=10)
    for seed in range(40):
        state, begun = played(game, seed, 25)
        names = [name for row in game.deal_of(state.record)["tiles"] for name in row]
        if 10 - names.count("0") >= 4 and len(state.history()) == 25:
            break
    seen, history = state.observation(0), state.history_observation(0)
    with pytest.raises(ValueError, match="more than 20,000 deals, too many to try; give beginnings"):
        game.sample_state(seen, 0, history=history)
    drawn = game.sample_state(seen, 0, history=history, beginnings=begun[0].observation(0)[None])
    assert drawn.history() == state.history()


# Bad input.


def test_a_history_that_does_not_go_with_the_observation_is_refused() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3, rounds=2)
    state, begun = played(game, 1, 40)
    seen, history = state.observation(0), state.history_observation(0)
    with pytest.raises(ValueError, match="beginnings were given without the history"):
        game.sample_state(seen, 0, beginnings=seen[None])
    for wrong in (history[:3], history[None], history.astype(np.int64), "history", 7):
        with pytest.raises(ValueError, match="histor"):
            game.sample_state(seen, 0, history=wrong)
    for wrong in (np.full_like(history, UNUSED), np.full_like(history, 100), state.history_observation(1)):
        with pytest.raises(ValueError, match="histor"):
            game.sample_state(seen, 0, history=wrong)
    for wrong in (seen, seen[None, :-1], "beginnings", np.empty((0, len(seen)), np.int8)):
        with pytest.raises(ValueError, match="observation"):
            game.sample_state(seen, 0, history=history, beginnings=wrong)
    with pytest.raises(ValueError, match="histor"):  # of another seat
        game.sample_state(seen, 0, history=history, beginnings=np.stack([s.observation(1) for s in begun]))
    begun_with = np.stack([each.observation(0) for each in begun])
    assert game.sample_state(seen, 0, history=history, beginnings=begun_with).history()
    scores, hand = (begun_with.copy() for _ in range(2))
    scores[1, game.observation_layout["scores"].offset] += 1
    hand[1] = game.new_initial_state(seed=77).observation(0)
    for wrong in (scores, hand, begun_with[::-1], np.concatenate([begun_with, begun_with[:1]])):
        with pytest.raises(ValueError, match="histor"):  # of another beginning; of one round more
            game.sample_state(seen, 0, history=history, beginnings=wrong)
    earlier = game.new_initial_state(seed=1)
    with pytest.raises(ValueError, match="histor"):
        game.sample_state(seen, 0, history=earlier.history_observation(0))
    petrify = make_game("petrify_v0")
    state, begun = played(petrify, 0, 4)
    wrong = state.history_observation(0)
    wrong[0, 1] = wrong[2, 1]
    with pytest.raises(ValueError, match="history: no game leads to this observation"):
        petrify.sample_state(state.observation(0), 0, history=wrong)
    twice = np.stack([begun[0].observation(0)] * 2)
    with pytest.raises(ValueError, match="history: no game leads to this observation"):
        petrify.sample_state(state.observation(0), 0, history=state.history_observation(0), beginnings=twice)


@pytest.mark.parametrize("rows", [
    [[0, 0], [1, -1], *[[0, r] for r in (0, 1, 2, 3, 4) for _ in range(5)], [0, -9]],  # discards without end
    [[0, 0], [1, -1], *[[1, 5 + i] for i in range(14)], [0, -9]],  # one seat plays for both
    [[1, -1]] * 2 + [[1, 5 + i] for i in range(15)] + [[0, -9]],
    [[0, -9]],
    [[1, -1], [1, -1], [0, -9]],
])  # fmt: skip
def test_histories_in_which_a_seat_plays_more_cards_than_it_has_are_refused(rows: list[list[int]]) -> None:
    """Drawing what they leave would run out of cards. -9 stands for a paradox."""
    game = make_game("cat_in_the_box_v0", num_players=2, rounds=3)
    history = np.full((game.max_game_length, 2), UNUSED, np.int8)
    history[: len(rows)] = [[seat, game.rules.paradox if a == -9 else a] for seat, a in rows]
    actions, drawn = np.full(game.max_game_length, UNUSED, np.int64), np.zeros(2, game.state_dtype)
    state = game.new_initial_state(seed=0)
    for known in (False, True):
        found = game.loops.draw_earlier_round(
            game.params, state.generators, state.records, 0, known, history, 0, 0, actions, drawn, 5
        )
        assert found == -1 or (len(rows) == 3 and found == 0)


@pytest.mark.parametrize(("game_id", "options"), RULES, ids=str)
def test_random_histories_never_crash_and_are_refused_or_weigh_nothing(
    game_id: str, options: dict[str, Any]
) -> None:
    game, rng = make_game(game_id, **options), np.random.default_rng(0)
    actions, drawn = np.full(game.max_game_length, UNUSED, np.int64), np.zeros(2, game.state_dtype)
    for seed in range(20 * (not game.is_perfect_information)):
        state, _ = played(game, seed)
        history = np.empty((game.max_game_length, 2), np.int8)
        history[:, 0] = rng.integers(-1, game.num_players, game.max_game_length)
        history[:, 1] = rng.integers(-1, game.num_actions, game.max_game_length)
        for first in range(0, game.max_game_length, 7):
            found = game.loops.draw_earlier_round(
                game.params,
                state.generators,
                state.records,
                0,
                bool(first % 2),
                history,
                first,
                0,
                actions,
                drawn,
                5,
            )
            assert found <= 0
        history[int(rng.integers(game.max_game_length)) :] = UNUSED
        worlds = game.sample_states(state.observation(state.current_player), 2, seed=0)
        with contextlib.suppress(ValueError):
            assert (game.rewind(worlds, history).importance_weights >= 0).all()
