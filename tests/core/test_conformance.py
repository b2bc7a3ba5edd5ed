"""`check_game` finds games that break the contract of all games."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from catbox_env.core.conformance import ConformanceError, check_game
from catbox_env.core.show import Event
from catbox_env.games.cat_in_the_box.game import CatInTheBox

KERNELS = CatInTheBox.kernels
write_mask, write_observation = KERNELS.write_mask, KERNELS.write_observation
tell_events, set_up = CatInTheBox.tell_events, CatInTheBox.set_up


@numba.njit
def leak_a_hand(params, state, seat, out):
    write_observation(params, state, seat, out)
    out[params.at[1]] = state.hand[(seat + 1) % params.num_players, 0]


@numba.njit
def forget_the_paradox(params, state, mask):
    write_mask(params, state, mask)
    mask[-1] = False


@numba.njit
def show_a_wrong_rank(params, state, action):
    return 0 if action else 1


def forget_a_bound(game):
    set_up(game)
    game.state_bounds = {name: pair for name, pair in game.state_bounds.items() if name != "tokens"}


def tell_the_next_hand(game, before, action, after, seat):
    hand = after.record.hand[after.current_player].tolist()
    return [*tell_events(game, before, action, after, seat), Event("hand", None, f"next: {hand}")]


def play_on(game, before, action, after, seat):
    before.apply_action(action)
    return [Event("play", None, "a card")]


def compiled(name: str, kernel: Callable, found: str) -> Any:
    """A case whose loops are compiled anew, which takes long."""
    return pytest.param(
        {"kernels": dataclasses.replace(KERNELS, **{name: kernel})}, found, marks=pytest.mark.slow
    )


BROKEN = [
    compiled("write_observation", leak_a_hand, "an observation of seat|does not give the observation"),
    compiled("write_mask", forget_the_paradox, "mask of the seat to move is empty"),
    compiled("public_action", show_a_wrong_rank, "history shows"),
    ({"set_up": forget_a_bound}, "state_bounds lacks tokens"),
    (
        {
            "tell_events": lambda game, before, action, after, seat: tell_events(
                game, before, action, after, None
            )
        },
        "tells seat . something that it does not see",
    ),
    ({"tell_events": tell_the_next_hand}, "tells seat . something that it does not see"),
    ({"tell_events": lambda *_: []}, "has no event"),
    ({"tell_events": lambda *_: [Event("play", None, "a card", {"seat": np.int8(1)})]}, "serialised as JSON"),
    ({"tell_events": play_on}, "not the state that action|events change a state"),
]


class Broken(CatInTheBox):
    id = "broken"


@pytest.mark.parametrize(("changes", "found"), BROKEN)
def test_a_broken_game_does_not_pass(
    changes: dict[str, Any], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in changes.items():
        monkeypatch.setattr(Broken, name, value)
    game = Broken(num_players=2, num_ranks=2, copies=5, hand_size=5, revealed_cards=0)
    with pytest.raises((ConformanceError, ValueError), match=found):
        check_game(game, num_games=30)
