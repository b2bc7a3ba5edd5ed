"""The rules page of Petrify, sentence by sentence: teleports and zero tiles."""

import numpy as np
import pytest

from tests.petrify.positions import in_game, is_open, legal, place_of, places, play, start, tile_at, view

pytestmark = pytest.mark.nojit


# ---------------------------------------------------------------- teleports


COLOURFUL = ["1.1 T0 T1 2.1", "1.2 W * 0", "2.2 3.1 4.2 1.1", "3.3 T2 1.4 2.2"]


def test_after_landing_on_a_teleport_the_same_player_chooses_at_once():
    state = play(start(COLOURFUL, [(0, 0), (3, 3)]), (0, 1))
    assert state.current_player == 0
    assert view(state)["teleporting"].tolist() == [1]
    assert view(state)["to_move"].tolist() == [1, 0]
    assert place_of(state, 0) == (0, 1)
    assert not is_open(state, (0, 0)), "the start cell is closed before the landing takes effect"
    assert state.action_mask(1).sum() == 0
    play(state, (2, 2))
    assert place_of(state, 0) == (2, 2)
    assert state.current_player == 1
    assert view(state)["teleporting"].tolist() == [0]
    assert is_open(state, (0, 1)), "the turn began elsewhere, so the teleport stays open"


def test_a_colourless_teleport_leads_to_every_open_empty_cell_that_accepts_a_landing():
    state = play(start(COLOURFUL, [(0, 0), (3, 3)]), (0, 1))
    teleports, wall, closed, occupied = {(0, 1), (0, 2), (3, 1)}, {(1, 1)}, {(0, 0)}, {(3, 3)}
    everything = {(row, column) for row in range(4) for column in range(4)}
    assert legal(state) == everything - teleports - wall - closed - occupied


@pytest.mark.parametrize(
    ("begin", "teleport", "ends"),
    [
        # T1: numbers of colour 1; of the four, (0, 0) is open here.
        ((0, 3), (0, 2), {(0, 0), (2, 1), (2, 3)}),
        # T2 from (2, 1), three steps: numbers of colour 2 but for the other player's (3, 3).
        ((2, 1), (3, 1), {(1, 0), (2, 0), (2, 2)}),
    ],
)
def test_a_coloured_teleport_leads_to_its_colour(begin, teleport, ends):
    rows = [row.split() for row in COLOURFUL]
    row, column = begin
    rows[row][column] = "1." + rows[row][column][-1]
    state = play(start([" ".join(names) for names in rows], [begin, (3, 3)]), teleport)
    assert view(state)["teleporting"].tolist() == [1]
    assert legal(state) == ends, "no wildcard and no zero tile, which are colourless"


def test_the_choice_is_any_cell_but_a_teleport_however_far_and_walled_in():
    state = play(start(["1 T0 .", ". W W", ". W ."], [(0, 0), (2, 0)]), (0, 1))
    assert legal(state) == {(0, 2), (1, 0), (2, 2)}
    board = ["1.1 T0 T1 T2", "T3 T4 T0 1.1", ". . . .", ". . . ."]
    state = play(start(board, [(0, 0), (3, 3)]), (0, 1))
    ends = {(1, 3), (2, 0), (2, 1), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2)}
    assert legal(state) == ends, "nor to the sixth teleport, which is colourless as the first"


def test_the_landing_effect_of_the_chosen_cell_happens():
    """Through the teleport onto the zero tile: the two players change places."""
    state = play(start(["1 T0 .", ". . .", "0 . 3.2"], [(0, 0), (2, 2)]), (0, 1), (2, 0))
    assert place_of(state, 0) == (2, 2)
    assert place_of(state, 1) == (2, 0)
    assert tile_at(state, (2, 0)) == "3.2"
    assert state.current_player == 1


# Colour 4 is nowhere but on the teleport T4.
NO_FOUR = ["1.1 T4 2.1 2.2", "T0 T1 1.2 1.3", "T2 T3 1.1 1.1", "1.1 1.1 1.1 1.1"]


def test_without_a_cell_of_its_colour_there_is_no_choice_and_the_turn_ends():
    state = play(start(NO_FOUR, [(0, 0), (3, 3)]), (0, 1))
    assert state.current_player == 1
    assert view(state)["teleporting"].tolist() == [0]
    assert place_of(state, 0) == (0, 1), "it stays on the teleport"
    assert in_game(state) == [1, 1]
    play(state, (3, 2))
    assert state.is_terminal(), "a teleport gives no energy"
    assert list(state.rewards()) == [-1, 1]


def test_occupied_and_closed_cells_of_the_colour_are_no_choice():
    """Colour 1 is under the other player and on the start cell alone."""
    board = ["1.1 T1 2.2", "T0 2.2 2.2", "2.2 2.2 1.1"]
    state = play(start(board, [(0, 0), (2, 2)]), (0, 1))
    assert state.current_player == 1
    assert place_of(state, 0) == (0, 1)


def test_a_teleport_can_be_used_again():
    board = ["1 T0 1", ". . .", ". . ."]
    state = play(start(board, [(0, 0), (0, 2)]), (0, 1), (2, 0))
    assert (0, 1) in legal(state)
    play(state, (0, 1))
    assert state.current_player == 1
    assert view(state)["teleporting"].tolist() == [1]
    play(state, (2, 2))
    assert state.current_player == 0


# ---------------------------------------------------------------- zero tiles


def test_two_players_change_places_and_the_zero_tile_becomes_a_copy():
    state = play(start(["1 0 .", ". . .", ". . 3.2"], [(0, 0), (2, 2)]), (0, 1))
    assert place_of(state, 0) == (2, 2)
    assert place_of(state, 1) == (0, 1)
    assert tile_at(state, (0, 1)) == "3.2", "seat 1 brings its old tile along"
    assert tile_at(state, (2, 2)) == "3.2", "which also stays where it was"
    assert is_open(state, (0, 1))
    assert is_open(state, (2, 2))
    assert not is_open(state, (0, 0))
    assert view(state)["kinds"][3].sum() == 0, "a zero tile works once"
    assert state.current_player == 1, "turn order is unchanged"
    assert legal(state) == {(0, 2), (1, 1), (2, 0)}, "three steps from the zero cell, not through (0, 0)"


def test_the_copy_gives_the_energy_of_the_old_tile():
    for name, ends in (
        ("1.2", {(0, 2), (1, 1)}),
        ("2.4", {(1, 0), (1, 2), (2, 1)}),
        ("*", {(0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)}),
    ):
        state = play(start(["1 0 .", ". . .", f". . {name}"], [(0, 0), (2, 2)]), (0, 1))
        assert tile_at(state, (0, 1)) == name
        assert legal(state) == ends


@pytest.mark.parametrize("lander", [0, 1, 2])
def test_each_takes_the_position_of_the_next_player_in_turn_order(lander):
    """Three players; the one to land begins beside the zero tile, and the others stay where they are till then."""
    board = [
        "1.1 0 1.4 1.4",
        "1.4 1.4 1.4 1.4",
        "1.4 1.4 1.4 1.4",
        "1.2 1.4 1.4 1.3",
    ]
    corners = [(3, 0), (3, 3)]
    begin = corners[:lander] + [(0, 0)] + corners[lander:]
    state = start(board, begin)
    for player in range(lander):
        play(state, {(3, 0): (3, 1), (3, 3): (3, 2)}[begin[player]])
    before = [place_of(state, player) for player in range(3)]
    play(state, (0, 1))
    before[lander] = (0, 1)
    assert [place_of(state, player) for player in range(3)] == [before[1], before[2], before[0]]
    previous = (lander - 1) % 3
    assert place_of(state, previous) == (0, 1), (
        "the one before the lander in turn order comes to the zero tile"
    )
    assert tile_at(state, (0, 1)) == tile_at(state, before[previous])
    assert state.current_player == (lander + 1) % 3


def test_petrified_players_do_not_rotate():
    """Seat 1 is out in the corner when seat 2 lands on the zero tile: seats 0 and 2 change places."""
    board = ["1 1 W .", "1 W . .", ". . . 0", ". . . 1.3"]
    state = start(board, [(1, 0), (0, 1), (3, 3)])
    play(state, (0, 0))
    assert in_game(state) == [1, 0, 1]
    play(state, (2, 3))
    assert place_of(state, 1) == (0, 1)
    assert place_of(state, 2) == (0, 0)
    assert place_of(state, 0) == (2, 3)
    assert tile_at(state, (2, 3)) == tile_at(state, (0, 0))
    assert state.current_player == 0


def test_no_landing_effect_follows_from_the_rotation():
    """Seat 1 is stuck on T4, which seat 0 comes to stand on: nobody is asked where to go."""
    board = ["1.1 1.1 0 T4", "T0 T1 T2 1.2", "T3 1.1 1.1 1.1", "1.3 1.1 1.1 1.1"]
    state = play(start(board, [(0, 0), (1, 3), (3, 3)]), (0, 1), (0, 3), (3, 2))
    assert state.current_player == 0
    play(state, (0, 2))
    assert [place_of(state, player) for player in range(3)] == [(0, 3), (3, 2), (0, 2)]
    assert view(state)["teleporting"].tolist() == [0]
    assert tile_at(state, (0, 2)) == tile_at(state, (3, 2))
    assert state.current_player == 1, "seat 1 was moved away from its teleport and plays on"
    assert in_game(state) == [1, 1, 1]


def test_the_copy_of_a_teleport_is_a_teleport():
    """Seat 1 is stuck on T4 and comes before seat 2, which lands on the zero tile."""
    board = ["1.1 1.1 0 1.2", "T0 T1 1.1 1.1", "T3 1.1 T2 1.1", "T4 1.3 1.1 1.1"]
    state = start(board, [(2, 3), (3, 1), (0, 3)])
    play(state, (1, 3), (3, 0), (0, 2))
    assert [place_of(state, player) for player in range(3)] == [(3, 0), (0, 2), (1, 3)]
    assert tile_at(state, (0, 2)) == "T4"
    assert is_open(state, (0, 2))
    assert state.is_terminal(), "seats 0 and 1 stand on teleports now"
    assert places(state) == [2, 1, 0]


def test_a_player_may_land_on_the_copy():
    board = ["1.1 0 1.2", "1.1 1.1 1.1", "1.1 1.1 2.3"]
    state = play(start(board, [(0, 0), (2, 2)]), (0, 1))
    play(state, (1, 0))
    assert np.argwhere(view(state)["symbols"][1]).tolist() == [[0, 1], [2, 2]]
    assert not is_open(state, (0, 1)), "seat 1's turn began on the copy"
