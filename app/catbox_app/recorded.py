"""A recorded game: its positions, one after the other, and the animated GIF of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from catbox_agents.arena.records import GameRecord
from catbox_env import GameState
from catbox_env.adapters.animation import animated_gif
from catbox_env.core.events import last_position

#: Seconds that a move is shown where nothing else is asked for.
SECONDS = 1.0
#: The end of a round, and of the game, is shown so much longer.
LONGER = 3
#: Pixels, where nothing else is asked for.
WIDTH = 640


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


def game_gif(
    record: GameRecord,
    seat: int | None,
    first: int,
    width: int,
    theme: str,
    seconds: float,
    progress: Callable[[int, int], None],
) -> bytes:
    """The GIF of the positions from ``first`` actions on, as ``seat`` sees them (None: all open).

    ``width``, ``theme``: as `render_svg` takes them; ``seconds``: for each position. Errors as `animated_gif`.
    """
    pictures, durations = [], []
    last = len(record.actions)
    for number, (before, after) in enumerate(positions(record)):
        if number < min(first, last):
            continue
        state = shown_position(record, number, before, after)
        pictures.append(record.game.render_svg(state, seat, width, theme))
        ends = number == last or (number > 0 and after.round_ended)
        durations.append(LONGER * seconds if ends else seconds)
    return animated_gif(pictures, durations, progress)
