"""What Petrify refuses, and that it says why and what to do."""

from typing import Any

import numpy as np
import pytest

from catbox_env import GameState, make_game
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


#: What is wrong with a position, and the fields of its record that make it so; a tuple: (element, value).
UNPLAYABLE: dict[str, dict[str, Any]] = {
    "nobody to move": {"current_player": -1},
    "two pawns on a cell": {"position": (0, 15)},
    "a pawn on a closed cell": {"position": (0, 1)},
    "nowhere to go": {"open": 1 << 0 | 1 << 9 | 1 << 15},
    "a mover that is out": {"place": (0, 2)},
    "nobody left but the mover": {"place": (slice(1, 3), [1, 2])},
    "a place that is not the last": {"place": (2, 1)},
    "the same place twice": {"place": (slice(1, 3), [2, 2])},
    "more turns than a game can have: an open wall": {"open": (1 << 16) - 1},
}


def change(state: GameState, **fields: Any) -> None:
    for name, value in fields.items():
        if isinstance(value, tuple):
            state.record[name][value[0]] = value[1]
        else:
            state.record[name] = value


@pytest.mark.nojit
@pytest.mark.parametrize("what", UNPLAYABLE)
def test_a_position_that_cannot_be_played_to_its_end_is_not_sampled(what: str) -> None:
    game = make_game("petrify_v0", num_players=3, teleports=2, walls=1)
    state = game.new_initial_state(deal=Deal(BOARD, [0, 15, 9]))
    assert game.sample_state(state.observation(1), seed=0).legal_actions() == state.legal_actions()
    change(state, **UNPLAYABLE[what])
    for seat in range(3):
        with pytest.raises(ValueError, match="observation"):
            game.sample_state(state.observation(seat), seed=0)


def test_a_teleport_that_the_rules_do_not_have_makes_a_game_too_long() -> None:
    """With teleports a turn can take two actions, so a game of more turns than half its actions may not end in time."""
    state = make_game("petrify_v0").new_initial_state(seed=0)
    change(state, tile=(int(np.flatnonzero(state.action_mask())[0]), 16))
    with pytest.raises(ValueError, match="observation"):
        state.game.sample_state(state.observation(0), seed=0)
