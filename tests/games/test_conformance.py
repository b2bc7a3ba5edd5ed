"""Every game keeps the contract of all games, under every kind of rules; PettingZoo accepts it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test

import catbox_env
from catbox_env import make_game
from catbox_env.core.conformance import check_game
from catbox_env.core.kernels import REWARDS
from catbox_env.games.cat_in_the_box.rules import Rules as CatInTheBoxRules
from catbox_env.games.petrify.rules import Rules as PetrifyRules
from tests.games.rule_sets import RULES

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 5}),
    ("cat_in_the_box_v0", {"num_players": 4, "rounds": "match", "start_player": "random"}),
    ("cat_in_the_box_v0", {"num_players": 3, "num_ranks": 7, "reward": "margin"}),
    ("cat_in_the_box_v0", {"num_players": 3, "bids": (1, 3, 4), "start_player": 2}),
    ("cat_in_the_box_v0", {"num_players": 2, "rounds": 2, "reward": "win"}),
    ("cat_in_the_box_v0", {"rules": CatInTheBoxRules.tiny()}),
    ("cat_te_v0", {}),
    ("cat_te_v0", {"num_players": 2, "region": "vietnamese", "rounds": "match", "reward": "win"}),
    ("cat_te_v0", {"num_players": 3, "side_pot": 100, "rounds": 3, "instant_wins_double": True, "reward": "margin"}),
    ("cat_te_v0", {"num_players": 4, "region": "khmer", "offsuit_faceup": False, "dealer": 1}),
    ("cat_te_v0", {"num_players": 5, "side_pot": 1, "rounds": 2, "dealer": 0}),
    ("cat_te_v0", {"num_players": 6, "region": "khmer", "side_pot": 3, "instant_wins": False}),
    ("petrify_v0", {}),
    ("petrify_v0", {"rules": PetrifyRules.full()}),
    ("petrify_v0", {"rules": PetrifyRules.full(num_players=4), "reward": "margin"}),
    ("petrify_v0", {"num_players": 3, "move_rule": "up_to", "reward": "win"}),
    ("petrify_v0", {"num_players": 4, "size": 3, "walls": 3}),
    ("petrify_v0", {"num_players": 4, "size": 8, "teleports": 20, "walls": 8, "wildcards": 5, "zeros": 10}),
    ("petrify_v0", {"num_players": 2, "size": 3, "teleports": 7}),
    ("petrify_v0", {"num_players": 2, "size": 3, "wildcards": 9, "move_rule": "up_to"}),
    ("petrify_v0", {"num_players": 3, "size": 4, "zeros": 12}),
]  # fmt: skip


#: Small enough for the kernels without compilation.
SMALL = [
    ("cat_in_the_box_v0", {"rules": CatInTheBoxRules.tiny()}),
    ("cat_in_the_box_v0", {"num_players": 2, "hand_size": 5, "rounds": 2}),
    ("cat_te_v0", {"num_players": 2, "region": "khmer"}),
    ("cat_te_v0", {"num_players": 3, "side_pot": 2, "rounds": 2}),
    ("petrify_v0", {"num_players": 3, "size": 3, "wildcards": 2, "teleports": 2, "zeros": 1}),
]
PLAYED = [*VARIANTS, *(pytest.param(*small, marks=pytest.mark.nojit) for small in SMALL)]


@pytest.mark.parametrize(("game_id", "options"), PLAYED, ids=str)
def test_a_game_keeps_the_contract_of_all_games(game_id: str, options: dict[str, Any]) -> None:
    check_game(make_game(game_id, **options), num_games=1)


def check_random_rules(game_id: str, data: st.DataObject) -> None:
    rules, reward = data.draw(RULES[game_id]), data.draw(st.sampled_from(REWARDS))
    check_game(make_game(game_id, rules=rules, reward=reward), 1, data.draw(st.integers(0, 2**32)))


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0"])
@settings(max_examples=2)
@given(data=st.data())
def test_any_rule_set_keeps_the_contract(game_id: str, data: st.DataObject) -> None:
    check_random_rules(game_id, data)


@pytest.mark.slow
@pytest.mark.parametrize("game_id", RULES)
@settings(max_examples=20)
@given(data=st.data())
def test_many_rule_sets_keep_the_contract(game_id: str, data: st.DataObject) -> None:
    check_random_rules(game_id, data)


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")
@pytest.mark.parametrize(
    ("module", "options"),
    [
        (catbox_env.cat_in_the_box_v0, {"num_players": 5}),
        (catbox_env.cat_in_the_box_v0, {"num_players": 3, "history": True, "rounds": 2}),
        (catbox_env.cat_te_v0, {}),
        (catbox_env.cat_te_v0, {"num_players": 6, "side_pot": 2, "rounds": 2, "region": "khmer"}),
        (catbox_env.petrify_v0, {"rules": PetrifyRules.full(num_players=4)}),
    ],
    ids=str,
)
def test_pettingzoo_accepts_the_environment(module: Any, options: dict[str, Any]) -> None:
    for make in (module.env, module.raw_env):
        api_test(make(**options), num_cycles=150)
    seed_test(lambda: module.raw_env(**options), num_cycles=100)
