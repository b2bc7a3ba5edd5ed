"""What Petrify refuses, and that it says why and what to do."""

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
