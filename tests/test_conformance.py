"""Every game keeps the contract, under every kind of rules; and the contract's check finds what it is for."""

import dataclasses

import numba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import make_game
from catbox_env.core.conformance import ConformanceError, check_game
from catbox_env.games.cat_in_the_box.game import CatInTheBox
from catbox_env.games.cat_in_the_box.kernels import KERNELS, write_mask, write_observation
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.rule_sets import rule_sets

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
    check_game(make_game("cat_in_the_box_v0", **options), num_games=8)


@pytest.mark.nojit
def test_the_kernels_keep_the_contract_without_compilation() -> None:
    check_game(make_game("cat_in_the_box_v0", rules=Rules.tiny()), num_games=3)
    check_game(make_game("cat_in_the_box_v0", num_players=2, hand_size=5, rounds=2), num_games=1)


@settings(max_examples=60)
@given(rules=rule_sets(), reward=st.sampled_from(["score", "margin", "win"]), seed=st.integers(0, 2**32))
def test_any_rule_set_that_can_be_dealt_keeps_the_contract(rules: Rules, reward: str, seed: int) -> None:
    check_game(make_game("cat_in_the_box_v0", rules=rules, reward=reward), num_games=1, seed=seed)


@numba.njit
def leak_a_hand(params, state, seat, out):  # type: ignore[no-untyped-def]
    write_observation(params, state, seat, out)
    out[params.at[1]] = state.hand[(seat + 1) % params.num_players, 0]


@numba.njit
def forget_the_paradox(params, state, mask):  # type: ignore[no-untyped-def]
    write_mask(params, state, mask)
    mask[-1] = False


@numba.njit
def show_a_wrong_rank(params, state, action):  # type: ignore[no-untyped-def]
    return 0 if action else 1


class LeaksAHand(CatInTheBox):
    id = "leaks_a_hand"
    kernels = dataclasses.replace(KERNELS, write_observation=leak_a_hand)


class ForgetsTheParadox(CatInTheBox):
    id = "forgets_the_paradox"
    kernels = dataclasses.replace(KERNELS, write_mask=forget_the_paradox)


class ShowsAWrongRank(CatInTheBox):
    id = "shows_a_wrong_rank"
    kernels = dataclasses.replace(KERNELS, shown_action=show_a_wrong_rank)


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        (LeaksAHand, "an observation of seat|does not give the observation"),
        (ForgetsTheParadox, "mask of the seat to move is empty"),
        (ShowsAWrongRank, "history shows"),
    ],
)
def test_a_broken_game_does_not_pass(broken: type[CatInTheBox], found: str) -> None:
    game = broken(num_players=2, num_ranks=2, copies=5, hand_size=5, revealed_cards=0)
    with pytest.raises(ConformanceError, match=found):
        check_game(game, num_games=30)
