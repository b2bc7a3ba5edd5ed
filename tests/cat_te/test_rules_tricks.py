"""The rules page of Cat Te, sentence by sentence: the deal, a trick, folding, what is seen."""

import numpy as np
import pytest

import catbox_env
from tests.cat_te.positions import (
    by_seat,
    cards,
    faceup,
    folds,
    hand,
    legal,
    move_id,
    play,
    seat_of,
    start,
    view,
    words,
)

pytestmark = pytest.mark.nojit

# Everybody can follow spades twice, clubs twice, diamonds once and hearts once.
FOUR = [
    "AS KS 2C 3C AD 9H",
    "QS JS 5C 6C 7D 10H",
    "10S 9S 7C 8C KD AH",
    "8S 7S 9C 10C 9D QH",
]
# Seat 1 has no spade, seat 2 no spade and no heart.
VOID = ["9S 8S 7S 2H 3H 4H", "AC KC AD KD AH KH", "2C 3C 4C 6D 7D 8D"]


# ---------------------------------------------------------------- the deal


@pytest.mark.parametrize("dealer", [-1, 0, 1, 2, 3])
def test_the_player_to_the_dealers_left_leads(dealer):
    state = start(FOUR, dealer=dealer)
    first = (dealer + 1) % 4
    assert state.current_player == first, "seat 0 where the dealer is the last seat, -1"
    assert seat_of(state, "dealer") == dealer % 4
    assert view(state, first)["leader"].tolist() == view(state, first)["to_move"].tolist() == [1, 0, 0, 0]


# ---------------------------------------------------------------- leading and following


def test_the_leader_plays_any_card_and_cannot_fold():
    state = start(FOUR)
    assert legal(state) == words(FOUR[0])
    play(state, "2C, 5C, 7C, 9C")
    assert state.current_player == 3
    assert legal(state) == words(FOUR[3]) - {"9C"}


def test_a_follower_plays_a_card_of_the_led_suit_or_folds_any_card():
    state = play(start(FOUR), "AS")
    assert legal(state) == {"QS", "JS"} | folds(FOUR[1])
    play(state, "fold 10H")
    assert legal(state) == {"10S", "9S"} | folds(FOUR[2])


def test_without_a_card_of_the_led_suit_any_card_may_be_played_face_up():
    state = play(start(VOID), "9S")
    assert legal(state) == words(VOID[1]) | folds(VOID[1])


def test_off_suit_cards_face_up_can_be_forbidden():
    state = play(start(VOID, offsuit_faceup=False), "9S")
    assert legal(state) == folds(VOID[1])
    play(state, "fold KC, fold 2C, 2H")
    assert legal(state) == {"AH", "KH"} | folds("AC AD KD AH KH"), "following is not forbidden"


@pytest.mark.parametrize(
    ("trick", "winner"),
    [
        ("KS, QS, 10S, 8S", 0),
        ("2C, 5C, 7C, 10C", 3),
        ("3C, 6C, 8C, 9C", 3),
        ("9H, 10H, AH, QH", 2),  # the ace is high
        ("AD, 7D, KD, 9D", 0),
        ("2C, fold 5C, 7C, fold 10C", 2),  # folded cards never win
        ("2C, 5C, fold KD, fold QH", 1),
        ("2C, fold 6C, fold 8C, fold 10C", 0),
    ],
)
def test_the_highest_face_up_card_of_the_led_suit_wins_and_its_player_leads_next(trick, winner):
    state = play(start(FOUR), trick)
    assert by_seat(state, "tricks_won") == [int(seat == winner) for seat in range(4)]
    assert by_seat(state, "early_tricks") == by_seat(state, "tricks_won")
    assert seat_of(state, "leader") == winner
    assert state.current_player == winner
    assert view(state, 0)["trick"].tolist() == [0, 1, 0, 0, 0, 0]
    play(state, min(legal(state)))
    assert state.current_player == (winner + 1) % 4, "play goes on clockwise"


@pytest.mark.parametrize("other", ["AC", "KD", "AH"])
def test_a_face_up_card_of_another_suit_cannot_win(other):
    state = play(start(VOID), f"7S, {other}, 8D")
    assert by_seat(state, "tricks_won") == [1, 0, 0]
    assert faceup(state)[1][0] == other


def test_suits_are_equal():
    """Each suit in turn is led low and beats the aces and kings of the three others."""
    hands = ["2C 2D 2H 2S 3C 3D", "AC KC QC AD KD QD", "AH KH QH AS KS QS"]
    for lead, second, third, winner in (
        ("2C", "fold AC", "AH", 0),
        ("2H", "AC", "fold AH", 0),
        ("2S", "AD", "fold AS", 0),
        ("2D", "fold AD", "AS", 0),
        ("2S", "AD", "QS", 2),
    ):
        state = play(start(hands, instant_wins=False), lead, second, third)
        assert seat_of(state, "leader") == winner


# ---------------------------------------------------------------- what is seen


def test_a_folded_card_is_seen_by_its_owner_alone():
    state = play(start(FOUR), "2C, 5C, 7C, fold QH", "8C, fold 9D, fold KS, 6C")
    assert cards(view(state, 3)["folded"]) == {"QH", "9D"}
    assert cards(view(state, 0)["folded"]) == {"KS"}
    assert view(state, 1)["folded"].sum() == view(state, 2)["folded"].sum() == 0
    assert by_seat(state, "num_folded") == [1, 0, 0, 2]
    assert view(state, 3)["num_folded"].tolist() == [2, 1, 0, 0], "seats are relative"
    assert hand(state, 3) == words(FOUR[3]) - {"QH", "9D"}


def test_folded_cards_stay_hidden_to_the_end_of_the_round():
    """The players swap two folded cards: seat 0 sees two equal rounds up to the end."""
    hands = [["AS KS QS 2C 3C AD", "2S 3S 4S 5S 6S 7D"], ["AS KS QS 2C 3C AD", "2S 3S 4S 5S 6S 8D"]]
    views = []
    for deal, folded in zip(hands, ("7D", "8D"), strict=True):
        state = play(start(deal, region="khmer"), "AS", f"fold {folded}", "KS, 2S", "QS, 3S", "AD, fold 4S")
        play(state, "2C", "fold 5S")
        assert state.is_terminal()
        views.append(state.observation(0))
    assert np.array_equal(views[0], views[1])


# ---------------------------------------------------------------- bad input


def test_cards_of_a_deal_may_be_given_as_ids():
    game = catbox_env.make_game("cat_te_v0")
    by_name = game.new_initial_state(
        seed=0, deal={"hands": [cards_of_seat.split() for cards_of_seat in FOUR]}
    )
    ids = [[move_id(card) for card in cards_of_seat.split()] for cards_of_seat in FOUR]
    by_id = game.new_initial_state(seed=0, deal={"hands": ids})
    assert by_name.serialize() == by_id.serialize()
