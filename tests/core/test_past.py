"""The round under way of a world: a deal and play that lead to it, and to what a seat has seen of it."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from catbox_env import Game, GameState, Vec, make_game
from catbox_env.core.kernels import HIDDEN, UNUSED
from catbox_env.core.worlds import Past
from catbox_env.games.cat_in_the_box.game import CatInTheBox
from tests.core.events import steps
from tests.core.game_cases import CASES, begun
from tests.core.test_uniform_pasts import multiplicity
from tests.games.test_conformance import VARIANTS

RULES = [(game_id, options) for game_id, options in VARIANTS if not CASES[game_id].perfect_information]


def some_states(game: Game, count: int, first_seed: int = 0) -> list[GameState]:
    """States under way, after different numbers of random moves."""
    rng = np.random.default_rng(first_seed)
    return [begun(game, int(rng.integers(game.max_game_length)), first_seed + i) for i in range(count)]


def moves_of_round(state: GameState) -> int:
    """How many actions the round under way has seen."""
    return int(state.record.num_moves - state._round_starts[-1][0].num_moves)


def replayed(past: Past, rows: np.ndarray) -> Vec:
    """The beginnings of ``rows``, played on by the actions of the past, with histories."""
    starts = past.round_starts.take(rows)
    games = Vec(starts.game, len(rows), seed=0, history=True, auto_deal=False)
    games.set_states(starts)
    for actions in past.actions[rows].T:
        moving = np.flatnonzero(actions != UNUSED)
        games.step(actions[moving], moving)
    return games


@pytest.mark.parametrize(("game_id", "options"), RULES, ids=str)
def test_replaying_the_past_of_a_world_leads_to_it_and_to_the_history(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    for state in some_states(game, 25):
        seat, used = state.current_player, moves_of_round(state)
        history, before = state.history_observation(seat), len(state.history()) - used
        worlds = game.sample_states(state.observation(seat), 20, seed=4)
        past = game.rewind(worlds, history)
        possible = np.flatnonzero(past.importance_weights > 0)
        assert len(possible)
        games = replayed(past, possible)
        for other in range(game.num_players):
            seen = [vec.observe(np.full(len(possible), other)) for vec in (games, worlds.take(possible))]
            assert np.array_equal(*seen)
        # The history of this round, as the seat saw it.
        assert (games.history[:, :used] == history[before : before + used]).all()
        assert (games.history[:, used:] == UNUSED).all()


@pytest.mark.parametrize(("game_id", "options"), RULES, ids=str)
def test_the_true_state_is_taken_back_to_its_deal(game_id: str, options: dict[str, Any]) -> None:
    game, rng = make_game(game_id, **options), np.random.default_rng(2)
    state, vec = game.new_initial_state(seed=8), Vec(game, 1, seed=0, history=True, auto_deal=False)
    while not state.is_terminal():
        vec.set_states([state])
        past, used = game.rewind(vec, vec.history), moves_of_round(state)
        assert past.importance_weights[0] > 0
        assert game.deal_of(past.round_starts.get_state(0)) == game.deal_of(state)
        known = state.history_observation(state.current_player)[len(state.history()) - used :][:used, 1]
        taken = np.array(state.history()[len(state.history()) - used :], int)
        assert np.array_equal(past.actions[0, :used][known != HIDDEN], taken[known != HIDDEN])
        state.apply_action(int(rng.choice(state.legal_actions())))


def test_a_world_weighs_less_for_every_other_card_with_which_an_action_could_have_been_taken() -> None:
    """In Cat in the Box: by 1 / c where an action takes one of c equal cards."""
    game, tested = make_game("cat_in_the_box_v0", num_players=3), 0
    for state in some_states(game, 12):
        worlds = game.sample_states(state.observation(state.current_player), 5, seed=1)
        past = game.rewind(worlds, state.history_observation(state.current_player))
        for row in range(5):
            one, weight = past.round_starts.get_state(row), 1.0
            for action in past.actions[row][past.actions[row] != UNUSED]:
                weight /= multiplicity(one, int(action))
                one.apply_action(int(action))
            assert past.importance_weights[row] == pytest.approx(weight)
            tested += weight < 0.1
    assert tested > 20


def test_a_history_that_cannot_be_of_the_world_is_refused() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    state = begun(game, 20, 1)
    seat = state.current_player
    seen, history = state.observation(seat), state.history_observation(seat)
    worlds = game.sample_states(seen, 4, seed=0)
    wrong: list[tuple[Any, str]] = [
        (np.full_like(history, UNUSED), "row 0 is not a history of world 0; give that of the seat"),
        (np.full_like(history, 100), "holds seats or actions that the game does not have"),
        (history.astype(np.int64), "expected int8 of shape"),
    ]
    for given, said in wrong:
        with pytest.raises(ValueError, match=said):
            game.rewind(worlds, given)
        with pytest.raises(ValueError, match=said):
            game.sample_state(seen, 0, history=given)
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


def test_a_history_that_no_sample_agrees_with_is_refused_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catbox_env.core.worlds.MAX_SAMPLED", 300)
    game = make_game("cat_in_the_box_v0", num_players=3)
    state = begun(game, 20, 1)
    with pytest.raises(ValueError, match="history: none of 341 samples of this round agree with it"):
        game.sample_state(state.observation(0), 0, history=state.history_observation(1))


# Information is declared.


class Forgetful(CatInTheBox):
    """Hides cards, and has no kernel that takes worlds back."""

    id = "forgetful_v0"
    kernels = dataclasses.replace(CatInTheBox.kernels, rewind=None)


@pytest.mark.parametrize("game_id", CASES)
def test_games_without_hidden_cards_have_nothing_to_take_back(game_id: str) -> None:
    game = make_game(game_id)
    assert game.is_perfect_information == CASES[game_id].perfect_information
    if game.is_perfect_information:
        state = game.new_initial_state(seed=0)
        with pytest.raises(ValueError, match="hides nothing, so there is nothing to rewind"):
            game.rewind(game.sample_states(state.observation(0), 2, seed=0), state.history_observation(0))


def test_a_game_that_hides_cards_is_not_one_of_perfect_information_for_want_of_a_kernel() -> None:
    game = Forgetful(num_players=3)
    state = begun(game, 5, 0)
    assert not game.is_perfect_information
    assert game.sample_state(state.observation(0), 0).history() == []
    with pytest.raises(ValueError, match="forgetful_v0 has no kernel `rewind`, so worlds cannot be sampled"):
        game.sample_state(state.observation(0), 0, history=state.history_observation(0))


# The end of a round opens its cards to everybody: one model of what is known.


@pytest.mark.parametrize(
    ("game_id", "options"), [r for r in RULES if "rounds" in r[1] and "start_player" not in r[1]], ids=str
)
def test_at_the_end_of_a_round_everybody_is_told_its_cards_and_samples_are_about_the_next(
    game_id: str, options: dict[str, Any]
) -> None:
    game, rounds = make_game(game_id, **options), 0
    for before, action, after in steps(game, seed=5):
        if not after.round_ended:
            continue
        told = [game.events(before, action, after, seat) for seat in (None, *range(game.num_players))]
        ends = [events[[event.kind for event in events].index("round_end") :] for events in told]
        assert all(end == ends[0] for end in ends)
        assert any(event.kind == "hand" for event in ends[0])
        if after.is_terminal():
            continue
        rounds += 1
        for seat in range(game.num_players):
            world = game.sample_state(after.observation(seat), 1, history=after.history_observation(seat))
            assert world.history() == []
            assert np.array_equal(world.observation(seat), after.observation(seat))
    assert rounds
