"""The picture of a game that has none of its own."""

import numpy as np
import pytest

from catbox_env import GAMES as GAME_IDS
from catbox_env import Game
from catbox_env.adapters.aec import AECGame
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


class WordyPetrify(PlainPetrify):
    """Petrify on nine cells, with long names of actions and parts of unusual characters."""

    id = "wordy_petrify_v0"

    def action_to_string(self, action: int) -> str:
        return ODD_NAMES[action] if action < len(ODD_NAMES) else f"walk to the cell of number {action:03}"


ODD_NAMES = ["\u2660\u00e9\u732b", "two\nlines", "a nul \0", "half \ud83d", "<b>&amp;</b>"]


def test_a_long_name_is_cut_on_its_button_and_complete_for_a_screen_reader() -> None:
    state = WordyPetrify(size=3).new_initial_state(seed=1)
    names = [state.game.action_to_string(action) for action in state.legal_actions()]
    long = [name for name in names if len(name) == 30]
    assert long
    assert set(long) <= set(labels(state, 0))
    buttons = [words for words in texts(state, 0) if words.startswith("walk")]
    assert buttons == ["walk to the cell ..."] * len(long)


def test_names_of_any_length_and_characters_are_drawn_as_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAME_IDS, WordyPetrify.id, f"{__name__}:WordyPetrify")
    env, rng = AECGame(WordyPetrify.id, size=3, render_mode="rgb_array"), np.random.default_rng(0)
    drawn = set()
    for seed in range(4):
        env.reset(seed=seed)
        while not env.game_state.is_terminal():
            assert env.render().shape[1:] == (640, 3)
            drawn.update(env.game_state.legal_actions())
            env.step(int(rng.choice(env.game_state.legal_actions())))
    assert drawn == {*range(env.game.num_actions)}


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
