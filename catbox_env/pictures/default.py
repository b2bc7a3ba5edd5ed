"""The picture of a game that has no other: what a seat sees as lines of text, and a button for each legal action."""

from __future__ import annotations

import numpy as np

from catbox_env.core.checks import PUBLIC
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.spec import vector_lines
from catbox_env.core.text import part_lines
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import LOW_BUTTON, PADDING, PANEL, TITLE, Sheet

#: Units between two lines of text.
LINE = 16
#: Buttons per row, units between two rows, and characters per button.
COLUMNS, ROW, LENGTH = 2, 34, 20


def draw(sheet: Sheet) -> str:
    """The parts of what the viewer sees, and the actions: each has a fixed place, which is empty if it is illegal."""
    state, seat, game = sheet.state, sheet.seat, sheet.state.game
    viewer = "everybody" if seat == PUBLIC else f"player_{seat}"
    drawn = sheet.heading("State" if seat is None else f"What {viewer} sees")
    for k, line in enumerate(vector_lines(game, state.record, seat)):
        drawn += svg.text(PADDING, TITLE + (k + 0.5) * LINE, line, 12)
    layout = game.state_layout if seat is None else game.observation_layout
    # All pictures have the same height, that of the most lines.
    num_lines = len(part_lines(layout, np.ones(layout.size, np.int8)))
    sheet.panel(0, TITLE + num_lines * LINE + PADDING, drawn)

    drawn, width = sheet.heading("Actions"), (PANEL - 2 * PADDING) / COLUMNS
    for action in sheet.legal:
        row, column = divmod(action, COLUMNS)
        name = game.action_to_string(action)
        words = name if len(name) <= LENGTH else f"{name[: LENGTH - 3]}..."
        x, y = PADDING + column * width, TITLE + row * ROW
        drawn += sheet.button(action, x, y, width - 6, words, height=LOW_BUTTON)
    sheet.panel(1, TITLE + -(-game.num_actions // COLUMNS) * ROW + PADDING, drawn)

    def describe(mover: int, action: int) -> str:
        return f"player_{mover}: {'a hidden action' if action == HIDDEN else game.action_to_string(action)}"

    return sheet.picture(f"{game.num_players} players", f"player_{state.current_player} to move", describe)
