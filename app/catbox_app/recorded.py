"""A recorded game: its positions, what each action did, and the animated GIF of it."""

from __future__ import annotations

import copy
from collections.abc import Callable

from catbox_agents.arena.records import GameRecord
from catbox_agents.specs import printable
from catbox_env import Event, GameState
from catbox_env.core.show import last_position
from catbox_env.pictures.animation import animated_gif

#: Default seconds per move.
SECONDS = 1.0
#: The end of a round, and of the game, is shown this many times as long.
LONGER = 3
#: Default width in pixels.
WIDTH = 640


class RecordedGame:
    """A record with all its positions.

    Attributes: ``record``; ``last``: how many actions it has; ``states``: the position at the beginning and after each
    action.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record, self.last = record, len(record.actions)
        self.states = [copy.deepcopy(state) for state in record.states()]

    def shown(self, number: int) -> GameState:
        """The position to show after ``number`` actions: if the last of them ended a round, the end of that round."""
        after = self.states[number]
        return (
            last_position(self.states[number - 1], self.record.actions[number - 1], after)
            if number
            else after
        )

    def events(self, number: int, seat: int | None) -> list[Event]:
        """What ``seat`` (None: all hands open) sees of action ``number``, counted from 1; 0: of the beginning.

        The last one also says how the game ended, if its actions do not.
        """
        told: list[Event] = []
        if number:
            before, after = self.states[number - 1 : number + 1]
            told += self.record.game.events(before, self.record.actions[number - 1], after, seat)
        return told + self._ending() if number == self.last else told

    def _ending(self) -> list[Event]:
        if (forfeit := self.record.forfeit) is not None:
            loser, reason = forfeit["seat"], printable(" ".join(forfeit["reason"].split()))
            returns = ", ".join(
                f"player_{seat} {value:g}" for seat, value in enumerate(self.record.returns or ())
            )
            counts = Event("forfeit", None, f"it counts as {returns}")
            return [Event("forfeit", loser, f"player_{loser} forfeited the game: {reason}"), counts]
        if not self.states[-1].is_terminal():
            return [Event("unfinished", None, "the game was not finished")]
        return []


def game_gif(
    record: GameRecord,
    seat: int | None,
    first: int,
    width: int,
    theme: str,
    seconds: float,
    progress: Callable[[int, int], None],
) -> bytes:
    """The GIF of the positions from ``first`` actions on, as ``seat`` sees them (None: all hands open).

    ``width``, ``theme``: as `render_svg` takes them; ``seconds``: per position. Errors as `animated_gif`.
    """
    game = RecordedGame(record)
    pictures, durations = [], []
    for number in range(min(first, game.last), game.last + 1):
        pictures.append(record.game.render_svg(game.shown(number), seat, width, theme))
        ends = number == game.last or (number > 0 and game.states[number].round_ended)
        durations.append(LONGER * seconds if ends else seconds)
    return animated_gif(pictures, durations, progress)
