"""Checks of a game's events for ``check_game``: their form, and that they tell a seat only what it sees."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable

import numpy as np

from catbox_env.core.events import Event, action_seen
from catbox_env.core.state import GameState

#: Raises an error with this message unless the condition holds.
Require = Callable[[bool, str], None]
#: Most other actions to try for one that looks the same to a seat.
MOST_TRIED = 5


def check_events(require: Require, before: GameState, action: int, after: GameState, seed: int) -> None:
    """Check that an action has well-formed events, which change no state and tell a seat only what it sees."""
    game = before.game
    states = before.serialize(), after.serialize()
    told = {viewer: game.events(before, action, after, viewer) for viewer in (None, *range(game.num_players))}
    require(all(told.values()), f"action {action} has no event")
    for event in itertools.chain(*told.values()):
        _check_form(require, event, game.num_players)
    require(states == (before.serialize(), after.serialize()), "events change a state")
    for viewer in range(game.num_players) if not after.round_ended else ():  # a round's end reveals its cards
        other = game.sample_state(before.observation(viewer), seed)
        for like, then in _alike(before, action, after, viewer, other):
            same = game.events(other, like, then, viewer) == told[viewer]
            require(same, f"an event tells seat {viewer} something that it does not see: {told[viewer]}")


def _check_form(require: Require, event: Event, num_players: int) -> None:
    sentence = event.text.strip() and not event.text.endswith(".") and "\n" not in event.text
    require(bool(sentence), f"the text of {event} is not one sentence without a full stop")
    require(event.kind.isidentifier(), f"the kind of {event} is not an identifier")
    require(event.seat is None or event.seat in range(num_players), f"the seat of {event} does not exist")
    try:
        plain = json.loads(json.dumps(event.data)) == event.data
    except TypeError:
        plain = False
    require(plain, f"the data of {event} cannot be serialised as JSON")


def _alike(
    before: GameState, action: int, after: GameState, viewer: int, other: GameState
) -> list[tuple[int, GameState]]:
    """Actions in ``other`` that ``viewer`` cannot tell from ``action``, if it cannot tell ``other`` from ``before``.

    Each with the state it leads to.
    """
    # If the start player is random, this observation may belong to another seat.
    same_seats = other.current_player == before.current_player
    if not same_seats or not np.array_equal(other.observation(viewer), before.observation(viewer)):
        return []
    legal = other.legal_actions()
    candidates = [action] if action_seen(after, viewer) else legal[:MOST_TRIED]
    found = []
    for candidate in candidates:
        if candidate not in legal:
            continue
        then = copy.deepcopy(other)
        then.apply_action(candidate)
        same_view = np.array_equal(then.observation(viewer), after.observation(viewer))
        if same_view and action_seen(then, viewer) == action_seen(after, viewer):
            found.append((candidate, then))
    return found
