"""The rules page of Cat in the Box, sentence by sentence: research variants, their bounds, given deals, actions."""

import dataclasses

import numpy as np
import pytest

import catbox_env
from catbox_env.games.cat_in_the_box.rules import Deal, Rules
from tests.cat_in_the_box.positions import view

pytestmark = pytest.mark.nojit


def make(**options):
    return catbox_env.make_game("cat_in_the_box_v0", **options)


# ---------------------------------------------------------------- Rules


def test_rules_is_a_frozen_dataclass_with_the_published_fields():
    names = [field.name for field in dataclasses.fields(Rules)]
    assert names == [
        "num_players", "num_ranks", "num_colors", "copies", "hand_size",
        "bids", "bonus_max_tricks", "revealed_cards", "rounds", "start_player",
    ]  # fmt: skip
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().num_players = 3


def test_the_tiny_game_is_for_two_players_with_bids_and_small():
    rules = Rules.tiny()
    assert rules.num_players == 2
    assert len(rules.bids) > 0
    state = make(rules=rules).new_initial_state(seed=0)
    lengths = set()

    def explore(position, depth):
        if position.is_terminal():
            lengths.add(depth)
            return 1
        total = 0
        for action in position.legal_actions():
            child = position.clone()
            child.apply_action(action)
            total += explore(child, depth + 1)
        return total

    endings = explore(state, 0)
    assert 2 <= endings <= 100_000
    assert max(lengths) == 2 * (2 + rules.hand_size - 2)


@pytest.mark.parametrize(
    ("options", "field", "value", "bounds"),
    [
        ({"num_players": 1}, "num_players", "1", ("2", "5")),
        ({"num_players": 6}, "num_players", "6", ("2", "5")),
        ({"num_ranks": 0}, "num_ranks", "0", ("1", "9")),
        ({"num_ranks": 10}, "num_ranks", "10", ("1", "9")),
        ({"num_colors": 1}, "num_colors", "1", ("2", "4")),
        ({"num_colors": 5}, "num_colors", "5", ("2", "4")),
        ({"copies": 0}, "copies", "0", ("1", "5")),
        ({"copies": 6}, "copies", "6", ("1", "5")),
        ({"hand_size": 2}, "hand_size", "2", ("3",)),
        ({"num_players": 4, "hand_size": 11}, "hand_size", "11", ("40",)),
        ({"num_players": 2, "hand_size": 13, "revealed_cards": 0}, "hand_size", "13", ("25",)),
        ({"revealed_cards": -1}, "revealed_cards", "-1", ("0",)),
        ({"num_players": 2, "revealed_cards": 6}, "revealed_cards", "6", ("25",)),
        ({"bids": (2, 1)}, "bids", "(2, 1)", ("ascending",)),
        ({"bids": (1, 1)}, "bids", "(1, 1)", ("ascending",)),
        ({"bids": (-1, 1)}, "bids", "-1", ("0",)),
        ({"num_players": 3, "bids": (1, 9)}, "bids", "9", ("8",)),
        (
            {"num_players": 2, "hand_size": 11, "num_ranks": 9, "bids": tuple(range(10))},
            "bids",
            "(0, 1, 2, ",
            ("9",),
        ),
        ({"bonus_max_tricks": -1}, "bonus_max_tricks", "-1", ("0",)),
        ({"rounds": 0}, "rounds", "0", ("1", "127")),
        ({"rounds": 128}, "rounds", "128", ("1", "127")),
        ({"rounds": "forever"}, "rounds", "forever", ("match",)),
        ({"num_players": 3, "start_player": 3}, "start_player", "3", ("0", "2")),
        ({"start_player": -1}, "start_player", "-1", ("0", "3")),
        ({"start_player": "dealer"}, "start_player", "dealer", ("random",)),
    ],
)
def test_anything_else_is_refused_with_field_value_and_bound(options, field, value, bounds):
    with pytest.raises(ValueError, match=field) as of_make_game:
        make(**options)
    message = str(of_make_game.value)
    for word in (value, *bounds):
        assert word in message, f"{word!r} is missing from: {message}"
    with pytest.raises(ValueError, match=field):
        Rules(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 2},
        {"num_players": 5},
        {"num_ranks": 9},
        {"num_players": 2, "num_ranks": 2, "hand_size": 3, "revealed_cards": 0},
        {"num_colors": 2},
        {"copies": 1, "num_players": 3, "num_ranks": 9},
        {"hand_size": 3},
        {"num_players": 2, "hand_size": 11},
        {"num_players": 2, "revealed_cards": 5},
        {"bids": (0,)},
        {"num_players": 3, "bids": (0, 8)},
        {"num_players": 3, "num_ranks": 7, "bids": tuple(range(9))},
        {"bids": ()},
        {"bids": (), "bonus_max_tricks": 0},
        {"rounds": 127},
        {"rounds": "match"},
        {"start_player": 3},
        {"start_player": "random"},
    ],
)
def test_what_lies_on_the_bound_is_accepted(options):
    state = make(**options).new_initial_state(seed=0)
    while not state.round_ended:
        state.apply_action(state.legal_actions()[-1])
    assert state.is_terminal() == (state.game.rules.rounds == 1)


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"num_players": "four"}, "num_players", "four"),
        ({"num_players": 2.5}, "num_players", "2.5"),
        ({"num_ranks": None, "num_players": 9}, "num_players", "9"),
        ({"hand_size": 5.5}, "hand_size", "5.5"),
        ({"bids": (1.5,)}, "bids", "1.5"),
        ({"bids": "12"}, "bids", "12"),
        ({"bids": 3}, "bids", "3"),
        ({"rounds": 1.5}, "rounds", "1.5"),
        ({"start_player": 0.5}, "start_player", "0.5"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(options, field, value):
    with pytest.raises((ValueError, TypeError), match=field) as error:
        make(**options)
    assert value in str(error.value)


def test_cards_too_few_for_a_hand_are_refused():
    with pytest.raises(ValueError, match="hand_size"):
        make(num_players=5, num_ranks=2)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (
            {"hand_size": 12},
            "revealed_cards",
        ),  # 24 cards in hand and the three that two players reveal: 27 of 25
        ({"num_ranks": 2}, "hand_size"),  # ten cards, five kept back: two each, too few for a trick
    ],
)
def test_the_defaults_of_two_players_are_not_bent_to_fit(options, field):
    with pytest.raises(ValueError, match=field):
        make(num_players=2, **options)


def test_an_unknown_option_or_game_is_refused_by_name():
    with pytest.raises(ValueError, match="num_cards"):
        make(num_cards=3)
    with pytest.raises(ValueError, match="cat_in_the_bax_v0") as error:
        catbox_env.make_game("cat_in_the_bax_v0")
    assert "cat_in_the_box_v0" in str(error.value)


# ---------------------------------------------------------------- actions


@pytest.mark.parametrize(
    "options", [{"num_players": players} for players in (2, 3, 4, 5)] + [{"num_colors": 2}]
)
def test_action_ids_follow_the_published_table(options):
    game = make(**options)
    rules = game.rules
    colours = ("red", "blue", "yellow", "green")[: rules.num_colors]
    names = [f"discard {rank}" for rank in range(1, rules.num_ranks + 1)]
    names += [f"bid {bid}" for bid in rules.bids]
    names += [f"play {colour} {rank}" for colour in colours for rank in range(1, rules.num_ranks + 1)]
    assert [game.action_to_string(action) for action in range(game.num_actions - 1)] == names
    assert game.action_to_string(game.num_actions - 1).lower() == "paradox"
    for action in range(game.num_actions):
        assert game.string_to_action(game.action_to_string(action)) == action


@pytest.mark.parametrize("text", ["play yelow 7", "discard 10", "bid 9", "", "nonsense"])
def test_an_unknown_action_text_is_refused(text):
    with pytest.raises(ValueError, match=r"(?i)action"):
        make(num_players=5).string_to_action(text)


@pytest.mark.parametrize("action", [-1, 50, 10**6])
def test_an_action_id_out_of_range_is_refused(action):
    state = make(num_players=5).new_initial_state(seed=0)
    before = state.serialize()
    with pytest.raises(ValueError, match=str(action)):
        state.apply_action(action)
    assert state.serialize() == before


# ---------------------------------------------------------------- given deals


def test_a_given_deal_is_played_as_given():
    game = make(num_players=2, num_ranks=5, hand_size=4, start_player=1)
    hands = [[1, 1, 2, 3], [5, 5, 5, 4]]
    for deal in (
        Deal(hands=hands, revealed=[3, 3, 4], start_player=1),
        {"hands": hands, "revealed": [3, 3, 4], "start_player": 1},
    ):
        state = game.new_initial_state(deal=deal)
        assert view(state, 0)["hand"].tolist() == [2, 1, 1, 0, 0]
        assert view(state, 1)["hand"].tolist() == [0, 0, 0, 1, 3]
        cells = {tuple(map(int, cell)) for cell in np.argwhere(view(state, 0)["neutral"])}
        assert cells == {(3, 2), (2, 2), (3, 3)}
        assert state.current_player == 1


@pytest.mark.parametrize(
    ("deal", "complaint"),
    [
        ({"hands": [[1, 1, 2, 3]], "revealed": [3, 3, 4]}, "hands"),
        ({"hands": [[1, 1, 2, 3], [5, 5, 5]], "revealed": [3, 3, 4]}, "hand"),
        ({"hands": [[1, 1, 2, 3], [5, 5, 5, 6]], "revealed": [3, 3, 4]}, "6"),
        ({"hands": [[1, 1, 2, 0], [5, 5, 5, 4]], "revealed": [3, 3, 4]}, "0"),
        ({"hands": [[1, 1, 1, 1], [1, 1, 5, 4]], "revealed": [3, 3, 4]}, "1"),
        ({"hands": [[3, 3, 3, 1], [1, 1, 5, 4]], "revealed": [3, 3, 3]}, "3"),
        ({"hands": [[1, 1, 2, 3], [5, 5, 5, 4]], "revealed": [3, 3]}, "revealed"),
        ({"hands": [[1, 1, 2, 3], [5, 5, 5, 4]], "revealed": []}, "revealed"),
        ({"hands": [[1, 1, 2, 3], [5, 5, 5, 4]], "revealed": [3, 3, 4], "start_player": 2}, "start_player"),
    ],
)
def test_a_deal_that_cannot_be_is_refused(deal, complaint):
    game = make(num_players=2, num_ranks=5, hand_size=4)
    with pytest.raises(ValueError, match=complaint):
        game.new_initial_state(deal=deal)


@pytest.mark.parametrize(
    "hands",
    [
        5,
        "112",
        [3, 4],
        [[1, 1, [2]], [2, 3, 3]],
        [[1.0, 1, 2], [2, 3, 3]],
        [[True, 1, 2], [2, 3, 3]],
        [[0, 1, 2], [1, 2, 3]],
    ],
)
def test_a_deal_that_is_no_deal_is_refused(hands: object) -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", rules=Rules.tiny())
    with pytest.raises(ValueError, match="deal"):
        game.new_initial_state(deal={"hands": hands})
