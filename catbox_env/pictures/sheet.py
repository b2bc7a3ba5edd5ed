"""What the pictures of all games share: their colours, and the sheet that a game's file draws on.

A picture is laid out in its own units and scaled to the requested width. Panels are `PANEL` units wide, in two columns
if the picture is wide, in one if it is narrow. If it is large, the left column is drawn larger, to be played on: the
picture fills a window. Text has a size of at least 12 units.

Colour alone conveys nothing: a colour has a letter, a seat has a shape. No element has an id, so that a page can
contain many pictures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from catbox_env.core.checks import PUBLIC, check_choice, check_integer
from catbox_env.core.state import GameState, last_action, winners_of
from catbox_env.core.text import game_title, won_by
from catbox_env.pictures import svg
from catbox_env.pictures.svg import escaped, number

#: Widths of a picture, in pixels: the minimum, the maximum, the smallest with two columns, the smallest large one.
MIN_WIDTH, MAX_WIDTH, WIDE_FROM, LARGE_FROM = 240, 4096, 560, 960
#: How much larger the left column of a large picture is drawn.
LARGER = 1.5
#: Width of a panel, and the gaps around it, in units.
PANEL, GAP = 344, 10
#: Padding at the sides of a panel, and the height of its title.
PADDING, TITLE = 12, 34
#: The width of a panel that takes both columns of a large picture, in its own, larger units.
SPAN = (LARGER * PANEL + GAP + PANEL) / LARGER
#: Height of the head of a narrow and of a wide picture.
HEADS = (72, 66)
#: The row of a seat has larger words from this height on, and smaller ones below that: with notes below the name, and
#: with notes beside it.
TALL_ROW, LOW_ROW, LOW_LINE = 72, 40, 32
#: The heights of a button.
BUTTON, LOW_BUTTON = 40, 28
#: A diamond is so much higher than a disc; so many letters' heights wide is a name at most, in any font.
DIAMOND, NAME = 1.2, 5
#: A line from this length on is smaller in a narrow picture.
LONG_LINE = 28
#: Letters of the colours red, blue, yellow, green.
LETTERS = "RBYG"
#: The number of seats that have their own token.
MAX_SEATS = 6
#: A cat's head around (16, 15), as the page draws the cats, and its eyes.
HEAD = "M6 13V4l6 4.5h8L26 4v9c1.4 7-4 13-10 13S4.6 20 6 13z"
EYES = "M11.5 14.5a2 2.4 0 1 0 .01 0zM20.5 14.5a2 2.4 0 1 0 .01 0z"
#: A viewer uses the first of these that is installed.
FONTS = "Figtree, Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Theme:
    """Colours. Text has a contrast ratio of at least 4.5 to its background, outlines and tokens 3 (WCAG 2, AA).

    Attributes:
        page, panel: backgrounds; line: borders of panels.
        ink, soft: text, and less prominent text; also the frame of what can be chosen.
        face: cards without a colour; back: hidden cards; turn: the row of the seat to move.
        shade: the shadow in a hole; open: a tile where the seat to move may go.
        colors: red, blue, yellow, green; on_colors: text on them; tints: pale ones, for empty cells; words: text in
            these colours on a panel or a face.
        seats: six colours, none easily confused with one of ``colors``; on_seats: text on them.
    """

    page: str
    panel: str
    line: str
    ink: str
    soft: str
    face: str
    back: str
    turn: str
    shade: str
    open: str
    colors: tuple[str, ...]
    on_colors: tuple[str, ...]
    tints: tuple[str, ...]
    words: tuple[str, ...]
    seats: tuple[str, ...]
    on_seats: str


THEMES = {
    "light": Theme(
        page="#ece7dc", panel="#fbf9f4", line="#d5cebf", ink="#1d2230", soft="#555b69", face="#ffffff",
        back="#c9c2b2", turn="#ebe4d3", shade="#b3a994", open="#e3dcfb",
        colors=("#c42f38", "#1f5fb0", "#f2bd1d", "#26774a"), on_colors=("#ffffff", "#ffffff", "#1d2230", "#ffffff"),
        tints=("#f7dcda", "#d9e6f6", "#fbedbd", "#d5ebdc"), words=("#b3242e", "#1f5fb0", "#7a5900", "#1f6b41"),
        seats=("#4d586b", "#7637b5", "#006a73", "#964300", "#ab1a6c", "#565c00"), on_seats="#ffffff",
    ),
    "dark": Theme(
        page="#12151b", panel="#1c212a", line="#525d70", ink="#f2f4f7", soft="#b1b8c4", face="#3a4454",
        back="#4b5566", turn="#2b3340", shade="#000000", open="#3d3570",
        colors=("#cd3f46", "#2c70c9", "#f0be2a", "#2b8050"), on_colors=("#ffffff", "#ffffff", "#12151b", "#ffffff"),
        tints=("#7b1f33", "#1f4578", "#6b5900", "#1b5234"), words=("#ffa5a3", "#94c1fc", "#f7d265", "#7fd6a0"),
        seats=("#aeb9ca", "#cdaef8", "#74d4da", "#f5ad67", "#f896ca", "#ccd267"), on_seats="#12151b",
    ),
}  # fmt: skip


class _Panel(NamedTuple):
    height: float
    content: str
    label: str


@cache
def _shape(seat: int, radius: float) -> str:
    """The outline of a seat's tokens, around the origin: disc, square, hexagon, diamond, triangle, octagon."""
    if seat == 0:
        return svg.disc(0, 0, radius)
    if seat == 1:
        side = 0.9 * radius
        return svg.round_box(-side, -side, 2 * side, 2 * side, 0.2 * radius)
    polygons = {2: (6, 0.0, 1.08), 3: (4, 0.0, DIAMOND), 4: (3, -90.0, 1.3), 5: (8, 22.5, 1.06)}
    corners, turned, size = polygons[seat]
    angles = [math.radians(turned + 360 * k / corners) for k in range(corners)]
    down = 0.18 * radius if corners == 3 else 0  # so that the head is in the middle of the triangle
    points = [
        f"{number(size * radius * math.cos(a))} {number(size * radius * math.sin(a) + down)}" for a in angles
    ]
    return f"M{'L'.join(points)}z"


class Sheet:
    """A picture under construction: a head, and panels in two columns (one if the picture is narrow).

    Attributes:
        state, seat: the position, and the seat that sees it; None: everything; PUBLIC: what everybody sees.
        explains_illegal: whether a page may ask why an action is illegal.
        legal: the actions that can be chosen: the legal ones for the seat to move and for None, none for another seat.
        winners: the seats that won the game or share the win; none before its end.
        panel_width: of the panels: SPAN in a large picture whose panels are all in the left column, else PANEL.
        theme: the colours.
        is_wide: whether there are two columns; is_large: whether the left one is drawn larger.
        is_of_page: whether a page requests such a width, large or narrow.

    Raises ``ValueError`` unless ``size``, the width in pixels, is an integer from 240 to 4096; for an unknown theme.
    """

    def __init__(self, state: GameState, seat: int | None, size: int, theme: str) -> None:
        self._size = check_integer("size", size, MIN_WIDTH, MAX_WIDTH, " (the width in pixels)")
        self.theme = THEMES[check_choice("theme", theme, tuple(THEMES))]
        self.is_wide, self.is_large = self._size >= WIDE_FROM, self._size >= LARGE_FROM
        self.is_of_page = self.is_large or not self.is_wide
        self.state, self.seat = state, seat
        self.legal = state.legal_actions() if seat in (None, state.current_player) else []
        self.explains_illegal = seat not in (None, PUBLIC) and state.current_player >= 0
        self.winners = winners_of(state)
        #: How much larger than the right column the left one is drawn.
        self.larger = LARGER if self.is_large else 1
        self.panel_width: float = PANEL
        self._columns: tuple[list[_Panel], ...] = ([], [])

    # Parts of a panel.

    def heading(self, words: str, note: str = "") -> str:
        """The title of a panel, and a right-aligned note."""
        title = svg.text(PADDING, 19, words, 15, bold=True)
        return title + (
            svg.text(self.panel_width - PADDING, 19, note, 13, self.theme.soft, anchor="end") if note else ""
        )

    def places(self, widest: float = 64) -> list[float]:
        """The middles of one place per seat, side by side in the middle of a panel, at most ``widest`` apart."""
        players = self.state.game.num_players
        spacing = min(widest, (PANEL - 2 * PADDING) / players)
        return [PANEL / 2 + (k - (players - 1) / 2) * spacing for k in range(players)]

    def choice(
        self, action: int, x: float, y: float, width: float, height: float, *, radius: float = 6, note: str = ""
    ) -> str:  # fmt: skip
        """A legal action as a frame around what it chooses, which is drawn first.

        An illegal action is an invisible area there, so that a page can ask why it is illegal.

        ``note``: what a screen reader says besides the action's name.
        """
        if action not in self.legal:
            return svg.area("forbidden", action, x, y, width, height, radius)
        frame = svg.box(x, y, width, height, "none", radius=radius, line=self.theme.ink, weight=2.5)
        return self._action(action, frame, note)

    def button(
        self, action: int, x: float, y: float, width: float, words: object, *, height: float = BUTTON
    ) -> str:
        """A legal action as a filled button with ``words`` on it, which are part of the action's name.

        A lower one is less prominent.
        """
        theme, small = self.theme, height < BUTTON
        ground, fill = (theme.back, theme.ink) if small else (theme.ink, theme.panel)
        face = svg.box(x, y, width, height, ground, radius=8)
        size = 14 if small else 16
        return self._action(
            action, face + svg.centred(x + width / 2, y + height / 2, words, size, fill, bold=not small)
        )

    def _action(self, action: int, drawn: str, note: str = "") -> str:
        name = escaped(self.state.game.action_to_string(action))
        described = f' aria-description="{escaped(note)}"' if note else ""
        return (
            f'<g role="button" data-action="{action}" aria-label="{name}"{described} cursor="pointer" '
            f'pointer-events="all">{drawn}</g>'
        )

    def token(
        self, seat: int, x: float, y: float, radius: float, *, ringed: bool = False, faded: bool = False
    ) -> str:
        """A seat's token: the head of a cat on its shape and colour; a page puts the face of its player there.

        ``ringed``: the latest one; ``faded``: of a seat that is out, whose colour stays as a rim.
        """
        theme = self.theme
        fill, on = (theme.back, theme.ink) if faded else (theme.seats[seat], theme.on_seats)
        rim = theme.ink if ringed else theme.seats[seat] if faded else ""
        ring = f' stroke="{rim}" stroke-width="2.5"' if rim else ""
        stone = ' filter="grayscale(1)"' if faded else ""  # of the face that a page puts there
        scale = {3: 0.055, 4: 0.048}.get(seat, 0.063) * radius  # a diamond and a triangle have less room
        return (
            f'<g transform="translate({number(x)} {number(y)})"><path d="{_shape(seat, radius)}" fill="{fill}"{ring}/>'
            f'<g data-face="{seat}" transform="scale({number(scale)}) translate(-16 -15)"{stone}>'
            f"{svg.path(HEAD, on)}{svg.path(EYES, fill)}</g></g>"
        )

    def seat_row(
        self, seat: int, top: float, height: float, notes: list[str], *,
        width: float = PANEL - 12, faded: bool = False, line: float = 0,
    ) -> tuple[str, str]:  # fmt: skip
        """The row of a seat in a panel: its token, its name, and ``notes`` below; and the same in words.

        The viewer's row has the note "you", and that of the seat to move a background ``width`` units wide. ``line``:
        the height of a first line in which the name stands, and the notes beside it.
        """
        y, turn, you = top + (line or height) / 2, seat == self.state.current_player, seat == self.seat
        radius, size, small = (16, 17.0, 13) if line or height >= TALL_ROW else (14.5, 15.0, 12)
        up, down, left = 8, 11, 48.0  # of the name and the notes
        if line < LOW_LINE if line else height < LOW_ROW:
            size, small, up, down, left = 14.0, 12, 7, 8, 44.0
        elif line:
            radius = max(radius, min(19, 0.46 * line))
            size += (radius - 16) / 2
            left += 1.5 * (radius - 16)
        radius = min(radius, (line or height) / 2 / DIAMOND - 0.5)  # within the row, whatever its shape
        notes = ["you"] * you + notes
        drawn = svg.box(6, top + 2, width, height - 4, self.theme.turn, radius=8) if turn else ""
        drawn += svg.with_key(f"seat-{seat}", self.token(seat, 26, y, radius, faded=faded))
        fill = self.theme.soft if faded else ""
        below, beside = bool(notes and not line), " · ".join(notes)
        drawn += svg.text(left, y - up * below, f"player_{seat}", size, fill, bold=turn or you)
        drawn += svg.text(left, y + down, beside, small, self.theme.soft) if below else ""
        drawn += svg.text(left + NAME * size, y, beside, small, self.theme.soft) if notes and line else ""
        return drawn, ", ".join([f"player_{seat}", *notes] + ["to move"] * turn)

    def turn_line(self, does: str, do: str) -> str:
        """What the seat to move ``does``; for itself, what to ``do``."""
        mover = self.state.current_player
        return do if mover == self.seat else f"player_{mover} {does}"

    def crown(self, x: float, y: float, radius: float = 10) -> str:
        """The mark of the winning card, centred."""
        k = radius / 10
        points = f"M{number(x - 5.5 * k)} {number(y + 4.5 * k)}" + "".join(
            f"l{number(right * k)} {number(down * k)}"
            for right, down in ((-1, -8), (4, 3), (2.5, -5), (2.5, 5), (4, -3), (-1, 8))
        )
        return svg.path(svg.disc(x, y, radius), self.theme.ink) + svg.path(points + "z", self.theme.panel)

    # Panels, and the whole picture.

    def panel(self, column: int | None, height: float, content: str, label: str = "") -> None:
        """Add a panel at the bottom of ``column``, 0 or 1, or of the shorter one for None.

        ``content`` has its origin in the panel's corner. The last panel of a column extends to the bottom of the
        other column.
        """
        if column is None:
            heights = [sum(panel.height + GAP for panel in panels) for panels in self._columns]
            heights[0] *= self.larger
            column = heights.index(min(heights))
        self._columns[column].append(_Panel(height, content, label))

    def picture(self, note: str, line: str, describe: Callable[[int, int], str]) -> str:
        """The whole picture.

        Args:
            note: the progress of the game.
            line: who is to move and what to do; at the end of a game the winners stand there instead.
            describe: a sentence without a full stop for the last action: called with its seat, and its id or HIDDEN.
        """
        left, right = self._columns
        columns = [panels for panels in (left, right) if panels] if self.is_wide else [left + right]
        spans = self.panel_width > PANEL
        wide = len(columns) > 1 or spans  # another column alone fills the window as it is
        scales = [self.larger if spans or panels is not columns[-1] else 1 for panels in columns]
        width = GAP + sum(scale * self.panel_width + GAP for scale in scales)
        bottom = HEADS[wide] + max(
            sum(scale * panel.height + GAP for panel in panels)
            for scale, panels in zip(scales, columns, strict=True)
        )
        placed, x = [], float(GAP)
        for scale, panels in zip(scales, columns, strict=True):
            y = float(HEADS[wide])
            for panel in panels:
                height = (bottom - GAP - y) / scale if panel is panels[-1] else panel.height
                ground = svg.box(
                    0, 0, self.panel_width, height, self.theme.panel, radius=10, line=self.theme.line
                )
                place = f"translate({number(x)} {number(y)})" + (f" scale({scale})" if scale > 1 else "")
                placed.append(f'<g transform="{place}">{svg.group(ground + panel.content, panel.label)}</g>')
                y += scale * height + GAP
            x += scale * self.panel_width + GAP
        height = 2 * round(self._size * bottom / width / 2)  # even, as video formats need it
        if self.state.current_player < 0:
            line = won_by(self.winners) if self.winners else "The round is over"
        taken = last_action(self.state, self.seat)  # as the viewer saw it
        last = "" if taken is None else f"{describe(*taken)}."
        title = game_title(self.state.game.id)
        description = " ".join(words for words in (note + ".", line + ".", last) if words)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._size}" height="{height}" '
            f'viewBox="0 0 {number(width)} {number(bottom)}" role="group" aria-label="{escaped(title)}" '
            f'font-family="{escaped(FONTS)}" fill="{self.theme.ink}">'
            f"<title>{escaped(title)}</title><desc>{escaped(description)}</desc>"
            f'<rect x="-2" y="-2" width="{number(width + 4)}" height="{number(bottom + 4)}" fill="{self.theme.page}"/>'
            f"{self._head(wide, width, title, note, line, last)}{''.join(placed)}</svg>"
        )

    def _head(self, wide: bool, width: float, title: str, note: str, line: str, last: str) -> str:
        soft, left, right = self.theme.soft, GAP + 4, width - GAP - 4
        y = 47 if wide else 41
        words = svg.text(left, y - 27, title, 18, bold=True)
        words += svg.text(right, y - 27, note, 13, soft, anchor="end")
        has_token = self.state.current_player in range(MAX_SEATS)
        words += self.token(self.state.current_player, left + 11, y, 11) if has_token else ""
        size = 15 if wide or len(line) < LONG_LINE else 13
        words += svg.text(left + (30 if has_token else 0), y, line, size, bold=True)
        return words + (
            svg.text(right, 47, last, 13, soft, anchor="end") if wide else svg.text(left, 62, last, 13, soft)
        )
