"""Positions of Petrify that cannot be played to their end are not sampled."""

from typing import Any

import pytest

from catbox_env import make_game
from catbox_env.games.petrify.rules import TILES
from catbox_env.petrify_v0 import Deal

BOARD = [["2.1", "W", "1.3", "1.1"], ["T1", "4.2", "2.1", "T0"], ["1.2", "1.4", "1.3", "4.4"], ["3.1"] * 4]


#: What is wrong with a position, and the change of its record that makes it so: a field, a place in it, and a value.
UNPLAYABLE: dict[str, tuple[str, Any, Any]] = {
    "nobody to move": ("current_player", ..., -1),
    "two pawns on a cell": ("position", 0, 15),
    "a pawn on a closed cell": ("position", 0, 1),
    "nowhere to go": ("open", ..., 1 << 0 | 1 << 9 | 1 << 15),
    "a mover that is out": ("place", 0, 2),
    "nobody left but the mover": ("place", slice(1, 3), [1, 2]),
    "a place that is not the last": ("place", 2, 1),
    "the same place twice": ("place", slice(1, 3), 2),
    "more turns than a game can have: an open wall": ("open", ..., (1 << 16) - 1),
}


@pytest.mark.nojit
@pytest.mark.parametrize("what", UNPLAYABLE)
def test_a_position_that_cannot_be_played_to_its_end_is_not_sampled(what: str) -> None:
    game = make_game("petrify_v0", num_players=3, teleports=2, walls=1)
    state = game.new_initial_state(deal=Deal(BOARD, [0, 15, 9]))
    assert game.sample_state(state.observation(1), seed=0).legal_actions() == state.legal_actions()
    field, place, value = UNPLAYABLE[what]
    state._records[field][0, place] = value
    for seat in range(3):
        with pytest.raises(ValueError, match="no state of this game agrees with it"):
            game.sample_state(state.observation(seat), seed=0)


def test_a_teleport_that_the_rules_do_not_have_is_not_sampled() -> None:
    """With it a turn could take two actions, and the game more than ``max_game_length``."""
    state = make_game("petrify_v0").new_initial_state(seed=0)
    state.record.tile[state.legal_actions()[0]] = TILES.index("T0")
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        state.game.sample_state(state.observation(0), seed=0)


def test_a_history_with_a_hidden_action_or_a_gap_is_refused() -> None:
    game = make_game("petrify_v0", num_players=2, size=5)
    state = game.new_initial_state(seed=1)
    for _ in range(3):
        state.apply_action(state.legal_actions()[0])
    seen, history = state.observation(0), state.history_observation(0)
    assert game.sample_state(seen, 0, history).history() == state.history()
    hidden, empty, gap = history.copy(), history.copy(), history.copy()
    hidden[1, 1], empty[1, 1], gap[5] = -1, -2, history[0]
    for wrong in (hidden, empty, gap):
        with pytest.raises(ValueError, match=r"^history: everybody sees every action of this game"):
            game.sample_state(seen, 0, wrong)
