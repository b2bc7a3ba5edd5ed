"""Features of Cat in the Box against a slow reference, and positions that show what they mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import GameState, make_game
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.agents.features.cat_in_the_box_reference import Position
from tests.agents.features.comparing import check_features, features_of
from tests.cat_in_the_box.positions import play, start
from tests.games.rule_sets import RULES


def check_game(rules: Rules, seed: int) -> None:
    game = make_game("cat_in_the_box_v0", rules=rules)
    check_features(game, seed, lambda state, seat: Position(game, state.observation(seat)))


@settings(max_examples=40)
@given(rules=RULES["cat_in_the_box_v0"], seed=st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_every_rule_set_agrees_with_the_reference(rules: Rules, seed: int) -> None:
    check_game(rules, seed)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_standard_games_agree_with_the_reference(players: int) -> None:
    for seed in range(3):
        check_game(Rules(num_players=players), seed)


@pytest.mark.nojit
def test_the_functions_without_compilation_agree_with_the_reference() -> None:
    check_game(Rules(num_players=3, hand_size=5, rounds=2), seed=0)
    check_game(Rules(num_players=2, hand_size=5), seed=1)


#: Seat 0 leads after these discards and bids. Seat 1 keeps 3 3 3 3 5, seat 2 1 2 4 4 6.
HANDS = [[1, 1, 2, 5, 5, 6], [2, 3, 3, 3, 3, 5], [1, 2, 4, 4, 6, 6]]
OPENING = ("discard 1", "discard 2", "discard 6", "bid 1", "bid 2", "bid 1")


def after(*moves: str) -> GameState:
    return play(start(HANDS, num_ranks=6, copies=5), *OPENING, *moves)


def number(state: GameState, move: str, name: str) -> int:
    """One feature of a legal move of the seat to move."""
    action = state.game.string_to_action(f"play {move}")
    return features_of(state, state.current_player)[1][action].get(name, 0)


def test_four_cards_of_a_rank_need_four_colours() -> None:
    state = after("blue 5")
    parts, _ = features_of(state, 1)
    assert parts["placeable_total"] == [5]
    assert parts["slack"] == [1]  # four tricks to play
    assert number(state, "green 5", "gives_up_color") == 1
    assert number(state, "green 5", "placeable_lost") == 1
    assert number(state, "green 5", "slack") == 0
    assert number(state, "blue 3", "gives_up_color") == 0
    assert number(state, "blue 3", "placeable_lost") == 0
    assert number(state, "blue 3", "slack") == 1


def test_the_last_to_play_wins_surely_and_the_leader_may_be_trumped() -> None:
    leading = after()
    assert number(leading, "blue 6", "wins_now") == 1
    assert number(leading, "blue 6", "beaters") == 0
    assert number(leading, "blue 6", "trump_beaters") == 24  # of 30 cards it has held six
    assert number(leading, "blue 6", "wins_surely") == 0
    last = after("blue 2", "blue 3")
    assert number(last, "yellow 6", "wins_now") == 0
    assert number(last, "blue 4", "wins_surely") == 1
    assert number(last, "red 1", "wins_surely") == 1
    assert number(last, "red 1", "win_is_wanted") == 1
    assert number(last, "red 1", "win_spoils") == 1  # seat 1 needs two tricks
    assert number(after("blue 2", "blue 3", "blue 1", "green 3"), "blue 4", "win_spoils") == 0


def test_a_seat_that_has_what_it_wants_wants_no_more() -> None:
    state = after("blue 6", "blue 5", "blue 4")
    parts, _ = features_of(state, 0)
    assert parts["needed"] == [0, 2, 1]
    assert parts["status"] == [[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]]
    assert parts["demand"] == [0]  # three tricks needed and three left
    assert number(state, "green 5", "win_is_wanted") == -1
    play(state, "green 5", "green 3")
    assert number(state, "red 1", "win_spoils") == -1  # a favour to seat 0, which is winning


def test_a_cell_between_two_groups_of_another_seat_is_denied_to_it() -> None:
    state = after("blue 1", "red 3", "blue 2", "red 5")
    assert number(state, "red 4", "group_denied") == 2  # red 3, 4 and 5 in place of one cell
    assert number(state, "red 4", "others_beside") == 2
    assert number(state, "red 6", "group_denied") == 1
    assert number(state, "green 4", "group_denied") == 0
    assert number(state, "red 1", "group_growth") == 0
    assert number(state, "red 1", "own_beside") == 0
    parts, _ = features_of(state, 2)
    assert (
        parts["group_room"][0] == 0
    )  # beside its blue 2 there are a 1 that is taken, 3 and two 2s: none is in hand
    assert number(state, "green 4", "group_room") == 1  # yellow 4 for the other 4
