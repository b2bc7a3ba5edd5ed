"""The picture of a game that has none of its own."""

import pytest

from catbox_env import Game
from tests.core.test_defaults import GAMES, PlainCatInTheBox, PlainPetrify
from tests.pictures.checks import check_pictures, labels, texts


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_pictures_are_sound_and_tell_nothing_hidden(game: Game) -> None:
    check_pictures(game, num_games=2)


def test_it_shows_the_parts_that_a_seat_sees_and_what_it_may_do() -> None:
    state = PlainPetrify().new_initial_state(seed=1)
    lines = state.game.render_text(state, 0).splitlines()[1:]
    assert len(lines) > 10
    assert [line for line in lines if line not in texts(state, 0)] == []
    legal = [state.game.action_to_string(action) for action in state.legal_actions()]
    assert [label for label in labels(state, 0) if label.startswith("action")] == legal
    assert not [label for label in labels(state, 1) if label.startswith("action")]


def test_the_last_action_is_told_by_its_name_and_a_hidden_one_to_nobody_else() -> None:
    state = PlainCatInTheBox(num_players=3).new_initial_state(seed=1)
    action = state.legal_actions()[0]
    state.apply_action(action)
    name = state.game.action_to_string(action)
    for seat, words in ((0, name), (None, name), (1, "a hidden action")):
        assert f"player_0: {words}." in texts(state, seat)


def test_the_winner_is_told_at_the_end() -> None:
    state = PlainPetrify(num_players=3).new_initial_state(seed=1)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert f"player_{state.returns().index(1.0)} wins" in texts(state)
