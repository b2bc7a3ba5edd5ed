"""Petrify's two derived parts of the observation, by hand: where each seat could go, now and after each action."""

import numpy as np
import pytest

from tests.petrify.positions import play, start, view

pytestmark = pytest.mark.nojit

ONES = ["1 1 1", "1 1 1", "1 1 1"]


def cells(plane):
    """The cells of a plane that are not zero, with their numbers."""
    return {(int(row), int(column)): int(plane[row, column]) for row, column in np.argwhere(plane)}


def test_end_cells_are_those_of_every_seat_now():
    parts = view(start(ONES, [(0, 0), (2, 2)]))
    assert cells(parts["end_cells"][0]) == {(0, 1): 1, (1, 0): 1}
    assert cells(parts["end_cells"][1]) == {(1, 2): 1, (2, 1): 1}


def test_seats_are_relative():
    state = start(ONES, [(0, 0), (2, 2)])
    assert np.array_equal(view(state, 1)["end_cells"], view(state, 0)["end_cells"][::-1])
    assert np.array_equal(view(state, 1)["end_cells_after"], view(state, 0)["end_cells_after"][::-1])


def test_the_numbers_are_those_after_each_legal_action():
    # From (0, 1) the mover reaches (0, 2) and (1, 1): the cell it left is closed. The other keeps its two.
    parts = view(start(ONES, [(0, 0), (2, 2)]))
    assert cells(parts["end_cells_after"][0]) == {(0, 1): 1 + 2, (1, 0): 1 + 2}
    assert cells(parts["end_cells_after"][1]) == {(0, 1): 1 + 2, (1, 0): 1 + 2}


def test_the_pawn_stands_in_the_way_where_it_goes():
    # The mover leaves (0, 1) for (0, 0), (0, 2), (1, 1); the other stands on (1, 2), between two of these.
    parts = view(start(ONES, [(0, 1), (1, 2)]))
    assert cells(parts["end_cells"][1]) == {(0, 2): 1, (1, 1): 1, (2, 2): 1}
    assert cells(parts["end_cells_after"][1]) == {(0, 0): 1 + 3, (0, 2): 1 + 2, (1, 1): 1 + 2}
    assert cells(parts["end_cells_after"][0]) == {(0, 0): 1 + 1, (0, 2): 1 + 0, (1, 1): 1 + 2}


def test_a_choice_of_exit_leaves_the_teleport_open():
    state = play(start(["1 T0 1", "1 1 1", "1 1 1"], [(0, 0), (2, 2)]), (0, 1))
    parts = view(state)
    exits = {(0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)}
    assert set(cells(parts["end_cells"][0])) == exits
    assert set(cells(parts["end_cells_after"][0])) == exits
    assert parts["end_cells_after"][0][0, 2] == 1 + 2, "(0, 1), the teleport, and (1, 2)"
    assert parts["end_cells_after"][0][1, 1] == 1 + 4
    assert parts["end_cells_after"][1][1, 1] == 1 + 2
    assert parts["end_cells_after"][1][1, 2] == 1 + 1


def test_landings_have_no_effect_yet():
    # On the teleport itself a pawn has no energy; the zero's exchange is not carried out.
    parts = view(start(["1 T0 1", "0 1 1", "1 1 1"], [(0, 0), (2, 2)]))
    assert cells(parts["end_cells_after"][0]) == {(0, 1): 1, (1, 0): 1}
    assert cells(parts["end_cells_after"][1]) == {(0, 1): 1 + 2, (1, 0): 1 + 2}


def test_who_is_petrified_has_no_end_cells():
    # Seat 0 shuts seat 1 in between itself and the walls.
    parts = view(play(start([". 1 W", "1 W .", ". . ."], [(1, 0), (0, 1), (2, 2)]), (0, 0)))
    assert parts["in_game"].tolist() == [1, 0, 1]
    assert not parts["end_cells"][:2].any(), "seat 1 is out, and seat 0 cannot move now"
    assert cells(parts["end_cells"][2]) == {(1, 2): 1, (2, 1): 1}
    assert not parts["end_cells_after"][1].any()
    assert cells(parts["end_cells_after"][0]) == {(1, 2): 1, (2, 1): 1}


def test_more_than_six_count_as_six():
    # From the wildcard on (1, 0) more than six cells are within four steps, from (0, 1) two within one.
    state = start(["1 1 . .", "* . . .", ". . . .", ". . . ."], [(0, 0), (3, 3)], move_rule="up_to")
    after = view(state)["end_cells_after"][0]
    assert cells(after) == {(0, 1): 1 + 2, (1, 0): 1 + 6}


def test_both_are_zero_when_the_game_is_over():
    state = start(ONES, [(0, 0), (2, 2)])
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    parts = view(state)
    assert not parts["end_cells"].any()
    assert not parts["end_cells_after"].any()
