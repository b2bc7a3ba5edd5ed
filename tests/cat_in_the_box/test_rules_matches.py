"""The rules page of Cat in the Box, sentence by sentence: length of a game, matches, ties, the start player."""

import numpy as np
import pytest

import catbox_env
from tests.cat_in_the_box.positions import legal, play, statistics, view
from tests.games.compare import digits

pytestmark = pytest.mark.nojit


def one_trick_rounds(num_players, rounds, reward="win", **options):
    """A game whose rounds are one trick each, so that any score can be arranged whatever the deal."""
    game = catbox_env.make_game(
        "cat_in_the_box_v0",
        num_players=num_players,
        num_ranks=3,
        copies=3,
        hand_size=3,
        revealed_cards=0,
        bids=(0, 1),
        rounds=rounds,
        reward=reward,
        **options,
    )
    return game.new_initial_state(seed=3)


def play_round(state, winner, hits):
    """One round: this seat wins its trick, and these seats hit their bids.

    Scores: the winner 2 with its bid hit, else 1; any other 1 with its bid hit, else 0.
    """
    players = state.game.num_players
    for _ in range(players):
        play(state, min(legal(state)))
    for _ in range(players):
        won = int(state.current_player == winner)
        play(state, f"bid {won if state.current_player in hits else 1 - won}")
    for turn in range(players):
        if turn == 0:
            colour = "blue"
        else:
            colour = "red" if state.current_player == winner else ["", "yellow", "green"][turn]
        play(state, min(move for move in legal(state) if move.startswith(colour)))
    return statistics(state, "score")


def start_player(state):
    return int(np.argmax(view(state, 0)["start_player"]))


def totals(state):
    return view(state, 0)["scores"].tolist()


# ---------------------------------------------------------------- length


@pytest.mark.parametrize("players", [2, 3])
def test_a_match_is_as_many_rounds_as_players(players):
    state = one_trick_rounds(players, "match")
    for left in reversed(range(players)):
        assert not state.is_terminal()
        assert view(state, 0)["rounds_left"].tolist() == [left]
        play_round(state, 0, set(range(players)))
        assert state.round_ended
    assert state.is_terminal()
    assert view(state, 0)["rounds_left"].tolist() == [0]


@pytest.mark.parametrize("start", [0, 1, 2, "random"])
def test_the_start_player_moves_one_seat_clockwise_each_round(start):
    state = one_trick_rounds(3, 4, start_player=start)
    first = start_player(state) if start == "random" else start
    for number in range(4):
        assert start_player(state) == (first + number) % 3
        assert state.current_player == (first + number) % 3
        play_round(state, winner=2, hits={0, 1, 2})


# ---------------------------------------------------------------- totals


def test_scores_add_up():
    state = one_trick_rounds(3, 3, reward="score")
    assert totals(state) == [0, 0, 0]
    assert play_round(state, winner=0, hits={0, 1}) == [2, 1, 0]
    assert list(state.rewards()) == [2, 1, 0]
    assert totals(state) == [2, 1, 0]
    assert play_round(state, winner=2, hits={0, 1}) == [1, 1, 1]
    assert totals(state) == [3, 2, 1]
    assert view(state, 1)["scores"].tolist() == [2, 1, 3], "relative to the observer"
    assert play_round(state, winner=2, hits={2}) == [0, 0, 2]
    assert state.is_terminal()
    assert totals(state) == [3, 2, 3]
    assert list(state.returns()) == [3, 2, 3]
    assert list(state.rewards()) == [0, 0, 2], "the reward is that of the last step alone"


def test_totals_beyond_127_are_seen_exactly_and_decide_the_match():
    state = one_trick_rounds(2, 127, reward="win")
    for number in range(126):
        play_round(state, winner=int(number >= 100), hits={0, 1})
    assert totals(state) == [127, 127], "clipped to what an element of the observation can hold"
    assert state.record.scores[:2].tolist() == [226, 152]
    assert view(state, 1)["exact_scores"].tolist() == [digits(152), digits(226)], "relative to the observer"
    world = state.game.sample_state(state.observation(1), seed=0)
    for one in (state, world):
        assert one.record.scores[:2].tolist() == [226, 152]
        play_round(one, winner=1, hits={1})
        assert list(one.rewards()) == [1, 0], "seat 1 was better in the last round, but its total is lower"


def test_totals_that_always_fit_have_one_part():
    assert "exact_scores" not in one_trick_rounds(2, 63).game.observation_layout
    assert list(one_trick_rounds(2, 64).game.observation_layout)[-1] == "exact_scores"


# ---------------------------------------------------------------- who wins


@pytest.mark.parametrize(
    ("players", "rounds", "scores", "shares"),
    [
        # The highest total, whoever won the last round.
        (2, [(0, {0}), (0, {0}), (1, {1})], [[2, 0], [2, 0], [0, 2]], [1, 0]),
        # A tie goes to the higher score in the last round.
        (2, [(1, {1}), (0, {0})], [[0, 2], [2, 0]], [1, 0]),
        (2, [(0, {0}), (1, {1})], [[2, 0], [0, 2]], [0, 1]),
        # Still tied, the win is shared.
        (2, [(0, {1}), (1, {0})], [[1, 1], [1, 1]], [0.5, 0.5]),
        # Only those with the highest total compare their last round: here seat 2 was best in it.
        (3, [(0, {0, 1}), (1, {0, 1}), (2, {0, 1, 2})], [[2, 1, 0], [1, 2, 0], [1, 1, 2]], [0.5, 0.5, 0]),
        (3, [(0, {0}), (2, {1}), (2, {1, 2})], [[2, 0, 0], [0, 1, 1], [0, 1, 2]], [0, 0, 1]),
    ],
)
def test_who_wins(players, rounds, scores, shares):
    state = one_trick_rounds(players, len(rounds))
    for (winner, hits), expected in zip(rounds, scores, strict=True):
        assert list(state.returns()) == [0] * players, "the win is paid at the end of the match"
        assert play_round(state, winner, hits) == expected
    assert state.is_terminal()
    assert list(state.rewards()) == shares


# ---------------------------------------------------------------- the start player


def test_a_random_start_player_is_drawn_from_the_seed():
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=5, start_player="random")
    first = [game.new_initial_state(seed=seed).current_player for seed in range(100)]
    assert set(first) == {0, 1, 2, 3, 4}
