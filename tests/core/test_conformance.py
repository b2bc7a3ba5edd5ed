"""`check_game` finds games that break the contract of all games."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from catbox_env import Event
from catbox_env.core.checks import PUBLIC
from catbox_env.core.conformance import ConformanceError, check_game
from catbox_env.core.kernels import no_sample
from catbox_env.games.cat_in_the_box.game import CatInTheBox

KERNELS = CatInTheBox.kernels
write_mask, write_observation, events = KERNELS.write_mask, KERNELS.write_observation, CatInTheBox._events


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


def tell_the_next_hand(game, before, action, after, seat):
    hand = after.record.hand[after.current_player].tolist()
    return [*events(game, before, action, after, seat), Event("hand", None, f"next: {hand}")]


def tell_all(game, before, action, after, seat):
    return events(game, before, action, after, None)


def tell_the_public_all(game, before, action, after, seat):
    return events(game, before, action, after, None if seat == PUBLIC else seat)


def tell_own_cards_alone(game, before, action, after, seat):
    return [
        event
        for event in events(game, before, action, after, seat)
        if event.kind != "hand" or event.seat == seat
    ]


def play_on(game, before, action, after, seat):
    before.apply_action(action)
    return [Event("play", None, "a card")]


def compiled(name: str, kernel: Callable, found: str) -> Any:
    """A case whose loops are compiled anew, which takes long."""
    return pytest.param(
        "kernels", dataclasses.replace(KERNELS, **{name: kernel}), found, marks=pytest.mark.slow
    )


#: What is replaced, kernels or a method that puts the game into words, by what, and what is found.
BROKEN = [
    compiled("write_observation", leak_a_hand, "an observation of seat|does not give the observation"),
    compiled("write_mask", forget_the_paradox, "mask of the seat to move is empty"),
    compiled("public_action", show_a_wrong_rank, "history shows"),
    ("_events", tell_all, "tells seat . something that it does not see"),
    ("_events", tell_the_next_hand, "tells seat . something that it does not see"),
    ("_events", tell_the_public_all, "tells seat -1 something that it does not see"),
    ("_events", tell_own_cards_alone, "the end of a round is not the same for seat"),
    ("_events", lambda *_: [], "has no event"),
    ("_events", lambda *_: [Event("play", None, "a card", {"seat": np.int8(1)})], "serialised as JSON"),
    ("_events", play_on, "not the state that action|events change a state"),
    ("_action_text", lambda game, action: "a card", "two actions have the same name"),
    ("describe_actions", lambda game: [(0, 3, "discard")], "does not name every action once"),
    ("_styled_text", lambda game, record, seat: [(str(record.hand[0]), "")], "repr of a state.* reveals hidden inf"),
]  # fmt: skip


class Broken(CatInTheBox):
    id = "broken"


@pytest.mark.parametrize(("name", "replacement", "found"), BROKEN)
def test_a_broken_game_does_not_pass(
    name: str, replacement: Any, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, name, replacement)
    game = Broken(num_players=2, num_ranks=2, num_colors=3, copies=5, hand_size=5, revealed_cards=0)
    with pytest.raises((ConformanceError, ValueError), match=found):
        check_game(game, num_games=30)


class Unsearched(CatInTheBox):
    id = "unsearched"
    kernels = dataclasses.replace(KERNELS, sample=no_sample, rewind=None)


def test_a_game_that_cannot_be_searched_keeps_the_contract() -> None:
    check_game(
        Unsearched(num_players=2, num_ranks=2, num_colors=3, copies=5, hand_size=5, revealed_cards=0), 2
    )
