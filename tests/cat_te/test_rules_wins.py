"""The rules page of Cat Te, sentence by sentence: instant wins and what a round pays."""

import pytest

from tests.cat_te.positions import (
    folds,
    hand,
    legal,
    play,
    round_of,
    start,
    statistics,
    words,
)

pytestmark = pytest.mark.nojit

PLAIN = "KD QD JC 10C 8H 6H"
FOUR_OF_A_KIND = "7C 7D 7H 7S 2C KS"
ONE_SUIT = "2S 4S 9S JS QS AS"
ACE_TO_FIVE = "AC AH 3D 4H 5D 5H"


# ---------------------------------------------------------------- instant wins: which hands


@pytest.mark.parametrize(
    "cards_of_seat",
    [
        FOUR_OF_A_KIND,
        "AC AD AH AS KC KD",
        "2C 2D 2H 2S 3C 9D",
        ONE_SUIT,
        "3H 5H 6H 8H 10H KH",
        ACE_TO_FIVE,  # the ace counts low
        "AC AD 2C 2D 3C 3D",
        "2S 2H 3S 3H 4S 4C",
        "AS 2S 3S 4S 5S 5C",
    ],
)
@pytest.mark.parametrize("region", ["khmer", "laos", "vietnamese"])
def test_the_three_kinds_of_instant_wins(cards_of_seat, region):
    state = start([cards_of_seat, "9C 8D 8C 6C 6D JD"], region=region)
    assert legal(state) == words(cards_of_seat) | {"show"}
    play(state, "show")
    assert state.is_terminal()
    assert state.round_ended
    assert list(state.rewards()) == [1, -1]
    assert statistics(state, "won_round") == [1, 0]
    assert statistics(state, "showed") == [1, 0]
    assert statistics(state, "tricks_won") == [0, 0]


@pytest.mark.parametrize(
    "cards_of_seat",
    [
        PLAIN,
        "7C 7D 7H 8C 8D 8S",  # three of a kind twice
        "2S 4S 9S JS QS AH",  # five of a suit
        "AC AH 3D 4H 5D 6H",  # a six is too high
        "KC AH 2D 3H 4D 5H",
        "10C JC QC KC AC 9D",  # a sequence is nothing
    ],
)
def test_no_other_hand_wins_at_once(cards_of_seat):
    state = start([cards_of_seat, "9C 9H 3C 2C 2H 4C"])
    assert legal(state) == words(cards_of_seat)


# ---------------------------------------------------------------- instant wins: when


def test_show_is_offered_to_a_follower_on_its_first_turn():
    state = play(start([PLAIN, FOUR_OF_A_KIND, "9C 9H 3C 4C 2H 2D"]), "KD")
    assert legal(state) == {"7D", "show"} | folds(FOUR_OF_A_KIND)
    play(state, "show")
    assert state.is_terminal()
    assert list(state.rewards()) == [-1, 2, -1]


@pytest.mark.parametrize("first_move", ["7D", "fold KS"])
def test_show_is_gone_once_a_card_was_played_or_folded(first_move):
    state = play(start([PLAIN, FOUR_OF_A_KIND]), "KD", first_move)
    assert state.current_player == 0
    play(state, "JC")
    assert "show" not in legal(state)
    assert hand(state, 1) >= {"7C", "7H", "7S"}


def test_a_leader_that_plays_on_cannot_show_later():
    state = play(start([FOUR_OF_A_KIND, PLAIN]), "KS, fold KD")
    assert state.current_player == 0
    assert hand(state, 0) == words(FOUR_OF_A_KIND) - {"KS"}, "still four of a kind"
    assert legal(state) == hand(state, 0)


def test_of_two_such_hands_the_first_in_turn_order_has_the_first_chance():
    hands = [PLAIN, FOUR_OF_A_KIND, ONE_SUIT]
    state = play(start(hands), "KD", "fold 7C", "show")
    assert list(state.rewards()) == [-1, -1, 2]
    state = play(start(hands, dealer=1), "show")
    assert list(state.rewards()) == [-1, -1, 2], "seat 2 leads"


def test_instant_wins_can_be_left_out():
    state = start([FOUR_OF_A_KIND, PLAIN], instant_wins=False)
    assert legal(state) == words(FOUR_OF_A_KIND)


@pytest.mark.parametrize(("double", "stake"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_an_instant_win_can_be_paid_double(players, double, stake):
    others = [PLAIN, "KH QH JD 10D 8C 6D", "KC QC JH 10H 9D 6S", "3C 4C 5C 6C 8D 9H", "AC AD 3D 4D 5D 10S"]
    state = start([FOUR_OF_A_KIND, *others[: players - 1]], instant_wins_double=double)
    play(state, "show")
    assert list(state.rewards()) == [stake * (players - 1)] + [-stake] * (players - 1)


def test_a_round_won_by_cards_is_not_doubled_by_that_option():
    state = start([FOUR_OF_A_KIND, PLAIN], instant_wins_double=True)
    round_of(state)
    assert sorted(state.rewards()) == [-1, 1]
