"""One text means one value, on the command line and in files of settings."""

from __future__ import annotations

from typing import Any

import pytest

from catbox_agents.option_text import parse_value, read_options
from catbox_env import make_game


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("7", 7), ("-3", -3), ("2_000_000", 2_000_000), ("0x10", 16), ("5e-4", 5e-4), (" 1.5 ", 1.5)),
        *(("true", True), ("No", False), ("on", True), ("null", None), ("None", None)),
        *(("1,3,4", [1, 3, 4]), ("[1, 3, 4]", [1, 3, 4]), ("(1,3)", [1, 3]), ("1,", [1]), ("[1]", [1])),
        *(("", []), ("[]", []), ("random, heuristic", ["random", "heuristic"]), ("[random]", ["random"])),
        *(("laos", "laos"), ("module:Class", "module:Class"), ("it's", "it's"), ("run [1]", "run [1]")),
        *(("[1", "[1"), ("]", "]"), ("[1]x", "[1]x"), ("{a}", "{a}"), ("010", "010"), ("0.5", 0.5), ("0", 0)),
    ],
)
def test_a_text_is_read_as_what_it_says(text: str, value: Any) -> None:
    read = parse_value(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["1" * 5000, "1e999", "nan", "b'x'", "1+2j", "__import__('os')"])
def test_what_is_no_finite_number_stays_a_text(text: str) -> None:
    assert parse_value(text) == text


@pytest.mark.parametrize("bids", ["1,3", "[1, 3]", [1, 3], (1, 3)])
def test_a_rule_with_several_values_may_be_written_in_any_form(bids: Any) -> None:
    options = read_options("cat_in_the_box_v0", {"bids": bids, "num_players": "3", "reward": "margin"})
    assert options == {"bids": [1, 3], "num_players": 3, "reward": "margin"}
    assert make_game("cat_in_the_box_v0", **options).rules.bids == (1, 3)


@pytest.mark.parametrize("bids", [2, "2", "2,", [2]])
def test_one_value_for_a_rule_that_takes_several_is_a_list_of_one(bids: Any) -> None:
    assert read_options("cat_in_the_box_v0", {"bids": bids}) == {"bids": [2]}


def test_options_that_no_rule_has_are_read_and_left_to_the_game_to_refuse() -> None:
    assert read_options("petrify_v0", {"size": "5", "bids": "2"}) == {"size": 5, "bids": 2}
    assert read_options("chess_v9", {"bids": "2", "rounds": None}) == {"bids": 2, "rounds": None}
    assert read_options("cat_in_the_box_v0", {"bids": None}) == {"bids": None}


def test_rules_that_only_an_object_can_give_are_no_option() -> None:
    with pytest.raises(
        ValueError, match="unknown option 'rules' of petrify_v0: expected reward or one of num_players"
    ):
        read_options("petrify_v0", {"rules": "1"})
