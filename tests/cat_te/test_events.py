"""The events of Cat Te: who folded, what was revealed and to whom, and that every sum is right."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_env
from catbox_env.games.cat_te.rules import Rules
from tests.cat_te.positions import move_id, play, start
from tests.core.events import checked_rounds, laid_open, of_kind, texts, told
from tests.games.rule_sets import RULES

HANDS = ["AS KS 2C 3C 4C 5C", "2S QC 6D 8D 9D 10D", "3S 6C 7D AD KD QD"]


def said(state: Any, move: str, seat: int | None = None) -> list[str]:
    return texts(state, move_id(move), seat)


# What is told ------------------------------------------------------------------------------------------------------


def test_a_fold_is_told_with_its_card_to_its_own_seat_alone() -> None:
    state = start(HANDS)
    assert said(state, "AS") == ["player_0 leads AS"]
    play(state, "AS")
    assert said(state, "2S", seat=0) == ["player_1 plays 2S"]
    assert said(state, "fold QC", seat=1) == said(state, "fold QC") == ["player_1 folds QC, face down"]
    for seat in (0, 2):
        assert (
            said(state, "fold QC", seat)
            == said(state, "fold 9D", seat)
            == ["player_1 folds a card, face down"]
        )


def test_a_card_off_suit_is_told_as_one_that_cannot_win() -> None:
    state = play(start(HANDS), "AS, 2S, 3S", "2C, QC, 6C")
    assert (
        said(play(state, "6D, 7D"), "3C")[0] == "player_0 plays 3C, which does not follow suit and cannot win"
    )


def test_a_trick_tells_why_it_is_won_and_who_folded() -> None:
    state = play(start(HANDS), "AS, fold QC")
    assert said(state, "3S", seat=0)[1:] == [
        "player_0 wins trick 1: AS is the highest card of spades, the led suit; player_1 folded"
    ]
    assert said(state, "fold 6C", seat=0)[1:] == [
        "player_0 wins trick 1: AS is the only card of spades, the led suit; player_1 and player_2 folded"
    ]


def test_who_won_none_of_four_tricks_is_told_to_be_out() -> None:
    state = play(start(HANDS, instant_wins=False), "AS, 2S, 3S", "KS, fold 6D, fold 6C", "2C, QC, fold 7D")
    assert said(play(state, "8D, AD"), "fold 3C")[1:] == [
        "player_2 wins trick 4: AD is the highest card of diamonds, the led suit; player_0 folded"
    ]
    assert said(
        play(start(HANDS), "AS, 2S, 3S", "KS, fold 6D, fold 6C", "2C, QC, fold 7D", "8D, fold AD"), "fold 3C"
    )[2:] == ["player_2 won none of the first four tricks, and is out"]


def test_a_seat_that_is_out_is_not_told_to_have_folded() -> None:
    tricks = ["AS, 2S, 3S", "KS, fold 6D, fold 6C", "2C, QC, fold 7D", "8D, fold AD, fold 3C"]
    lines = said(play(start(HANDS), *tricks, "9D"), "4C")
    assert "player_1 wins trick 5: 9D is the only card of diamonds, the led suit" in lines


def blind() -> Any:
    """The fifth trick: seat 2 has led KD, seat 0 is to choose, then seat 1."""
    return play(start(HANDS), "AS, 2S, 3S", "2C, QC, 6C", "6D, 7D, 3C", "AD, 4C, 8D", "KD")


def test_the_blind_trick_is_shown_when_it_is_complete_and_the_last_one_with_it() -> None:
    state = blind()
    assert said(state, "KS", seat=0) == ["player_0 chooses KS, face down"]
    assert said(state, "KS", seat=1) == said(state, "5C", seat=1) == ["player_0 chooses a card, face down"]
    play(state, "KS")
    assert said(state, "9D", seat=2) == [
        "player_1 chooses a card, face down",
        "the chosen cards are shown: player_0 KS, player_1 9D",
        "player_2 wins trick 5: KD is the highest card of diamonds, the led suit",
        "the last cards are shown: player_0 5C, player_1 10D, player_2 QD",
        "player_2 wins trick 6: QD is the highest card of diamonds, the led suit",
        "player_2 wins the round with the last trick",
        "player_0: -1 (1 ante to player_2)",
        "player_1: -1 (1 ante to player_2)",
        "player_2: +2 (1 ante from each of the others)",
        "player_2 wins with 2 antes",
    ]


def test_the_hidden_cards_are_laid_open_when_the_round_ends() -> None:
    hands = ["AS KS QS JS 2C 3C", "2S 4S 5C 6C 7D 8D", "3S 5S 9C 10C 9H 10H", "6S 7S JC QC 2H 3H"]
    state = play(start(hands), "AS, fold 5C, 3S, 6S", "KS, 2S, 5S, 7S", "QS, fold 6C, fold 9C, fold JC")
    assert said(play(state, "JS, fold 8D, fold 10C"), "fold QC", seat=1)[2:] == [
        "player_1, player_2 and player_3 won none of the first four tricks, and are out",
        "player_0 wins the round with all of the first four tricks",
        "player_0: +6 (2 antes from each of the others)",
        "player_1: -2 (2 antes to player_0)",
        "player_2: -2 (2 antes to player_0)",
        "player_3: -2 (2 antes to player_0)",
        "player_0 still held 2C 3C",
        "player_1 had folded 5C 6C 8D, and still held 7D 4S",
        "player_2 had folded 9C 10C, and still held 9H 10H",
        "player_3 had folded JC QC, and still held 2H 3H",
        "player_0 wins with 6 antes",
    ]


@pytest.mark.parametrize(
    ("hand", "why"),
    [
        ("7C 7D 7H 7S 2C KS", "four of a kind"),
        ("2H 4H 6H 8H 10H QH", "six hearts"),
        ("AC 2D 3H 4S 5C 5D", "six cards from A, 2, 3, 4, 5"),
    ],
)
def test_an_instant_win_is_told_with_its_reason(hand: str, why: str) -> None:
    state = start([hand, "AS JS QS JC 10D 9H"])
    event = told((state, move_id("show"), applied(state, "show")), 1)[0]
    assert event.text.startswith("player_0 shows an instant win: ")
    assert event.text.endswith(f", {why}")
    assert set(event.data["cards"]) == set(hand.split())


def applied(state: Any, move: str) -> Any:
    after = copy.deepcopy(state)
    after.apply_action(move_id(move))
    return after


POT = ["AS KS 2C 3C AD 9C", "QS JS 5C 6C 7D 10H", "10S 9S 7C 8C KD AH"]


def test_a_claim_is_told_and_the_turn_goes_on() -> None:
    state = play(start(POT, upturned="9H", side_pot=2), "AS")
    assert said(state, "claim", seat=0) == [
        "player_1 shows 10H, next above 9H, and claims the side pot of 6 antes"
    ]


@pytest.mark.parametrize("claims", [True, False])
def test_the_side_pot_is_in_the_sums(claims: bool) -> None:
    state = start(POT, upturned="9H", side_pot=2, rounds=2)
    play(
        state,
        "AS",
        *(["claim"] if claims else []),
        "fold 5C, fold 7C",
        "KS, fold 6C, fold 8C",
        "2C, fold 7D, fold 9S",
    )
    play(state, "3C, fold QS")
    lines = said(state, "fold 10S")
    if claims:
        assert (
            "player_1: -1 (1 ante to player_0) -2 (into the side pot) +6 (the side pot) = +3 (+3 in total)"
            in lines
        )
        assert not any(line.startswith("nobody claimed") for line in lines)
    else:
        assert "player_1: -1 (1 ante to player_0) -2 (into the side pot) = -3 (-3 in total)" in lines
        assert "nobody claimed the side pot of 6 antes, which is carried over to the next round" in lines
    assert lines[-1] == "round 2 of 2 begins: player_0 deals, player_1 leads"


# Sums --------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rules=RULES["cat_te_v0"], seed=st.integers(0, 2**31))
@pytest.mark.slow
def test_the_sums_of_every_round_are_right(rules: Rules, seed: int) -> None:
    """In random games of random rule sets."""
    game = catbox_env.make_game("cat_te_v0", rules=rules)
    for (_, _, after), events in checked_rounds(game, seed):
        (end,) = of_kind(events, "round_end")
        assert after.info(end.seat)["won_round"]
        for seat, event in enumerate(of_kind(events, "score")):
            assert sum(part["antes"] for part in event.data["parts"]) == after.info(seat)["score"]
            folded = {fold.data["card"] for fold in of_kind(events, "fold") if fold.seat == seat}
            shown = laid_open(events).get(seat, {"folded": []})
            assert set(shown["folded"]) == folded
