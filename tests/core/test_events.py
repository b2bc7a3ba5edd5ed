"""The events of every game: what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import catbox_env


def test_events_of_states_that_do_not_follow_one_another_are_refused() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    before = game.new_initial_state(seed=0)
    action, other = before.legal_actions()[:2]
    after = copy.deepcopy(before)
    after.apply_action(action)
    twice = copy.deepcopy(after)
    twice.apply_action(twice.legal_actions()[0])
    assert game.events(before, np.int64(action), after)
    for wrong in (
        (before, other, after),
        (before, action, before),
        (before, action, twice),
        (after, action, before),
    ):
        with pytest.raises(ValueError, match="not the state that action"):
            game.events(*wrong)
    with pytest.raises(ValueError, match=r"before=3: expected a state, as new_initial_state returns"):
        game.events(3, action, after)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="action 99: expected an integer from 0 to 34"):
        game.events(before, 99, after)
    with pytest.raises(ValueError, match="seat=3: expected a seat"):
        game.events(before, action, after, seat=3)
    larger = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
    with pytest.raises(ValueError, match="before: other rules or reward"):
        larger.events(before, action, after)
