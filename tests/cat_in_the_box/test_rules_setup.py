"""The rules page of Cat in the Box, sentence by sentence: set-up, discard, bid."""

import numpy as np
import pytest

import catbox_env
from tests.cat_in_the_box.positions import BLUE, GREEN, YELLOW, legal, play, start, view

pytestmark = pytest.mark.nojit

# Three players who hold every rank once.
EVERY_RANK = [[1, 2, 3, 4, 5, 6]] * 3


def fresh(seed=0, **options):
    return catbox_env.make_game("cat_in_the_box_v0", **options).new_initial_state(seed=seed)


# ---------------------------------------------------------------- set-up

SET_UP_TABLE = [
    # players, ranks, copies, cards each, tricks, bids, actions
    (5, 9, 5, 9, 7, (1, 2, 3, 4), 50),
    (4, 8, 5, 10, 8, (1, 2, 3, 4), 45),
    (3, 6, 5, 10, 8, (1, 2, 3, 4), 35),
    (2, 5, 5, 10, 8, (), 26),
]


@pytest.mark.parametrize(
    ("players", "ranks", "copies", "cards", "num_tricks", "bids", "actions"), SET_UP_TABLE
)
def test_the_set_up_table(players, ranks, copies, cards, num_tricks, bids, actions):
    state = fresh(num_players=players)
    rules = state.game.rules
    assert (rules.num_ranks, rules.copies, rules.hand_size) == (ranks, copies, cards)
    assert rules.num_colors == 4
    assert tuple(rules.bids) == bids
    assert state.game.num_actions == actions
    assert view(state, 0)["tricks_left"].tolist() == [num_tricks]
    hands = np.array([view(state, seat)["hand"] for seat in range(players)])
    assert hands.shape == (players, ranks)
    assert hands.sum(axis=1).tolist() == [cards] * players


@pytest.mark.parametrize(
    ("revealed", "blocked"),
    [
        ([1, 2, 5], {(GREEN, 1), (GREEN, 2), (GREEN, 5)}),
        ([3, 5, 3], {(GREEN, 3), (YELLOW, 3), (GREEN, 5)}),
        ([4, 4, 4], {(GREEN, 4), (YELLOW, 4), (BLUE, 4)}),
        ([4, 4, 4, 4], {(GREEN, 4), (YELLOW, 4), (BLUE, 4)}),  # the fourth stacks on blue, and red stays open
    ],
)
def test_neutral_tokens_block_green_then_yellow_then_blue(revealed, blocked):
    hands = [[1, 2, 3, 4, 5], [1, 2, 3, 5, 5]]
    state = start(hands, revealed=revealed)
    for seat in range(2):
        neutral = view(state, seat)["neutral"]
        assert {(int(colour), int(rank) + 1) for colour, rank in np.argwhere(neutral)} == blocked
        assert neutral.sum() == len(revealed)
        assert view(state, seat)["board"].sum() == 0, "neutral tokens belong to nobody"
    play(state, "discard 1", "discard 2")
    names = ["red", "blue", "yellow", "green"]
    cells = {(colour, rank) for colour in (BLUE, YELLOW, GREEN) for rank in (2, 3, 4, 5)}
    open_cells = {f"{names[colour]} {rank}" for colour, rank in cells - blocked}
    assert legal(state) == open_cells, "red may not be led while another colour can be declared"


# ---------------------------------------------------------------- discard


@pytest.mark.parametrize("first", [0, 1, 2])
def test_players_discard_clockwise_from_the_start_player(first):
    state = start(EVERY_RANK, start_player=first)
    for turn in range(3):
        assert state.current_player == (first + turn) % 3
        assert view(state, 0)["phase"].tolist() == [1, 0, 0]
        play(state, "discard 1")
    assert state.current_player == first
    assert view(state, 0)["phase"].tolist() == [0, 1, 0]


def test_any_card_of_the_hand_and_no_other_may_be_discarded():
    state = start([[2, 2, 5], [1, 3, 4]], bids=())
    assert legal(state) == {"discard 2", "discard 5"}


def test_a_discard_is_known_to_its_owner_alone():
    one = play(start(EVERY_RANK), "discard 1")
    other = play(start(EVERY_RANK), "discard 6")
    assert one.observation(0).tolist() != other.observation(0).tolist()
    assert one.history_observation(0)[0].tolist() == [0, one.game.string_to_action("discard 1")]
    for seat, relative in ((1, 2), (2, 1)):
        assert one.observation(seat).tolist() == other.observation(seat).tolist()
        assert one.history_observation(seat).tolist() == other.history_observation(seat).tolist()
        assert one.history_observation(seat)[0].tolist() == [relative, -1]
        assert view(one, seat)["discarded"].sum() == 0


# ---------------------------------------------------------------- bid


def test_players_bid_clockwise_from_the_start_player_and_bids_are_public():
    state = play(start(EVERY_RANK, start_player=2), "discard 1", "discard 2", "discard 3")
    assert state.current_player == 2
    assert legal(state) == {"bid 1", "bid 2", "bid 3", "bid 4"}
    play(state, "bid 4")
    assert view(state, 2)["bids"].tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert view(state, 1)["bids"].tolist() == [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert state.current_player == 0
    assert legal(state) == {"bid 1", "bid 2", "bid 3", "bid 4"}, "two players may make the same bid"
    play(state, "bid 1", "bid 4")
    assert view(state, 0)["bids"].tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]]
    assert state.current_player == 2
    assert view(state, 0)["phase"].tolist() == [0, 0, 1]
