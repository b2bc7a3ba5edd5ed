"""The events of every game: what is refused, and that an event that tells a secret is found."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import catbox_env
from catbox_env.core.conformance import ConformanceError, check_game
from catbox_env.core.events import Event
from catbox_env.games.cat_in_the_box.game import CatInTheBox
from tests.core.events import steps

TINY = {"num_players": 2, "num_ranks": 2, "copies": 5, "hand_size": 5, "revealed_cards": 0}


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
        with pytest.raises(ValueError, match="not the state to which action"):
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


def test_a_state_that_was_sampled_has_events() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=2)
    for number, (before, _, _) in enumerate(steps(game, seed=3)):
        if number % 5 == 0:
            world = game.sample_state(before.observation(before.current_player), seed=number)
            after = copy.deepcopy(world)
            after.apply_action(world.legal_actions()[0])
            assert game.events(world, world.legal_actions()[0], after)


class TellsDiscards(CatInTheBox):
    id = "tells_discards"

    def tell_events(self, before, action, after, seat):  # type: ignore[no-untyped-def]
        return super().tell_events(before, action, after, None)


class TellsTheNextHand(CatInTheBox):
    id = "tells_the_next_hand"

    def tell_events(self, before, action, after, seat):  # type: ignore[no-untyped-def]
        hand = after.record.hand[after.current_player].tolist()
        return [*super().tell_events(before, action, after, seat), Event("hand", None, f"next: {hand}")]


class TellsNothing(CatInTheBox):
    id = "tells_nothing"

    def tell_events(self, before, action, after, seat):  # type: ignore[no-untyped-def]
        return []


class TellsNumpy(CatInTheBox):
    id = "tells_numpy"

    def tell_events(self, before, action, after, seat):  # type: ignore[no-untyped-def]
        return [Event("play", None, "a card", {"seat": before.record.current_player})]


class PlaysOn(CatInTheBox):
    id = "plays_on"

    def tell_events(self, before, action, after, seat):  # type: ignore[no-untyped-def]
        before.apply_action(action)
        return [Event("play", None, "a card")]


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        (TellsDiscards, "tells seat . something that it does not see"),
        (TellsTheNextHand, "tells seat . something that it does not see"),
        (TellsNothing, "has no event"),
        (TellsNumpy, "not JSON-able"),
        (PlaysOn, "not the state to which action|events change a state"),
    ],
)
def test_a_game_with_wrong_events_breaks_the_contract(broken: type[CatInTheBox], found: str) -> None:
    with pytest.raises((ConformanceError, ValueError), match=found):
        check_game(broken(**TINY), num_games=10)
