"""The rules page of Cat in the Box, sentence by sentence: tricks, X-tokens, trump, paradox, end of the round."""

import pytest

from tests.cat_in_the_box.positions import BLUE, colours, legal, play, start, statistics, tricks, view

pytestmark = pytest.mark.nojit

# Three players who hold every rank once: after discarding the 1s any declaration of 2-6 can be made.
EVERY_RANK = [[1, 2, 3, 4, 5, 6]] * 3


def three_players():
    """Three players about to play the first of four tricks, seat 0 to lead, each holding 2-6."""
    return play(start(EVERY_RANK, bids=()), "discard 1", "discard 1", "discard 1")


# ---------------------------------------------------------------- tricks


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_start_player_leads_the_first_trick(first):
    state = play(start(EVERY_RANK, bids=(), start_player=first), *["discard 1"] * 3)
    assert state.current_player == first
    assert view(state, first)["leader"].tolist() == [1, 0, 0]
    assert view(state, first)["start_player"].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        (["yellow 4", "yellow 5", "yellow 3"], 1),  # the highest card of the led colour
        (["blue 4", "blue 3", "blue 6"], 2),
        (["yellow 2", "green 6", "blue 6"], 0),  # other colours win nothing, however high
        (["green 6", "red 2", "green 5"], 1),  # the lowest red beats the highest of the led colour
        (["yellow 6", "red 3", "red 5"], 2),  # the highest red
        (["yellow 6", "red 5", "red 3"], 1),
    ],
)
def test_a_trick_goes_to_the_highest_red_or_else_the_highest_of_the_led_colour(cards, winner):
    state = play(three_players(), *cards)
    assert tricks(state) == [int(seat == winner) for seat in range(3)]
    assert state.current_player == winner, "the winner of each trick leads the next"
    assert view(state, winner)["leader"].tolist() == [1, 0, 0]
    assert view(state, 0)["tricks_left"].tolist() == [3]
    play(state, next(iter(sorted(legal(state)))))
    assert state.current_player == (winner + 1) % 3, "play goes on clockwise from the leader"


def test_a_cell_that_is_taken_cannot_be_declared_again():
    state = play(three_players(), "yellow 6")
    assert not {"yellow 6", "paradox"} & legal(state)
    assert {"red 6", "blue 6", "green 6"} <= legal(state)
    play(state, "yellow 5", "yellow 4")
    own_cell, taken_cell = "yellow 6", "yellow 5"
    assert not {own_cell, taken_cell} & legal(state)


# ---------------------------------------------------------------- X-tokens


def test_a_follower_of_another_colour_loses_its_x_token_of_the_led_colour():
    state = play(three_players(), "yellow 6", "green 5", "yellow 5")
    assert colours(state, 0) == [1, 1, 1, 1], "the leader loses nothing"
    assert colours(state, 1) == [1, 1, 0, 1], "the led colour is lost, not the declared one"
    assert colours(state, 2) == [1, 1, 1, 1], "who follows loses nothing"
    assert view(state, 2)["x_tokens"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1]], "it is public"


def test_a_colour_without_its_x_token_cannot_be_declared():
    state = play(three_players(), "yellow 6", "green 5", "yellow 5", "yellow 4")
    assert state.current_player == 1
    assert not {move for move in legal(state) if move.startswith("yellow")}
    play(state, "red 4", "yellow 3")
    assert state.current_player == 1
    assert not {move for move in legal(state) if move.startswith("yellow")}, "nor can it be led"


# ---------------------------------------------------------------- trump


def test_red_cannot_be_led_before_trump_is_broken():
    state = three_players()
    assert legal(state) == {
        f"{colour} {rank}" for colour in ("blue", "yellow", "green") for rank in range(2, 7)
    }
    play(state, "yellow 6", "green 5", "blue 5")
    assert view(state, 0)["trump_broken"].tolist() == [0]
    assert not {move for move in legal(state) if move.startswith("red")}


def test_a_follower_breaks_trump_and_then_red_may_be_led():
    state = play(three_players(), "yellow 6")
    assert view(state, 0)["trump_broken"].tolist() == [0]
    play(state, "red 2")
    assert view(state, 0)["trump_broken"].tolist() == [1]
    play(state, "yellow 5")
    assert state.current_player == 1
    assert {move for move in legal(state) if move.startswith("red")} == {"red 3", "red 4", "red 5", "red 6"}


def forced_red_lead():
    """Two colours; seat 0 leads with nothing but 2s in hand and blue 2 on the board."""
    state = start([[2, 2, 2, 2, 2], [1, 1, 3, 3, 3]], num_ranks=3, num_colors=2)
    return play(state, "discard 2", "discard 3", "blue 2", "blue 1")


def test_red_may_be_led_when_no_other_declaration_is_legal():
    state = forced_red_lead()
    assert state.current_player == 0
    assert view(state, 0)["trump_broken"].tolist() == [0]
    assert legal(state) == {"red 2"}


def test_one_card_with_another_colour_open_is_enough_to_forbid_a_red_lead():
    state = start([[2, 2, 2, 3, 3], [1, 1, 1, 1, 3]], num_ranks=3, num_colors=2)
    play(state, "discard 2", "discard 3", "blue 2", "blue 1")
    assert legal(state) == {"blue 3"}, "red 2 stays closed although the 2 can go nowhere else"


def test_a_lost_x_token_can_force_a_red_lead():
    state = start([[1, 2, 2, 2, 3], [1, 1, 1, 3, 3]], num_ranks=3, num_colors=3, start_player=1)
    play(state, "discard 3", "discard 1", "blue 1", "yellow 2", "yellow 1", "yellow 3")
    assert state.current_player == 0
    assert view(state, 0)["trump_broken"].tolist() == [0]
    assert view(state, 0)["board"][BLUE, 1].sum() == 0
    assert legal(state) == {"red 2"}, "blue 2 is empty, but the right to declare blue is gone"


# ---------------------------------------------------------------- paradox


def paradox_as_leader():
    """Two colours; seat 0 has won the first trick and leads: red 1 taken, blue 1 empty, blue X-token gone."""
    state = start([[1, 1, 1, 1], [2, 2, 3, 3]], num_ranks=3, num_colors=2, start_player=1)
    return play(state, "discard 2", "discard 1", "blue 2", "red 1")


def paradox_as_follower():
    """Two colours; one trick each; seat 0 has led blue 4 to the third and seat 1 has nothing to declare."""
    state = start([[1, 1, 1, 4, 4], [2, 2, 2, 3, 3]], num_ranks=4, num_colors=2)
    play(state, "discard 1", "discard 3", "blue 1", "red 2")
    return play(state, "red 3", "red 4", "blue 4")


def test_a_leader_without_a_legal_declaration_has_paradox_alone():
    state = paradox_as_leader()
    assert state.current_player == 0
    assert view(state, 0)["board"][BLUE, 0].sum() == 0, "blue 1 is empty"
    assert colours(state, 0) == [1, 0]
    assert legal(state) == {"paradox"}
    assert state.legal_actions() == [state.game.num_actions - 1]
    play(state, "paradox")
    assert state.is_terminal()
    assert state.current_player == -1
    assert tricks(state) == [1, 0]


def test_a_follower_without_a_legal_declaration_has_paradox_alone():
    state = paradox_as_follower()
    assert state.current_player == 1
    assert legal(state) == {"paradox"}
    play(state, "paradox")
    assert state.is_terminal()
    assert tricks(state) == statistics(state, "tricks_won") == [1, 1], "nobody wins the unfinished trick"
    board = view(state, 0)["board"]
    assert board[BLUE, 3].tolist() == [1, 0], "the tokens of the unfinished trick stay on the board"
    assert board.sum() == 5
    assert statistics(state, "paradox") == [0, 1]
    assert statistics(state, "bonus") == [2, 0], "blue 4 of the unfinished trick joins red 4"
    assert statistics(state, "score") == [3, -1]


# ---------------------------------------------------------------- end of the round


def test_the_round_ends_when_every_player_has_one_card_left():
    state = three_players()
    play(state, "yellow 6", "yellow 5", "yellow 4")
    play(state, "green 5", "green 4", "green 6")
    play(state, "blue 5", "blue 4", "blue 6")
    assert [view(state, seat)["hand"].sum() for seat in range(3)] == [2, 2, 2]
    assert not state.is_terminal()
    play(state, "yellow 3", "yellow 2")
    assert not state.is_terminal()
    play(state, "red 3")
    assert state.is_terminal()
    assert state.round_ended
    assert [view(state, seat)["hand"].sum() for seat in range(3)] == [1, 1, 1]
    assert tricks(state) == [2, 1, 1]
    assert view(state, 0)["tricks_left"].tolist() == [0]
