"""The rules page of Cat in the Box, sentence by sentence: points, bonus, paradox, rewards."""

import pytest

from tests.cat_in_the_box.positions import play, start, statistics, tricks

pytestmark = pytest.mark.nojit


def example(seat_0_bids, seat_1_bids, **options):
    """The example of the rules page: seat 0 ends with red 1, yellow 1, red 2, blue 2, blue 3 and one trick."""
    state = start([[1, 1, 2, 2, 3, 5, 5], [3, 3, 4, 4, 4, 5, 5]], bids=(0, 1, 2, 3, 4, 5), **options)
    play(state, "discard 5", "discard 3", f"bid {seat_0_bids}", f"bid {seat_1_bids}")
    play(state, "yellow 1, yellow 4", "blue 4, blue 2", "blue 5, blue 3", "green 4, red 1", "red 2, red 5")
    assert state.is_terminal()
    assert tricks(state) == [1, 4]
    return state


def test_the_example_of_the_rules_page_is_a_group_of_four():
    state = example(seat_0_bids=1, seat_1_bids=0)
    assert state.info(0) == {"score": 5, "tricks_won": 1, "bid": 1, "bonus": 4, "paradox": 0}
    assert state.info(1) == {"score": 4, "tricks_won": 4, "bid": 0, "bonus": 0, "paradox": 0}


def test_every_player_that_hit_its_bid_gets_its_own_group():
    state = example(seat_0_bids=1, seat_1_bids=4)
    assert statistics(state, "bonus") == [4, 5], "yellow 4, blue 4, blue 5, green 4, red 5 hang together"
    assert statistics(state, "score") == [5, 9]


def test_a_bid_of_nothing_is_hit_by_winning_nothing():
    state = start([[1, 2, 3], [1, 2, 3]], bids=(0, 1))
    play(state, "discard 1", "discard 1", "bid 0", "bid 0", "blue 2", "blue 3")
    assert statistics(state, "score") == [1, 1]
    assert statistics(state, "bonus") == [1, 0]


def group_of(*cells, revealed=()):
    """Bonus of seat 0 that has put its tokens on these two cells (none of them red or beating green)."""
    ranks = [int(cell.split()[1]) for cell in cells]
    own_hand = [*ranks, 4, 4]
    options = {"bids": (), "bonus_max_tricks": 2, "start_player": 1}
    state = start([own_hand, [5, 5, 4, 4]], revealed=revealed, **options)
    play(state, "discard 4", "discard 4", "green 5", cells[0], "yellow 5", cells[1])
    assert state.is_terminal()
    return state.info(0)["bonus"]


@pytest.mark.parametrize(
    ("cells", "size", "why"),
    [
        (("blue 1", "blue 2"), 2, "side by side in a row"),
        (("green 2", "yellow 2"), 2, "one above the other: green lies beside yellow"),
        (("blue 2", "yellow 2"), 2, "blue lies beside yellow"),
        (("blue 1", "red 1"), 2, "blue lies beside red"),
        (("green 1", "red 1"), 1, "the rows do not wrap around"),
        (("blue 1", "blue 5"), 1, "the columns do not wrap around"),
        (("blue 1", "yellow 2"), 1, "diagonals do not connect"),
        (("blue 2", "yellow 1"), 1, "diagonals do not connect"),
        (("yellow 1", "red 1"), 1, "blue lies between red and yellow"),
        (("green 1", "green 3"), 1, "a gap does not connect"),
    ],
)
def test_groups_connect_orthogonally_and_do_not_wrap(cells, size, why):
    assert group_of(*cells) == size, why


def test_neutral_tokens_count_for_nobody():
    assert group_of("green 1", "green 3", revealed=[2]) == 1
    assert group_of("green 1", "green 2", revealed=[3]) == 2


def test_tokens_of_others_do_not_connect():
    state = start([[1, 3, 4, 4], [2, 5, 4, 4]], bids=(), bonus_max_tricks=2, start_player=1)
    play(state, "discard 4", "discard 4", "green 2", "green 1", "green 5", "green 3")
    assert state.is_terminal()
    assert statistics(state, "bonus") == [1, 1]


def test_the_bonus_is_the_largest_group_and_not_the_sum_of_groups():
    state = start([[1, 2, 3, 3, 4], [3, 3, 5, 5, 5]], bids=(), bonus_max_tricks=3, start_player=1)
    play(state, "discard 3", "discard 3", "green 5", "green 1", "yellow 5", "green 2", "blue 5", "blue 4")
    assert state.is_terminal()
    assert statistics(state, "bonus") == [2, 3]


# ---------------------------------------------------------------- two players: no bids


@pytest.mark.parametrize(
    ("options", "last_answer", "won", "bonus"),
    [
        ({}, "red 3", [4, 1], [5, 3]),  # four tricks or fewer
        ({}, "yellow 3", [5, 0], [0, 3]),
        ({"bonus_max_tricks": 0}, "red 3", [4, 1], [0, 0]),
        ({"bonus_max_tricks": 1}, "red 3", [4, 1], [0, 3]),
        ({"bonus_max_tricks": 3}, "red 3", [4, 1], [0, 3]),
        ({"bonus_max_tricks": 4}, "red 3", [4, 1], [5, 3]),
    ],
)
def test_without_bids_the_bonus_is_for_few_tricks(options, last_answer, won, bonus):
    state = start([[4, 4, 4, 5, 5, 5, 4], [1, 1, 2, 2, 3, 3, 3]], **options)
    play(state, "discard 4", "discard 3")
    play(state, "blue 5, blue 1", "yellow 5, yellow 1", "green 5, green 2", "blue 4, blue 2")
    play(state, "yellow 4", last_answer)
    assert state.is_terminal()
    assert tricks(state) == won
    assert statistics(state, "bonus") == bonus
    assert statistics(state, "score") == [a + b for a, b in zip(won, bonus, strict=True)]
    assert statistics(state, "bid") == [0, 0], "there are no bids"


# ---------------------------------------------------------------- paradox


def paradox_of_a_leader(bid):
    """Seat 1 of three wins the first trick, then leads with 2s alone: red 2 is taken and blue is lost."""
    state = start([[1, 1, 4, 4], [2, 2, 2, 2], [3, 3, 4, 4]], num_ranks=4, num_colors=2, bids=(0, 1, 2))
    play(state, "discard 4", "discard 2", "discard 4", "bid 0", f"bid {bid}", "bid 1")
    return play(state, "blue 1", "red 2", "blue 3", "paradox")


@pytest.mark.parametrize("bid", [0, 1])
def test_the_player_of_a_paradox_scores_minus_one_a_trick_and_no_bonus(bid):
    state = paradox_of_a_leader(bid)
    assert state.is_terminal()
    assert state.info(1) == {"score": -1, "tricks_won": 1, "bid": bid, "bonus": 0, "paradox": 1}


# ---------------------------------------------------------------- rewards and info


def one_trick_of_three(reward):
    """One trick: seat 0 wins it with its bid (1 + 1), seat 1 misses (0), seat 2 hits nothing-won (1)."""
    state = start([[5, 1, 1], [4, 1, 1], [3, 2, 2]], reward=reward, bids=(0, 1))
    play(state, "discard 1", "discard 1", "discard 2", "bid 1", "bid 1", "bid 0")
    play(state, "blue 5", "blue 4")
    for seat in range(3):
        assert state.info(seat) == {}, "no statistics before a round has ended"
    assert list(state.rewards()) == [0, 0, 0]
    assert list(state.returns()) == [0, 0, 0]
    return play(state, "blue 3")


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("score", [2, 0, 1]),
        ("margin", [2 - 0.5, 0 - 1.5, 1 - 1.0]),
        ("win", [1, 0, 0]),
    ],
)
def test_the_three_kinds_of_reward(reward, expected):
    state = one_trick_of_three(reward)
    assert list(state.rewards()) == pytest.approx(expected)
    assert list(state.returns()) == pytest.approx(expected)
    assert statistics(state, "score") == [2, 0, 1], (
        "the statistics are those of the round, whatever is rewarded"
    )
