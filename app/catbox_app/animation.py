"""A recorded game as an animated GIF."""

from __future__ import annotations

from collections.abc import Callable

from catbox_agents.arena.records import GameRecord
from catbox_app.recorded_steps import positions, shown_position
from catbox_env.adapters.animation import animated_gif

#: Seconds that a move is shown where nothing else is asked for.
SECONDS = 1.0
#: The end of a round, and of the game, is shown so much longer.
LONGER = 3
#: Pixels, where nothing else is asked for.
WIDTH = 640


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
