"""Petrify's two derived parts of the observation, by hand: where each seat could go, now and after each action."""

import numpy as np
import pytest

from tests.petrify.positions import play, start, view

pytestmark = pytest.mark.nojit

ONES = ["1 1 1", "1 1 1", "1 1 1"]


def cells(plane):
    """The cells of a plane that are not zero, with their numbers."""
    return {(int(row), int(column)): int(plane[row, column]) for row, column in np.argwhere(plane)}


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


def test_more_than_six_count_as_six():
    # From the wildcard on (1, 0) more than six cells are within four steps, from (0, 1) two within one.
    state = start(["1 1 . .", "* . . .", ". . . .", ". . . ."], [(0, 0), (3, 3)], move_rule="up_to")
    after = view(state)["end_cells_after"][0]
    assert cells(after) == {(0, 1): 1 + 2, (1, 0): 1 + 6}
