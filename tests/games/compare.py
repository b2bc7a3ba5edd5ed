"""A state of the engine against one of a slow reference, whichever game it is.

A reference is a `tests.games.reference.Reference` with ``legal_actions()``, ``action_id(action)``, ``apply(action)``,
and what a seat sees: ``observation_parts(seat)``, ``state_parts(seat)`` and ``history_rows(seat)``.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from catbox_env import GameState, Layout
from catbox_env.core.kernels import REWARDS, UNUSED

#: How many games to compare: a few without compilation, and many in the slow tests.
NUMBERS_OF_GAMES = [pytest.param(4, marks=pytest.mark.nojit), 40, pytest.param(130, marks=pytest.mark.slow)]


def compare_games(
    compare_game: Callable[[dict, str, int, Counter], None], players: int, rule_sets: list[dict], games: int
) -> Counter:
    """Compare so many games, over all rule sets and rewards; what came up in them, and how often."""
    seen: Counter = Counter()
    for seed in range(games):
        options = {"num_players": players, **rule_sets[seed % len(rule_sets)]}
        compare_game(options, REWARDS[seed // len(rule_sets) % len(REWARDS)], seed, seen)
    return seen


def play_both(
    state: GameState,
    reference: Any,
    rng: random.Random,
    choose: Callable[[Any], Any],
    note: Callable[[Any, Any], Callable[[], None]],
    read_deal: Callable[[GameState], Any] | None = None,
    every_seat: bool = False,
) -> None:
    """Play on to the end in both and compare after every action: one seat, or all; at the end of a round always all.

    Args:
        choose: returns the action to take.
        note: is given each action before it is taken; what it returns is called afterwards.
        read_deal: returns the deal with which the state has begun a round.
    """
    assert_same(state, reference, reference.players)
    while not reference.is_terminal:
        action = choose(reference)
        note_after = note(reference, action)
        reference.rewards, reference.round_ended = [0.0 for _ in reference.players], False
        reference.apply(action)
        state.apply_action(reference.action_id(action))
        note_after()
        if reference.awaits_deal and read_deal is not None:
            reference.awaits_deal = False
            reference.start_round(read_deal(state))
        seat = rng.choice(reference.players)
        assert_same(state, reference, reference.players if every_seat or reference.round_ended else [seat])
        if reference.round_ended:
            assert_same_history(state, reference, seat)
    for seat in reference.players:
        assert_same_history(state, reference, seat)
    low, high = state.game.min_utility, state.game.max_utility
    for value in reference.returns:
        assert low - 1e-6 <= value <= high + 1e-6, f"{value} is outside the stated {low} to {high}"


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
    rows, history = reference.history_rows(seat), state.history_observation(seat)
    assert np.array_equal(history[: len(rows)], rows), f"history of seat {seat}"
    assert (history[len(rows) :] == UNUSED).all()


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
