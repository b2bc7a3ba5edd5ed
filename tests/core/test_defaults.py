"""What a game gets that says nothing about its text and events: each game keeps its contract with it."""

import copy

import numpy as np
import pytest

from catbox_env.core.conformance import check_game
from catbox_env.core.game import Game
from catbox_env.games.cat_in_the_box.game import CatInTheBox
from catbox_env.games.cat_te.game import CatTe
from catbox_env.games.petrify.game import Petrify


class Plain:
    """The words of a game that has none of its own."""

    _action_text, _illegal_reason = Game._action_text, Game._illegal_reason
    _styled_text, _events = Game._styled_text, Game._events
    describe_actions, describe_rules = Game.describe_actions, Game.describe_rules


class PlainCatInTheBox(Plain, CatInTheBox):  # type: ignore[misc]  # the same signatures, of a base class
    id = "plain_cat_in_the_box_v0"


class PlainCatTe(Plain, CatTe):  # type: ignore[misc]
    id = "plain_cat_te_v0"


class PlainPetrify(Plain, Petrify):  # type: ignore[misc]
    id = "plain_petrify_v0"


GAMES = [
    PlainCatInTheBox(num_players=3),
    PlainCatInTheBox(num_players=2, rounds=2),
    PlainCatTe(rounds=2),
    PlainPetrify(num_players=3, teleports=2),
]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_a_game_of_defaults_keeps_the_contract(game: Game) -> None:
    check_game(game, num_games=2)


def test_the_text_shows_the_parts_that_a_seat_sees() -> None:
    state = PlainPetrify().new_initial_state(seed=1)
    seen = state.game.observation_layout.unpack(state.observation(0))
    text = state.game.render_text(state, 0)
    assert text.startswith("Plain Petrify: player_0 to move\n")
    assert "\nto_move: 1 0\n" in text
    for (seat, row), is_there in np.ndenumerate(seen["positions"].any(axis=2)):
        line = f"positions {seat} {row}: {' '.join(map(str, seen['positions'][seat][row]))}\n"
        assert (line in text) == is_there


def test_the_complete_state_is_shown_to_everybody_together() -> None:
    game = PlainCatInTheBox(num_players=3)
    state = game.new_initial_state(seed=1)
    hands = [line for line in game.render_text(state).splitlines() if line.startswith("hand ")]
    assert len(hands) == 3
    assert len([line for line in game.render_text(state, 1).splitlines() if line.startswith("hand")]) == 1


def test_an_action_is_told_by_its_name_and_a_hidden_one_to_nobody_else() -> None:
    game = PlainCatInTheBox(num_players=3)
    before = game.new_initial_state(seed=1)
    action = before.legal_actions()[0]
    state = copy.deepcopy(before)
    state.apply_action(action)
    for seat, words in ((0, f"action {action}"), (None, f"action {action}"), (1, "a hidden action")):
        (event,) = game.events(before, action, state, seat)
        assert event.text == f"player_0: {words}"
        assert event.data == {"action": None if seat == 1 else action}


def test_the_winners_are_told_at_the_end() -> None:
    game = PlainPetrify(num_players=3)
    state = game.new_initial_state(seed=1)
    while not state.is_terminal():
        before, action = copy.deepcopy(state), state.legal_actions()[0]
        state.apply_action(action)
        last = game.events(before, action, state)[-1]
    winner = state.returns().index(1.0)
    assert (last.kind, last.seat, last.data) == ("game_end", winner, {"winners": [winner]})
    assert last.text == f"player_{winner} wins"
