"""The default display of a game: the names of its actions and the parts of its observation.

A new game needs rules, a state and an observation. Text and events follow from these, until the game defines its own.
Nothing here tells a seat more than its observation and its history do.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from catbox_env.core.checks import check_action
from catbox_env.core.definition import GameDefinition
from catbox_env.core.events import Event, action_seen, winners_of, won_by
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.layout import Layout
from catbox_env.core.state import GameState

#: Characters in a line of text.
LINE_LENGTH = 48
#: Words of a title without a capital letter.
_SMALL = {"in", "of", "the"}


def game_title(game_id: str) -> str:
    """What people call the game: ``"Cat in the Box"``."""
    words = game_id.rpartition("_v")[0].split("_")
    return " ".join(
        word if word in _SMALL and place else word.capitalize() for place, word in enumerate(words)
    )


class Shown(GameDefinition):
    """Default display methods, which a game may override."""

    def action_to_string(self, action: int) -> str:
        """``action`` in words, such as ``"play yellow 7"``. Raises ``ValueError`` outside ``0 .. A-1``."""
        return f"action {check_action(action, self.num_actions)}"

    def why_illegal(self, state: np.record, action: int) -> str:
        """The rule that forbids ``action`` (in ``0 .. A-1``) in ``state``, for the error message.

        By default, a list of the legal actions.
        """
        mask = np.zeros(self.num_actions, np.int8)
        self.loops.mask_one(self.params, _as_array(self, state), mask)
        legal = [self.action_to_string(other) for other in np.flatnonzero(mask).tolist()]
        listed = ", ".join(map(repr, legal[:5])) + (f" and {len(legal) - 5} more" if len(legal) > 5 else "")
        return f"it is not legal now; legal actions: {listed}"

    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do), for documentation. By default, one for each action."""
        return [(action, action, self.action_to_string(action)) for action in range(self.num_actions)]

    def axis_labels(self, part: str) -> tuple[Sequence[Any], ...]:
        """What each axis of a part of the observation counts, for comparing rules: labels that mean the same in all.

        By default, the indices.
        """
        return tuple(range(length) for length in self.observation_layout[part].shape)

    def describe_rules(self) -> list[str]:
        """A summary of the rules for players: a paragraph for each subject, with the numbers of this rule set.

        By default, the first paragraph of the docstring of its class ``Rules``.
        """
        text = inspect.getdoc(self.rules_class) or self.rules_class.__name__
        return [" ".join(text.partition("\n\n")[0].split())]

    def draw_text(self, state: np.record, seat: int | None) -> list[tuple[str, str]]:
        """What `Game.render` returns; ``seat`` is None or a seat of the game.

        The first line summarises the position without hidden information, because ``repr(state)`` shows it. By
        default, the parts of what ``seat`` sees follow, or for None those of the full state.
        """
        mover = int(state.current_player)
        whose = f"player_{mover} to move" if mover >= 0 else "the game is over"
        lines = [(f"{game_title(self.id)}: {whose}\n", "bold")]
        return lines + [(f"{line}\n", "") for line in view_lines(self, state, seat)]

    def tell_events(self, before: GameState, action: int, after: GameState, seat: int | None) -> list[Event]:
        """What `Game.events` returns; the arguments have been checked.

        By default, the name of ``action`` unless it is hidden from ``seat``, and at the end the winners.
        """
        mover, seen = before.current_player, action_seen(after, seat)
        words = _name(self, action if seen else HIDDEN)
        events = [Event("action", mover, f"player_{mover}: {words}", {"action": action if seen else None})]
        winners = winners_of(after)
        if winners:
            alone = winners[0] if len(winners) == 1 else None
            events.append(Event("game_end", alone, won_by(winners), {"winners": winners}))
        return events


def view_lines(game: GameDefinition, state: np.record, seat: int | None) -> list[str]:
    """The named parts of what ``seat`` sees of ``state``, or for None those of the full state."""
    layout = _layout(game, seat)
    write = game.loops.state_one if seat is None else game.loops.observe_one
    vector = np.empty(layout.size, np.int8)
    write(game.params, _as_array(game, state), seat or 0, vector)
    return part_lines(layout, vector)


def part_lines(layout: Layout, vector: np.ndarray) -> list[str]:
    """The named parts of ``vector`` (O,) as lines of text. A part of several rows omits those of zeros."""
    lines = []
    for name, values in layout.unpack(vector).items():
        part = layout[name]
        digits = max(len(str(part.low)), len(str(part.high)))
        for index in np.ndindex(values.shape[:-1]):
            row = np.atleast_1d(values[index]).tolist()
            head = " ".join([name, *map(str, index)]) + ":"
            most = max(1, (LINE_LENGTH - len(head)) // (digits + 1))
            for first in range(0, len(row) if any(row) or values.ndim < 2 else 0, most):
                lines.append(" ".join(["   " if first else head, *map(str, row[first : first + most])]))
    return lines


def _layout(game: GameDefinition, seat: int | None) -> Layout:
    return game.state_layout if seat is None else game.observation_layout


def _name(game: Shown, action: int) -> str:
    return game.action_to_string(action) if action != HIDDEN else "a hidden action"


def _as_array(game: GameDefinition, state: np.record) -> np.ndarray:
    """A copy of ``state`` as an array (1,)."""
    records: np.ndarray = np.zeros(1, game.state_dtype)
    records[0] = state
    return records
