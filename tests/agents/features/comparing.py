"""Features by name, and random games in which they are compared with those of a slow reference."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import catbox_agents
from catbox_env import Game, GameState


def features_of(state: GameState, seat: int) -> tuple[dict, dict]:
    """The features of the position that ``seat`` sees, by part, and those of each legal action, without parts of zeros.

    Every element is written and within the bounds of its layout; those of an illegal action are 0.
    """
    features, mask = catbox_agents.features.features_of(state.game), state.action_mask(seat).astype(bool)
    low, high = features.layout.low, features.layout.high
    action_low, action_high = features.action_layout.low, features.action_layout.high
    out, action_out = (
        np.full((1, len(low)), 99, np.int8),
        np.full((1, len(mask), len(action_low)), 99, np.int8),
    )
    features.compute(state.observation(seat)[None], mask[None], out, action_out)
    assert ((out >= low) & (out <= high)).all()
    assert ((action_out >= action_low) & (action_out <= action_high)).all()
    assert not action_out[0, ~mask].any()
    parts = {name: array.tolist() for name, array in features.layout.unpack(out[0]).items()}
    actions = {}
    for action in np.flatnonzero(mask):
        named = features.action_layout.unpack(action_out[0, action])
        actions[int(action)] = without_zeros(named)
    return parts, actions


def without_zeros(named: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The parts that are not all zeros: a list, or the number of a part that has only one."""
    return {
        name: array.tolist() if len(array) > 1 else int(array[0])
        for name, array in named.items()
        if array.any()
    }


def check_features(
    game: Game,
    seed: int,
    position: Callable[[GameState, int], Any],
    watch: Callable[[GameState, int], None] = lambda state, action: None,
) -> None:
    """Compare in every position of a random game, for the seat to move and another one.

    ``position(state, seat)`` has ``features()`` and ``action_features(action)``; ``watch`` is told of each action.
    """
    state, rng = game.new_initial_state(seed=seed), np.random.default_rng(seed)
    while not state.is_terminal():
        for seat in (state.current_player, int(rng.integers(game.num_players))):
            reference, (parts, actions) = position(state, seat), features_of(state, seat)
            assert parts == reference.features()
            assert actions == {action: reference.action_features(action) for action in actions}
        action = int(rng.choice(state.legal_actions()))
        watch(state, action)
        state.apply_action(action)
