"""A state of the engine against one of a slow reference, whichever game it is.

A reference has ``players``, ``current_player``, ``is_terminal``, ``round_ended``, ``rewards``, ``returns``, ``infos``,
``history`` (player, action, ...), ``legal_actions()``, ``action_id(action)``, and what a seat sees:
``observation_parts(seat)``, ``state_parts(seat)`` and ``history_rows(seat)``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from catbox_env import GameState, Layout

REWARDS = ("score", "margin", "win")


def assert_same(state: GameState, reference: Any, seats: Sequence[int]) -> None:
    """Everything that a player, a learner or a search can read; what is seen and remembered by these ``seats``."""
    assert state.current_player == reference.current_player
    assert state.is_terminal() == reference.is_terminal
    assert state.round_ended == reference.round_ended
    legal = sorted(reference.action_id(action) for action in reference.legal_actions())
    assert state.legal_actions() == legal
    assert same_numbers(state.rewards(), reference.rewards)
    assert same_numbers(state.returns(), reference.returns)
    assert state.history() == [reference.action_id(action) for _, action, *_ in reference.history]
    for seat in reference.players:
        mask = np.flatnonzero(state.action_mask(seat)).tolist()
        assert mask == (legal if seat == reference.current_player else []), f"mask of seat {seat}"
        assert state.info(seat) == reference.infos[seat]
    for seat in seats:
        game = state.game
        seen, everything = reference.observation_parts(seat), reference.state_parts(seat)
        assert_same_vector(state.observation(seat), game.observation_layout, seen, seat)
        assert_same_vector(state.state_vector(seat), game.state_layout, everything, seat)


def assert_same_history(state: GameState, reference: Any, seat: int) -> None:
    rows = [list(row) for row in reference.history_rows(seat)]
    unused = [[-2, -2]] * (state.game.max_game_length - len(rows))
    assert state.history_observation(seat).tolist() == rows + unused, f"history of seat {seat}"


def assert_same_vector(
    vector: np.ndarray, layout: Layout, expected: Mapping[str, np.ndarray], seat: int
) -> None:
    assert vector.dtype == np.int8
    assert list(layout) == list(expected)
    for name, part in layout.unpack(vector).items():
        assert np.array_equal(part, expected[name]), f"{name}, seen by seat {seat}"


def same_numbers(actual: Sequence[float], expected: Sequence[float]) -> bool:
    """Equal to what float32, in which the engine keeps them, can tell."""
    pairs = zip(actual, expected, strict=True)
    return all(abs(number - other) <= 1e-5 + 1e-6 * abs(other) for number, other in pairs)


def digits(number: int) -> list[int]:
    """Three digits to base 256, from -128 to 127, the lowest first."""
    return [byte - 128 for byte in (number + 0x808080).to_bytes(3, "little")]
