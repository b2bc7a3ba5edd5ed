"""What Petrify refuses, and that it says why and what to do."""

import pytest

from catbox_env import make_game
from catbox_env.games.petrify.rules import TILES
from catbox_env.petrify_v0 import Deal
from tests.core.record_changes import set_field

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


#: What is wrong with a position, and the change of its record that makes it so.
UNPLAYABLE = {
    "nobody to move": set_field("current_player", -1),
    "two pawns on a cell": set_field("position", 15, 0),
    "a pawn on a closed cell": set_field("position", 1, 0),
    "nowhere to go": set_field("open", 1 << 0 | 1 << 9 | 1 << 15),
    "a mover that is out": set_field("place", 2, 0),
    "nobody left but the mover": set_field("place", [-1, 1, 2, 0]),
    "a place that is not the last": set_field("place", 1, 2),
    "the same place twice": set_field("place", [-1, 2, 2, 0]),
    "more turns than a game can have: an open wall": set_field("open", (1 << 16) - 1),
}


@pytest.mark.nojit
@pytest.mark.parametrize("what", UNPLAYABLE)
def test_a_position_that_cannot_be_played_to_its_end_is_not_sampled(what: str) -> None:
    game = make_game("petrify_v0", num_players=3, teleports=2, walls=1)
    state = game.new_initial_state(deal=Deal(BOARD, [0, 15, 9]))
    assert game.sample_state(state.observation(1), seed=0).legal_actions() == state.legal_actions()
    UNPLAYABLE[what](state.record)
    for seat in range(3):
        with pytest.raises(ValueError, match="no state of this game agrees with it"):
            game.sample_state(state.observation(seat), seed=0)


def test_a_teleport_that_the_rules_do_not_have_is_not_sampled() -> None:
    """With it a turn could take two actions, and the game more than ``max_game_length``."""
    state = make_game("petrify_v0").new_initial_state(seed=0)
    set_field("tile", TILES.index("T0"), state.legal_actions()[0])(state.record)
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        state.game.sample_state(state.observation(0), seed=0)
