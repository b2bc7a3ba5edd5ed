"""Cat in the Box keeps the contract of every game, under every kind of rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import make_game
from catbox_env.core.conformance import check_game
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.cat_in_the_box.rule_sets import rule_sets

VARIANTS = [
    {"num_players": 5},
    {"num_players": 4, "rounds": "match", "start_player": "random"},
    {"num_players": 3, "num_ranks": 7, "reward": "margin"},
    {"num_players": 3, "bids": (1, 3, 4), "start_player": 2},
    {"num_players": 2, "rounds": 2, "reward": "win"},
    {"rules": Rules.tiny()},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_cat_in_the_box_keeps_the_contract_of_every_game(options: dict) -> None:
    check_game(make_game("cat_in_the_box_v0", **options), num_games=1)


@pytest.mark.nojit
def test_the_kernels_keep_the_contract_without_compilation() -> None:
    check_game(make_game("cat_in_the_box_v0", rules=Rules.tiny()), num_games=3)
    check_game(make_game("cat_in_the_box_v0", num_players=2, hand_size=5, rounds=2), num_games=1)


any_rule_set = given(
    rules=rule_sets(), reward=st.sampled_from(["score", "margin", "win"]), seed=st.integers(0, 2**32)
)


@settings(max_examples=4)
@any_rule_set
def test_any_rule_set_that_can_be_dealt_keeps_the_contract(rules: Rules, reward: str, seed: int) -> None:
    check_game(make_game("cat_in_the_box_v0", rules=rules, reward=reward), num_games=1, seed=seed)


@pytest.mark.slow
@settings(max_examples=60)
@any_rule_set
def test_many_rule_sets_keep_the_contract(rules: Rules, reward: str, seed: int) -> None:
    check_game(make_game("cat_in_the_box_v0", rules=rules, reward=reward), num_games=1, seed=seed)
