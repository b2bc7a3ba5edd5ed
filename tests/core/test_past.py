"""Worlds taken back to the beginning of their round: the same deal, and play that leads to them and to the history."""

from collections import Counter
from itertools import permutations
from math import factorial, prod
from typing import Any

import numpy as np
import pytest

from catbox_env import Game, GameState, make_game, make_vec
from catbox_env.core.kernels import HIDDEN, UNUSED
from catbox_env.core.past import Past
from tests.core.game_cases import CASES, played

RULES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3}),
    ("cat_in_the_box_v0", {"num_players": 5, "start_player": "random"}),
    ("cat_in_the_box_v0", {"num_players": 2, "rounds": 3}),
    ("cat_in_the_box_v0", {"num_players": 4, "bids": (), "rounds": "match"}),
    ("cat_te_v0", {"num_players": 4}),
    ("cat_te_v0", {"num_players": 6, "side_pot": 2, "rounds": 2}),
    ("cat_te_v0", {"num_players": 3, "region": "khmer", "side_pot": 1}),
    ("cat_te_v0", {"num_players": 2, "offsuit_faceup": False}),
]


def some_states(game: Game, count: int, first_seed: int = 0) -> list[GameState]:
    """States under way, after different numbers of random moves."""
    return [played(game, first_seed + i)[0] for i in range(count)]


def replayed(past: Past, rows: np.ndarray) -> Any:
    """The beginnings of ``rows``, played on by the actions of the past, with histories."""
    beginnings = past.beginnings.take(rows)
    games = make_vec(
        beginnings.game.id, len(rows), history=True, auto_deal=False, seed=0, **beginnings.game.options
    )
    games.set_states(beginnings)
    for actions in past.actions[rows].T:
        moving = np.flatnonzero(actions != UNUSED)
        games.step(actions[moving], moving)
    return games


@pytest.mark.parametrize(("game_id", "options"), RULES)
def test_replaying_the_past_of_a_world_leads_to_it_and_to_the_history(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    for state in some_states(game, 25):
        seat = state.current_player
        history = state.history_observation(seat)
        worlds = game.sample_states(state.observation(seat), 20, seed=4)
        past = game.rewind(worlds, history)
        possible = np.flatnonzero(past.importance_weights > 0)
        assert len(possible)
        games = replayed(past, possible)
        assert (games.observation == worlds.observation[possible]).all()
        for other in range(game.num_players):
            seen = [vec.observe(np.full(len(possible), other)) for vec in (games, worlds.take(possible))]
            assert np.array_equal(*seen)
        # The history of this round, as the seat saw it.
        used = int((games.history[0, :, 0] != UNUSED).sum())
        before = int((history[:, 0] != UNUSED).sum()) - used
        assert (games.history[:, :used] == history[before : before + used]).all()


@pytest.mark.parametrize(("game_id", "options"), RULES)
def test_the_true_state_is_taken_back_to_its_deal(game_id: str, options: dict[str, Any]) -> None:
    game = make_game(game_id, **options)
    rng = np.random.default_rng(2)
    state = game.new_initial_state(seed=8)
    dealt, played = state.clone(), list[int]()
    vec = make_vec(game_id, 1, history=True, auto_deal=False, seed=0, **options)
    while not state.is_terminal():
        vec.set_states([state])
        past = game.rewind(vec, vec.history)
        assert past.importance_weights[0] > 0
        for seat in range(game.num_players):
            assert np.array_equal(past.beginnings.observe(np.array([seat]))[0], dealt.observation(seat))
        known = state.history_observation(state.current_player)
        known = known[known[:, 0] != UNUSED][len(state.history()) - len(played) :, 1]
        visible = known != HIDDEN
        assert past.actions[0][: len(played)][visible].tolist() == np.array(played)[visible].tolist()
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        played.append(action)
        if state.round_ended:
            dealt, played = state.clone(), []


def test_a_world_weighs_as_many_times_as_there_are_orders_in_which_its_cards_can_have_been_folded() -> None:
    game = make_game("cat_te_v0", num_players=3, side_pot=1)
    counted = 0
    for state in some_states(game, 60, 300):
        seat = state.current_player
        history = state.history_observation(seat)
        worlds = game.sample_states(state.observation(seat), 8, seed=1)
        past = game.rewind(worlds, history)
        hidden = np.flatnonzero(history[:, 1] == HIDDEN)
        hidden = hidden[past.actions[0][hidden] >= 52]  # the others are blind choices
        movers = history[hidden, 0]
        if not 2 <= len(hidden) <= 4:
            continue
        for row in range(8):
            actions = past.actions[row]
            ways = 0
            for order in permutations(range(len(hidden))):
                if (movers[list(order)] != movers).any():
                    continue  # a card of another seat
                trial = actions.copy()
                trial[hidden] = actions[hidden[list(order)]]
                ways += leads_to(game, past, row, trial, worlds)
            assert past.importance_weights[row] == ways
            of_seats = np.bincount(movers, minlength=3).tolist()
            assert past.acceptance[row] == pytest.approx(ways / prod(map(factorial, of_seats)))
            counted += ways > 1
    assert counted > 20


def leads_to(game: Game, past: Past, row: int, actions: np.ndarray, worlds: Any) -> bool:
    games = past.beginnings.take(np.array([row]))
    for action in actions[actions != UNUSED]:
        if not games.action_mask[0, action]:
            return False
        games.step(np.array([action]))
    return np.array_equal(games.observation[0], worlds.observation[row])


def test_each_order_of_folded_cards_is_as_likely() -> None:
    game = make_game("cat_te_v0", num_players=2, region="khmer")
    state = game.new_initial_state(seed=5)
    folds = 0
    while folds < 3:  # the second seat folds as often as it may
        legal = state.legal_actions()
        state.apply_action(legal[-1] if state.current_player == 1 and legal[-1] >= 52 else legal[0])
        folds = sum(action >= 52 for action in state.history())
    while state.current_player != 0:
        state.apply_action(state.legal_actions()[0])
    worlds = game.sample_states(state.observation(0), 1, seed=0)
    many = worlds.take(np.zeros(3000, np.int64))
    many._generators[:] = game.sample_states(state.observation(0), 3000, seed=1)._generators
    past = game.rewind(many, state.history_observation(0))
    drawn = Counter(map(tuple, past.actions.tolist()))
    assert len(drawn) == past.importance_weights[0] == 6
    assert all(abs(count - 500) < 100 for count in drawn.values())


def test_a_history_that_cannot_be_of_the_world_is_refused() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    state = some_states(game, 1)[0]
    seat = state.current_player
    worlds = game.sample_states(state.observation(seat), 4, seed=0)
    history = state.history_observation(seat)
    with pytest.raises(ValueError, match="row 0 is not a history of world 0; give that of the seat"):
        game.rewind(worlds, np.full_like(history, UNUSED))
    with pytest.raises(ValueError, match="holds seats or actions that the game does not have"):
        game.rewind(worlds, np.full_like(history, 100))
    with pytest.raises(ValueError, match="expected int8 of shape"):
        game.rewind(worlds, history[:3])
    with pytest.raises(ValueError, match="3 for 4 worlds; give one for all"):
        game.rewind(worlds, np.stack([history] * 3))
    with pytest.raises(ValueError, match="history_of="):
        game.rewind(worlds, history, np.array([0, 0, 0, 1]))
    with pytest.raises(ValueError, match="worlds="):
        game.rewind([state], history)  # type: ignore[arg-type]
    # Of this length, but of another game: what everybody sees differs.
    other = np.array(history)
    other[: int((history[:, 0] != UNUSED).sum()), 1] = 0
    assert not game.rewind(worlds, other).importance_weights.any()


@pytest.mark.parametrize("game_id", CASES)
def test_games_without_hidden_cards_have_nothing_to_take_back(game_id: str) -> None:
    game = make_game(game_id)
    assert game.is_perfect_information == CASES[game_id].perfect_information
    if game.is_perfect_information:
        state = game.new_initial_state(seed=0)
        with pytest.raises(ValueError, match="hides nothing, so there is nothing to rewind"):
            game.rewind(game.sample_states(state.observation(0), 2, seed=0), state.history_observation(0))
