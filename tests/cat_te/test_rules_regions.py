"""The rules page of Cat Te, sentence by sentence: khmer, laos and vietnamese; the sweep, tricks 5 and 6."""

import pytest

import catbox_env
from tests.cat_te.positions import (
    by_seat,
    faceup,
    legal,
    play,
    seat_of,
    start,
    statistics,
    sweep,
    view,
)

pytestmark = pytest.mark.nojit

FOUR = [
    "AS KS 2C 3C AD 9H",
    "QS JS 5C 6C 7D 10H",
    "10S 9S 7C 8C KD AH",
    "8S 7S 9C 10C 9D QH",
]
# Seat 0 wins two tricks, seat 2 one, seat 3 one. Left: AD 9H, 7D 10H, KD AH, 9D QH; seat 3 leads.
FOUR_TRICKS = ("AS, QS, 10S, 8S", "KS, JS, 9S, 7S", "2C, 5C, 7C, fold 9C", "8C, 10C, 3C, 6C")


def after_four_tricks(region="laos", **options):
    return play(start(FOUR, region=region, **options), *FOUR_TRICKS)


# ---------------------------------------------------------------- khmer


def test_in_khmer_nobody_is_eliminated():
    state = after_four_tricks("khmer")
    assert by_seat(state, "in_round") == [1, 1, 1, 1]
    assert by_seat(state, "early_tricks") == [2, 0, 1, 1]
    for seat, may, move in (
        (3, {"9D", "QH"}, "9D"),
        (0, {"AD", "fold AD", "fold 9H"}, "fold AD"),
        (1, {"7D", "fold 7D", "fold 10H"}, "7D"),
        (2, {"KD", "fold KD", "fold AH"}, "KD"),
    ):
        assert state.current_player == seat
        assert legal(state) == may, "everybody plays trick 5, in the ordinary way"
        play(state, move)


@pytest.mark.parametrize(
    ("trick_5", "last_cards", "winner"),
    [
        # Seat 2 wins trick 5 and leads the ace of hearts, the highest of its suit.
        ("9D, fold AD, 7D, KD", ["9H", "10H", "AH", "QH"], 2),
        # Seat 0 wins trick 5 and leads the 9 of hearts, which three others beat.
        ("9D, AD, 7D, KD", ["9H", "10H", "AH", "QH"], 2),
        ("9D, AD, 7D, fold AH", ["9H", "10H", "KD", "QH"], 3),
        # Seat 3 wins trick 5 and leads a diamond; hearts need not follow and do not win.
        ("QH, 9H, 10H, fold KD", ["AD", "7D", "AH", "9D"], 0),
        ("QH, fold AD, 10H, fold KD", ["9H", "7D", "AH", "9D"], 3),
    ],
)
def test_in_khmer_the_highest_of_the_led_suit_in_trick_6_wins_the_round(trick_5, last_cards, winner):
    state = play(after_four_tricks("khmer"), trick_5)
    assert state.is_terminal(), "trick 6 is resolved by the environment"
    assert [row[5] for row in faceup(state)] == last_cards, "every remaining card is shown"
    assert list(state.rewards()) == [3.0 if seat == winner else -1.0 for seat in range(4)]
    assert statistics(state, "won_round") == [int(seat == winner) for seat in range(4)]
    assert statistics(state, "eliminated") == [0, 0, 0, 0]
    assert sum(statistics(state, "tricks_won")) == 6


def test_in_khmer_five_tricks_do_not_matter():
    """Seat 0 wins all of the first five tricks, and the round goes to seat 1."""
    state = start(["AS KS QS JS 10S 2H", "2S 3S 4S 5S 6S 3H"], region="khmer")
    play(state, "AS, 2S", "KS, 3S", "QS, 4S", "JS, 5S")
    assert not state.is_terminal(), "winning the first four tricks ends nothing"
    play(state, "10S, 6S")
    assert statistics(state, "tricks_won") == [5, 1]
    assert list(state.rewards()) == [-1, 1]


# ---------------------------------------------------------------- laos and vietnamese: elimination


@pytest.mark.parametrize("region", ["laos", "vietnamese"])
def test_after_trick_4_every_player_without_a_trick_is_eliminated(region):
    state = play(start(FOUR, region=region), *FOUR_TRICKS[:3])
    assert by_seat(state, "early_tricks") == [2, 0, 1, 0]
    assert by_seat(state, "in_round") == [1, 1, 1, 1], "not before trick 4 is over"
    play(state, FOUR_TRICKS[3])
    assert by_seat(state, "early_tricks") == [2, 0, 1, 1]
    assert by_seat(state, "in_round") == [1, 0, 1, 1]
    movers = []
    for move in ("9D", "9H", "KD"):
        movers.append(state.current_player)
        play(state, move)
    assert movers == [3, 0, 2], "seat 1 has no turn any more"
    assert statistics(state, "eliminated") == [0, 1, 0, 0]
    assert list(state.rewards())[1] == -1


def test_one_trick_is_enough_to_stay_in():
    state = start(["AS KS QS 2C 3C 4C", "2S 3S 4S 5C 6C 7C"], region="laos")
    play(state, "AS, 2S", "KS, 3S", "QS, 4S", "2C, 5C")
    assert by_seat(state, "early_tricks") == [3, 1]
    assert by_seat(state, "in_round") == [1, 1]
    assert state.current_player == 1
    assert legal(state) == {"6C", "7C"}


# ---------------------------------------------------------------- laos and vietnamese: the sweep


@pytest.mark.parametrize("region", ["laos", "vietnamese"])
@pytest.mark.parametrize(
    ("players", "won", "lost"), [(2, 1, -1), (3, 2, -1), (4, 6, -2), (5, 8, -2), (6, 10, -2)]
)
def test_four_tricks_of_four_end_the_round_and_pay_double_from_four_players_on(region, players, won, lost):
    game = catbox_env.make_game("cat_te_v0", num_players=players, region=region)
    state = sweep(game.new_initial_state(seed=3))
    assert state.is_terminal()
    assert state.round_ended
    assert list(state.rewards()) == [won] + [lost] * (players - 1)
    assert statistics(state, "won_round") == [1] + [0] * (players - 1)
    assert statistics(state, "tricks_won") == [4] + [0] * (players - 1)
    assert len(state.history()) == 4 * players
    assert view(state, 0)["hand"].sum() == 2, "tricks 5 and 6 are not played"


def test_a_sweep_is_all_of_the_first_four_tricks_by_one_player():
    state = play(start(FOUR), "AS, QS, 10S, 8S", "KS, JS, 9S, 7S", "AD, 7D, fold KD, 9D")
    assert by_seat(state, "early_tricks") == [3, 0, 0, 0]
    play(state, "2C, 5C, 7C, 9C")
    assert not state.is_terminal()
    assert by_seat(state, "in_round") == [1, 0, 0, 1]


# ---------------------------------------------------------------- laos and vietnamese: tricks 5 and 6


@pytest.mark.parametrize("region", ["laos", "vietnamese"])
def test_the_winner_of_trick_4_leads_one_of_its_two_cards(region):
    state = after_four_tricks(region)
    assert state.current_player == 3
    assert seat_of(state, "leader") == 3
    assert legal(state) == {"9D", "QH"}
    assert view(state, 0)["trick"].tolist() == [0, 0, 0, 0, 1, 0]
    play(state, "9D")
    assert faceup(state)[3][4] == "9D", "its card is face up"
    assert by_seat(state, "led_suit") == [0, 1, 0, 0]


@pytest.mark.parametrize("offsuit_faceup", [True, False])
def test_each_other_remaining_player_chooses_one_of_its_two_cards(offsuit_faceup):
    state = play(after_four_tricks(offsuit_faceup=offsuit_faceup), "9D")
    assert state.current_player == 0
    assert legal(state) == {"AD", "9H"}, "no suit must be followed and no card is folded"
    play(state, "9H")
    assert state.current_player == 2
    assert legal(state) == {"KD", "AH"}


@pytest.mark.parametrize(
    ("trick_5", "shown_5", "shown_6", "tricks_won", "winner"),
    [
        # Seats 0, 2 and 3 are in, with AD 9H, KD AH and 9D QH; the trick winners of 1-4 have 2, 1 and 1 tricks.
        ("9D, 9H, KD", ["9H", "", "KD", "9D"], ["AD", "", "AH", "QH"], [2, 0, 3, 1], 2),
        ("9D, AD, KD", ["AD", "", "KD", "9D"], ["9H", "", "AH", "QH"], [3, 0, 2, 1], 2),
        ("9D, 9H, AH", ["9H", "", "AH", "9D"], ["AD", "", "KD", "QH"], [2, 0, 1, 3], 3),
        ("QH, AD, KD", ["AD", "", "KD", "QH"], ["9H", "", "AH", "9D"], [2, 0, 1, 3], 3),
        ("QH, 9H, KD", ["9H", "", "KD", "QH"], ["AD", "", "AH", "9D"], [3, 0, 1, 2], 0),
        ("QH, 9H, AH", ["9H", "", "AH", "QH"], ["AD", "", "KD", "9D"], [3, 0, 2, 1], 0),
    ],
)
@pytest.mark.parametrize("region", ["laos", "vietnamese"])
def test_the_choices_are_shown_and_the_winner_of_trick_6_wins_the_round(
    region, trick_5, shown_5, shown_6, tricks_won, winner
):
    state = play(after_four_tricks(region), trick_5)
    assert state.is_terminal(), "trick 6 is resolved by the environment"
    for observer in range(4):
        seen = faceup(state, observer)
        assert [seen[(seat - observer) % 4][4] for seat in range(4)] == shown_5
        assert [seen[(seat - observer) % 4][5] for seat in range(4)] == shown_6
    assert statistics(state, "tricks_won") == tricks_won
    assert by_seat(state, "tricks_won") == tricks_won
    assert by_seat(state, "early_tricks") == [2, 0, 1, 1]
    assert statistics(state, "won_round") == [int(seat == winner) for seat in range(4)]
    assert list(state.rewards()) == [3.0 if seat == winner else -1.0 for seat in range(4)]
    assert view(state, 0)["hand"].sum() == 0
