"""What Petrify refuses, and that it says why and what to do."""

from collections.abc import Callable

import numpy as np
import pytest

from catbox_env import make_game
from catbox_env.petrify_v0 import Deal

BOARD = [["2.1", "W", "1.3", "1.1"], ["T1", "4.2", "2.1", "T0"], ["1.2", "1.4", "1.3", "4.4"], ["3.1"] * 4]


@pytest.mark.parametrize(
    ("before", "action", "said"),
    [
        ([], 0, "holds the pawn of player_0"),
        ([], 15, "holds the pawn of player_1"),
        ([], 1, "b1 is a wall"),
        ([], 4, "no path of exactly 2 steps over free cells ends on a2"),
        ([], 3, "no path of exactly 2 steps over free cells ends on d1"),
        ([5, 12], 0, "a1 is closed"),
        ([8, 12, 4], 7, "d2 is a teleport, and a teleport does not lead to another"),
        ([8, 12, 4], 2, "the teleport has colour 1 and c1 has colour 3"),
        ([8, 12, 4], 8, "a3 is closed"),
    ],
)
@pytest.mark.nojit
def test_an_illegal_move_says_which_rule_forbids_it_and_changes_nothing(
    before: list[int], action: int, said: str
) -> None:
    game = make_game("petrify_v0", teleports=2, walls=1)
    state = game.new_initial_state(deal=Deal(BOARD, [0, 15]))
    for move in before:
        state.apply_action(move)
    data = state.serialize()
    with pytest.raises(ValueError, match=f"illegal action {action} .*{said}"):
        state.apply_action(action)
    assert state.serialize() == data


def cell_of(parts: dict[str, np.ndarray], part: str, index: int) -> tuple[int, int]:
    row, column = np.argwhere(parts[part][index])[0]
    return int(row), int(column)


#: What is wrong with an observation: a change of its parts.
WRONG_PARTS: dict[str, Callable[[dict[str, np.ndarray]], None]] = {
    "two places": lambda parts: parts["positions"][0].fill(1),
    "no place": lambda parts: parts["positions"][1].fill(0),
    "two pawns on a cell": lambda parts: np.copyto(parts["positions"][1], parts["positions"][0]),
    "a pawn on a closed cell": lambda parts: parts["open"].__setitem__(cell_of(parts, "positions", 0), 0),
    "nobody to move": lambda parts: parts["to_move"].fill(0),
    "no seat": lambda parts: parts["seat"].fill(0),
    "a tile of no kind": lambda parts: parts["kinds"][:, 0, 0].fill(0),
    "a number without a colour": lambda parts: parts["colors"].__setitem__(
        (slice(None), *cell_of(parts, "kinds", 0)), [1, 0, 0, 0, 0]
    ),
    "an open wall": lambda parts: parts["open"].__setitem__(cell_of(parts, "kinds", 1), 1),
    "out without a place": lambda parts: parts["in_game"].__setitem__(2, 0),
    "a winner while others play": lambda parts: parts["place"].__setitem__((2, 0), 1),
    "nowhere to go": lambda parts: np.copyto(parts["open"], parts["positions"].sum(0)),
    "more than 1": lambda parts: np.multiply(parts["symbols"], 2, parts["symbols"]),
    "other end cells": lambda parts: parts["end_cells"][1].fill(0),
    "other end cells after": lambda parts: parts["end_cells_after"].fill(0),
}


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", WRONG_PARTS)
def test_a_vector_that_no_seat_can_see_is_refused(wrong: str) -> None:
    game = make_game("petrify_v0", num_players=3, size=5, walls=2, teleports=2)
    observation = game.new_initial_state(seed=4).observation(0)
    assert game.sample_state(observation).legal_actions()
    WRONG_PARTS[wrong](game.observation_layout.unpack(observation))
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        game.sample_state(observation)
