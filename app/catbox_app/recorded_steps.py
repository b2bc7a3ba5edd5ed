"""The positions of a recorded game, one after the other."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from catbox_agents.arena.records import GameRecord
from catbox_env import GameState
from catbox_env.core.events import last_position


def positions(record: GameRecord) -> Iterator[tuple[GameState | None, GameState]]:
    """The positions before and after each action; first None and the beginning. They are copies."""
    before = None
    for state in record.states():
        after = copy.deepcopy(state)
        yield before, after
        before = after


def shown_position(record: GameRecord, number: int, before: GameState | None, after: GameState) -> GameState:
    """What is shown after ``number`` actions: where the last of them ended a round, the last position of that round.

    ``before``, ``after``: item ``number`` of `positions`.
    """
    return after if before is None else last_position(before, record.actions[number - 1], after)
