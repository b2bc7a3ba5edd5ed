"""The rules page of Cat Te, sentence by sentence: the side pot, and games of several rounds."""

import random

import numpy as np
import pytest

import catbox_env
from tests.cat_te.positions import (
    by_seat,
    cards,
    folds,
    hand,
    legal,
    play,
    round_of,
    seat_of,
    start,
    statistics,
    view,
    words,
)
from tests.cat_te.reference import next_higher

pytestmark = pytest.mark.nojit

PLAIN = "KD QD JC 10C 8H 6H"
FOUR_OF_A_KIND = "7C 7D 7H 7S 2C KS"


# ---------------------------------------------------------------- side pot: the claim

# 9H is turned up; seat 1 holds the 10H.
POT = ["AS KS 2C 3C AD 9C", "QS JS 5C 6C 7D 10H", "10S 9S 7C 8C KD AH"]


def pot_game(**options):
    return start(POT, upturned="9H", side_pot=2, **options)


def test_the_holder_of_the_next_higher_card_of_the_suit_may_claim():
    state = pot_game()
    assert "claim" not in legal(state), "not with a nine of clubs, and not with the ace of hearts"
    play(state, "AS")
    assert legal(state) == {"QS", "JS", "claim"} | folds(POT[1])
    play(state, "claim")
    assert legal(state) == {"QS", "JS"} | folds(POT[1]), (
        "its turn goes on, and there is nothing more to claim"
    )
    assert state.current_player == 1
    assert "10H" in hand(state, 1), "the card stays in its hand"
    assert not any(state.rewards()), "paid when the round ends"
    for observer in range(3):
        assert view(state, observer)["claimed"].tolist() == [int(i == (1 - observer) % 3) for i in range(3)]


@pytest.mark.parametrize(
    ("upturned", "other", "claimable"),
    [
        ("2H", "3H", True),
        ("10H", "JH", True),
        ("KH", "AH", True),  # ace is next to king
        ("AH", "2H", False),  # two follows nothing
        ("AH", "KH", False),
        ("AH", "AS", False),  # over an ace there is none
        ("9H", "10S", False),  # another suit
        ("9H", "8H", False),
        ("9H", "JH", False),
    ],
)
def test_next_higher(upturned, other, claimable):
    state = start([f"{other} KC QC 4D 5D 6D", "8S 7S 6S 2D 3D 7C"], upturned=upturned, side_pot=1)
    assert ("claim" in legal(state)) == claimable


def test_the_claim_may_wait_while_the_card_is_held():
    state = play(pot_game(), "AS, QS, fold 7C", "2C")
    assert "claim" in legal(state)
    play(state, "5C, 8C", "10S, fold KS, fold JS", "KD, fold 3C")
    assert state.current_player == 1
    assert "claim" in legal(state), "still in trick 4"
    play(state, "claim")
    assert seat_of(state, "claimed") == 1


@pytest.mark.parametrize("last_seen", ["10H", "fold 10H"])
def test_no_claim_once_the_card_is_played_or_folded(last_seen):
    state = play(
        start([POT[0].replace("AD", "AH"), POT[1], POT[2].replace("AH", "AC")], upturned="9H", side_pot=1)
    )
    play(state, "AH", last_seen, "fold 7C", "AS")
    assert state.current_player == 1
    assert "claim" not in legal(state)


def test_a_claim_does_not_count_as_playing_a_card():
    hands = [FOUR_OF_A_KIND, PLAIN]
    state = play(start(hands, upturned="6S", side_pot=3), "claim")
    assert legal(state) == words(FOUR_OF_A_KIND) | {"show"}
    play(state, "show")
    assert list(state.rewards()) == [1 - 3 + 6, -1 - 3]


def test_one_may_claim_when_choosing_in_trick_5():
    """In laos seat 1, which did not lead, still holds the card."""
    hands = ["AS KS QS 2C 9D 3D", "2S 3S 4S 3C 10H KD"]
    state = start(hands, upturned="9H", side_pot=1, region="laos")
    play(state, "AS, 2S", "KS, 3S", "2C, 3C", "4S, QS", "9D")
    assert legal(state) == {"10H", "KD", "claim"}
    play(state, "claim")
    assert legal(state) == {"10H", "KD"}
    play(state, "KD")
    assert state.is_terminal()
    assert statistics(state, "claimed") == [0, 1]
    assert statistics(state, "won_round") == [0, 1]
    assert list(state.rewards()) == [-1 - 1, 1 - 1 + 2]


# ---------------------------------------------------------------- side pot: the money


def test_everybody_pays_into_the_side_pot_and_the_claimer_wins_it():
    state = play(pot_game(region="khmer"), "AS", "claim", "fold QS, fold 7C")
    round_of(state)
    base = [2 if won else -1 for won in statistics(state, "won_round")]
    assert statistics(state, "claimed") == [0, 1, 0]
    assert list(state.rewards()) == [base[0] - 2, base[1] - 2 + 6, base[2] - 2]


def test_an_eliminated_claimer_keeps_the_side_pot():
    state = play(pot_game(), "AS", "claim", "fold 10H, fold 7C")
    sweep_on = [("KS", "fold QS", "fold 8C"), ("2C", "fold 5C", "fold KD"), ("AD", "fold 7D", "fold AH")]
    for trick in sweep_on:
        play(state, *trick)
    assert state.is_terminal()
    assert list(state.rewards()) == [2 - 2, -1 - 2 + 6, -1 - 2]


@pytest.mark.parametrize("side_pot", [1, 7, 100])
@pytest.mark.parametrize("players", [2, 3, 6])
def test_an_unclaimed_side_pot_carries_over_and_is_returned_at_the_end(players, side_pot):
    game = catbox_env.make_game("cat_te_v0", num_players=players, side_pot=side_pot, rounds=3, region="khmer")
    state = game.new_initial_state(seed=5)
    for number in range(1, 4):
        assert by_seat(state, "side_pot") == [players * number], (
            "in units of what a player puts in each round"
        )
        round_of(state)
        base = [players - 1 if won else -1 for won in statistics(state, "won_round")]
        if number < 3:
            assert list(state.rewards()) == [points - side_pot for points in base]
            assert sum(state.rewards()) == -players * side_pot
        else:
            assert list(state.rewards()) == [points - side_pot + 3 * side_pot for points in base]
    assert sum(state.returns()) == 0


def test_a_claim_wins_the_whole_side_pot_of_several_rounds():
    """The first deal in which the third round can be claimed."""
    game = catbox_env.make_game("cat_te_v0", num_players=6, side_pot=2, rounds=4, region="khmer")
    for seed in range(100):
        state = game.new_initial_state(seed=seed)
        round_of(round_of(state))
        (upturned,) = cards(view(state, 0)["upturned"])
        holders = [seat for seat in range(6) if next_higher(upturned) in hand(state, seat)]
        if holders:
            break
    (claimer,) = holders
    while "claim" not in legal(state):
        play(state, max(legal(state) - {"show"}) if state.current_player == claimer else min(legal(state)))
    play(state, "claim")
    round_of(state)
    points = [5 if won else -1 for won in statistics(state, "won_round")]
    expected = [point - 2 for point in points]
    expected[claimer] += 3 * 6 * 2
    assert list(state.rewards()) == expected
    assert sum(state.returns()) == 0
    assert by_seat(state, "side_pot") == [6], "the next round's pot begins anew"
    assert by_seat(state, "claimed") == [0] * 6


# ---------------------------------------------------------------- several rounds


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_a_match_is_as_many_rounds_as_players_and_the_winner_deals_the_next(players):
    game = catbox_env.make_game("cat_te_v0", num_players=players, rounds="match")
    rng = random.Random(players)
    state = game.new_initial_state(seed=players + 1)
    dealers = {seat_of(state, "dealer")}
    total = np.zeros(players)
    for left in reversed(range(players)):
        assert by_seat(state, "rounds_left") == [left]
        assert by_seat(state, "scores") == total.tolist()
        first = (seat_of(state, "dealer") + 1) % players
        assert seat_of(state, "leader") == state.current_player == first
        while True:
            state.apply_action(rng.choice(state.legal_actions()))
            if state.round_ended:
                break
        total += state.rewards()
        winner = statistics(state, "won_round").index(1)
        if left:
            assert seat_of(state, "dealer") == winner
            assert state.current_player == (winner + 1) % players
            dealers.add(winner)
    assert state.is_terminal()
    assert list(state.returns()) == total.tolist()
    assert len(dealers) > 1
