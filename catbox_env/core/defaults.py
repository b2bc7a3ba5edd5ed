"""The default display of a game: the names of its actions and the parts of its observation.

A new game needs rules, a state and an observation. Text, pictures and events follow from these, until the game defines
its own. Nothing here tells a seat more than its observation and its history do.
"""

from __future__ import annotations

import inspect

import numpy as np

from catbox_env.core.checks import check_action
from catbox_env.core.definition import GameDefinition
from catbox_env.core.events import Event, action_seen
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.layout import Layout
from catbox_env.core.picture import (
    MOST_SEATS,
    PADDING,
    PANEL,
    TITLE,
    Sheet,
    actions_shown,
    button,
    heading,
    last_action,
    text,
    winners_of,
    won_by,
)
from catbox_env.core.state import GameState

#: Characters in a line of text, and units between two lines of a picture.
LINE_LENGTH, LINE_HEIGHT = 48, 16
#: Buttons per row, units between two rows, and characters per button.
BUTTON_COLUMNS, BUTTON_ROW, BUTTON_LENGTH = 2, 34, 20
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

    def draw_picture(self, state: GameState, seat: int | None, sheet: Sheet) -> str:
        """What `Game.render_svg` returns: panels on ``sheet``; ``seat`` is None or a seat of the game.

        By default, the parts of what ``seat`` sees as lines of text, and a button for each legal action.
        """
        theme, mover = sheet.theme, state.current_player
        drawn = heading(theme, "State" if seat is None else f"What player_{seat} sees")
        for k, line in enumerate(view_lines(self, state.record, seat)):
            drawn += text(PADDING, TITLE + (k + 0.5) * LINE_HEIGHT, line, 12)
        layout = _layout(self, seat)
        most_lines = len(
            part_lines(layout, np.ones(layout.size, np.int8))
        )  # so that all pictures have the same height
        sheet.panel(0, TITLE + most_lines * LINE_HEIGHT + PADDING, drawn)
        sheet.panel(1, *_buttons(state, seat, sheet))
        last = last_action(state, seat)
        return sheet.svg(
            game_title(self.id),
            f"{self.num_players} players",
            f"player_{mover} to move" if mover >= 0 else won_by(winners_of(state)),
            "" if last is None else f"player_{last[0]}: {_name(self, last[1])}.",
            mover if mover < MOST_SEATS else -1,
        )


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


def _buttons(state: GameState, seat: int | None, sheet: Sheet) -> tuple[float, str]:
    """Height and content of the actions panel: each action has a fixed place, which is empty if it is illegal."""
    game, width = state.game, (PANEL - 2 * PADDING) / BUTTON_COLUMNS
    drawn = heading(sheet.theme, "Actions")
    for action in actions_shown(state, seat):
        row, column = divmod(action, BUTTON_COLUMNS)
        name = game.action_to_string(action)
        words = name if len(name) <= BUTTON_LENGTH else f"{name[: BUTTON_LENGTH - 1]}\u2026"
        x, y = PADDING + column * width, TITLE + row * BUTTON_ROW
        drawn += button(sheet.theme, action, name, x, y, width - 6, words, small=True)
    return TITLE + -(-game.num_actions // BUTTON_COLUMNS) * BUTTON_ROW + PADDING, drawn


def _layout(game: GameDefinition, seat: int | None) -> Layout:
    return game.state_layout if seat is None else game.observation_layout


def _name(game: Shown, action: int) -> str:
    return game.action_to_string(action) if action != HIDDEN else "a hidden action"


def _as_array(game: GameDefinition, state: np.record) -> np.ndarray:
    """A copy of ``state`` as an array (1,)."""
    records: np.ndarray = np.zeros(1, game.state_dtype)
    records[0] = state
    return records
