"""What the pictures of all games share: colours, SVG elements, seat tokens, and panels on a sheet.

A picture is laid out in its own units and scaled to the requested width. Panels are `PANEL` units wide, in two columns
if the picture is wide, in one if it is narrow. Text has a size of at least 12 units.

Colour alone conveys nothing: a colour has a letter, a seat has a shape and a number. No element has an id, so that a
page can contain many pictures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape

import numpy as np

from catbox_env.core.checks import check_choice, check_integer
from catbox_env.core.game import GameState
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.show import action_seen, names

#: Widths of a picture, in pixels: the minimum, the maximum, and the smallest with two columns.
LEAST_WIDTH, MOST_WIDTH, WIDE_FROM = 240, 4096, 560
#: Width of a panel, and the gaps around it, in units.
PANEL, GAP = 344, 10
#: Padding at the sides of a panel, and the height of its title.
PADDING, TITLE = 12, 34
#: Height of the head of a narrow and of a wide picture.
HEADS = (88, 66)
#: Letters of the colours red, blue, yellow, green.
LETTERS = "RBYG"
#: The number of seats that have their own token.
MOST_SEATS = 6
#: A viewer uses the first of these that is installed.
FONTS = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Theme:
    """Colours. Text has a contrast ratio of at least 4.5 to its background, outlines and tokens 3 (WCAG 2, AA).

    Attributes:
        page, panel: backgrounds; line: borders of panels.
        ink, soft: text, and less prominent text; also the frame of what can be chosen.
        face: cards without a colour; back: hidden cards; turn: the row of the seat to move.
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
    colors: tuple[str, ...]
    on_colors: tuple[str, ...]
    tints: tuple[str, ...]
    words: tuple[str, ...]
    seats: tuple[str, ...]
    on_seats: str


THEMES = {
    "light": Theme(
        page="#ece7dc", panel="#fbf9f4", line="#d5cebf", ink="#1d2230", soft="#555b69", face="#ffffff",
        back="#c9c2b2", turn="#ebe4d3",
        colors=("#c42f38", "#1f5fb0", "#f2bd1d", "#26774a"), on_colors=("#ffffff", "#ffffff", "#1d2230", "#ffffff"),
        tints=("#f7dcda", "#d9e6f6", "#fbedbd", "#d5ebdc"), words=("#b3242e", "#1f5fb0", "#7a5900", "#1f6b41"),
        seats=("#4d586b", "#7637b5", "#006a73", "#964300", "#ab1a6c", "#565c00"), on_seats="#ffffff",
    ),
    "dark": Theme(
        page="#12151b", panel="#1c212a", line="#3a4250", ink="#f2f4f7", soft="#b1b8c4", face="#2f3744",
        back="#4b5566", turn="#2b3340",
        colors=("#cd3f46", "#2c70c9", "#f0be2a", "#2b8050"), on_colors=("#ffffff", "#ffffff", "#12151b", "#ffffff"),
        tints=("#4a2429", "#203a5f", "#4a3d14", "#1d422d"), words=("#ff9a98", "#8dbcfb", "#f4cc55", "#7fd6a0"),
        seats=("#aeb9ca", "#cdaef8", "#74d4da", "#f5ad67", "#f896ca", "#ccd267"), on_seats="#12151b",
    ),
}  # fmt: skip


def number(value: float) -> str:
    """A coordinate, rounded to a hundredth of a unit."""
    return f"{round(value, 2):g}"


def signed(value: int) -> str:
    """A number with a typographic minus sign."""
    return str(value).replace("-", "\u2212")


def box(
    x: float, y: float, width: float, height: float, fill: str, *,
    radius: float = 6, line: str = "", weight: float = 1, dashed: bool = False,
) -> str:  # fmt: skip
    """A rectangle with rounded corners and an inner border of the colour ``line``."""
    edge = weight / 2 if line else 0
    outline = f' stroke="{line}" stroke-width="{weight:g}"' if line else ""
    if dashed:
        outline += ' stroke-dasharray="4 3"'
    return (
        f'<rect x="{number(x + edge)}" y="{number(y + edge)}" width="{number(width - 2 * edge)}" '
        f'height="{number(height - 2 * edge)}" rx="{radius:g}" fill="{fill}"{outline}/>'
    )


def path(d: str, fill: str, *, line: str = "", weight: float = 1) -> str:
    """A path; ``line`` is the colour of its outline."""
    outline = f' stroke="{line}" stroke-width="{weight:g}" stroke-linecap="round"' if line else ""
    return f'<path d="{d}" fill="{fill}"{outline}/>'


def round_box(x: float, y: float, width: float, height: float, radius: float) -> str:
    """A rectangle with rounded corners as part of a path."""
    r, across, down = f"{radius:g}", number(width - 2 * radius), number(height - 2 * radius)
    return (
        f"M{number(x + radius)} {number(y)}h{across}a{r} {r} 0 0 1 {r} {r}v{down}a{r} {r} 0 0 1 -{r} {r}"
        f"h-{across}a{r} {r} 0 0 1 -{r} -{r}v-{down}a{r} {r} 0 0 1 {r} -{r}z"
    )


def disc(x: float, y: float, radius: float) -> str:
    """A circle as part of a path."""
    r = f"{radius:g}"
    return (
        f"M{number(x - radius)} {number(y)}a{r} {r} 0 1 0 {2 * radius:g} 0a{r} {r} 0 1 0 -{2 * radius:g} 0z"
    )


def text(
    x: float,
    y: float,
    words: object,
    size: float = 14,
    fill: str = "",
    *,
    bold: bool = False,
    anchor: str = "",
) -> str:
    """Text that begins at ``x`` (``anchor="end"``: ends there), with capitals centred vertically on ``y``."""
    look = f' fill="{fill}"' if fill else ""
    look += f' text-anchor="{anchor}"' if anchor else ""
    look += ' font-weight="700"' if bold else ""
    return f'<text x="{number(x)}" y="{number(y + 0.36 * size)}" font-size="{size:g}"{look}>{escape(str(words))}</text>'


def prompt(x: float, y: float, words: str, size: float = 14, fill: str = "") -> str:
    """What the player is asked to do; a page where nothing can be chosen hides it."""
    return f'<g data-prompt="">{text(x, y, words, size, fill)}</g>'


def centred(x: float, y: float, words: object, size: float, fill: str = "", *, bold: bool = False) -> str:
    """Text centred on ``x`` and ``y``."""
    return text(x, y, words, size, fill, bold=bold, anchor="middle")


def letters(xs: Iterable[float], y: float, words: str, size: float, fill: str) -> str:
    """The letters of ``words``, each centred on its position in ``xs``."""
    if not words:
        return ""
    spans = "".join(f'<tspan x="{number(x)}">{letter}</tspan>' for x, letter in zip(xs, words, strict=True))
    return f'<text y="{number(y + 0.36 * size)}" font-size="{size:g}" fill="{fill}" text-anchor="middle">{spans}</text>'


def heading(theme: Theme, words: str, note: str = "") -> str:
    """The title of a panel, and a right-aligned note."""
    return text(PADDING, 19, words, 15, bold=True) + (
        text(PANEL - PADDING, 19, note, 13, theme.soft, anchor="end") if note else ""
    )


def group(content: str, label: str = "", role: str = "group") -> str:
    """A group of elements; ``label`` describes it to a screen reader."""
    return f'<g role="{role}" aria-label="{escape(label)}">{content}</g>' if label else f"<g>{content}</g>"


def figure(content: str, label: str) -> str:
    """Elements that form one image for a screen reader, described by ``label``."""
    return group(content, label, "img")


def choice(
    theme: Theme,
    action: int,
    label: str,
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    radius: float = 6,
    note: str = "",
) -> str:
    """A legal action as a frame around what it chooses, which is drawn first: a button named ``label``.

    ``note``: what a screen reader says besides the name.
    """
    frame = box(x, y, width, height, "none", radius=radius, line=theme.ink, weight=2.5)
    return _action(action, label, frame, note)


def button(
    theme: Theme,
    action: int,
    label: str,
    x: float,
    y: float,
    width: float,
    words: object,
    *,
    small: bool = False,
) -> str:
    """A legal action as a filled button with ``words`` on it, which are part of its name, ``label``."""
    height, ground, fill = (28, theme.back, theme.ink) if small else (40, theme.ink, theme.panel)
    face = box(x, y, width, height, ground, radius=8)
    size = 14 if small else 16
    return _action(
        action, label, face + centred(x + width / 2, y + height / 2, words, size, fill, bold=not small)
    )


def _action(action: int, label: str, drawn: str, note: str = "") -> str:
    described = f' aria-description="{escape(note)}"' if note else ""
    return (
        f'<g role="button" data-action="{action}" aria-label="{escape(label)}"{described} cursor="pointer" '
        f'pointer-events="all">{drawn}</g>'
    )


def forbidden(action: int, x: float, y: float, width: float, height: float) -> str:
    """An invisible area over what the illegal ``action`` would choose, so that a page can ask why it is illegal."""
    return (
        f'<rect data-forbidden="{action}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}" fill="none" pointer-events="all"/>'
    )


@cache
def _shape(seat: int, radius: float) -> str:
    """The outline of a seat's tokens, around the origin: disc, square, hexagon, diamond, triangle, octagon."""
    if seat == 0:
        return disc(0, 0, radius)
    if seat == 1:
        side = 0.9 * radius
        return round_box(-side, -side, 2 * side, 2 * side, 0.2 * radius)
    corners, turned, size = {2: (6, 0.0, 1.08), 3: (4, 0.0, 1.2), 4: (3, -90.0, 1.3), 5: (8, 22.5, 1.06)}[
        seat
    ]
    angles = [math.radians(turned + 360 * k / corners) for k in range(corners)]
    down = 0.18 * radius if corners == 3 else 0  # so that the number is in the middle of the triangle
    points = [
        f"{number(size * radius * math.cos(a))} {number(size * radius * math.sin(a) + down)}" for a in angles
    ]
    return f"M{'L'.join(points)}z"


def token(
    theme: Theme, seat: int, x: float, y: float, radius: float, *, ringed: bool = False, faded: bool = False
) -> str:
    """A seat's token: its shape, colour and number. ``ringed``: the latest one; ``faded``: of a seat that is out."""
    fill, on = (theme.back, theme.ink) if faded else (theme.seats[seat], theme.on_seats)
    size = max(12.0, round(1.15 * radius, 1))
    ring = f' stroke="{theme.ink}" stroke-width="2.5"' if ringed else ""
    return (
        f'<g transform="translate({number(x)} {number(y)})"><path d="{_shape(seat, radius)}" fill="{fill}"{ring}/>'
        f"{centred(0, 0, seat, size, on, bold=True)}</g>"
    )


def seat_row(
    theme: Theme,
    seat: int,
    top: float,
    height: float,
    notes: list[str],
    *,
    viewer: int | None,
    mover: int,
    width: float = PANEL - 12,
    faded: bool = False,
) -> tuple[str, str]:
    """The row of a seat in a panel: its token, its name, and ``notes`` below; and the same in words.

    The viewer's row has the note "you", and that of the seat to move a background ``width`` units wide.
    """
    y, turn, you = top + height / 2, seat == mover, seat == viewer
    notes = ["you"] * you + notes
    drawn = box(6, top + 2, width, height - 4, theme.turn, radius=8) if turn else ""
    drawn += token(theme, seat, 26, y, 13, faded=faded)
    fill = theme.soft if faded else ""
    drawn += text(46, y - (8 if notes else 0), f"player_{seat}", 15, fill, bold=turn or you)
    drawn += text(46, y + 11, " · ".join(notes), 12, theme.soft) if notes else ""
    return drawn, ", ".join([f"player_{seat}", *notes] + ["to move"] * turn)


def won_by(winners: list[int]) -> str:
    """Who won the game, in words."""
    return f"{names(winners)} {'wins' if len(winners) == 1 else 'share the win'}"


def crown(theme: Theme, x: float, y: float, radius: float = 10) -> str:
    """The mark of the winning card, centred."""
    k = radius / 10
    points = f"M{number(x - 5.5 * k)} {number(y + 4.5 * k)}" + "".join(
        f"l{number(right * k)} {number(down * k)}"
        for right, down in ((-1, -8), (4, 3), (2.5, -5), (2.5, 5), (4, -3), (-1, 8))
    )
    return path(disc(x, y, radius), theme.ink) + path(points + "z", theme.panel)


class Sheet:
    """A picture under construction: a head, and panels in two columns (one if the picture is narrow).

    Attributes: ``theme``; ``size``: the width in pixels.

    Raises ``ValueError`` unless ``size`` is an integer from 240 to 4096, and for an unknown theme.
    """

    def __init__(self, size: int, theme: str) -> None:
        self.size = check_integer("size", size, LEAST_WIDTH, MOST_WIDTH, " (the width in pixels)")
        self.theme = THEMES[check_choice("theme", theme, tuple(THEMES))]
        self._columns: tuple[list[tuple[float, str, str]], ...] = ([], [])

    def panel(self, column: int, height: float, content: str, label: str = "") -> None:
        """Add a panel at the bottom of ``column``, 0 or 1. ``content`` has its origin in the panel's corner."""
        self._columns[column].append((height, content, label))

    def shorter_column(self) -> int:
        """The shorter column."""
        heights = [sum(height + GAP for height, _, _ in panels) for panels in self._columns]
        return heights.index(min(heights))

    def svg(self, title: str, note: str, line: str, last: str, seat: int) -> str:
        """The whole picture.

        Args:
            title, note: the name of the game, and its progress.
            line: who is to move and what to do, with the token of ``seat`` (-1: none).
            last: the last action.
        """
        wide = self.size >= WIDE_FROM
        columns = self._columns if wide else ([panel for column in self._columns for panel in column],)
        width = GAP + len(columns) * (PANEL + GAP)
        bottom = HEADS[wide] + max(sum(height + GAP for height, _, _ in panels) for panels in columns)
        placed = []
        for i, panels in enumerate(columns):
            y = float(HEADS[wide])
            for k, (height, content, label) in enumerate(panels):
                if k == len(panels) - 1:
                    height = bottom - GAP - y  # the last one extends to the bottom of the other column
                ground = box(0, 0, PANEL, height, self.theme.panel, radius=10, line=self.theme.line)
                x = GAP + i * (PANEL + GAP)
                placed.append(
                    f'<g transform="translate({x} {number(y)})">{group(ground + content, label)}</g>'
                )
                y += height + GAP
        height = 2 * round(self.size * bottom / width / 2)  # even, as video formats need it
        description = " ".join(words for words in (note + ".", line + ".", last) if words)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.size}" height="{height}" '
            f'viewBox="0 0 {width} {number(bottom)}" role="group" aria-label="{escape(title)}" '
            f'font-family="{escape(FONTS)}" fill="{self.theme.ink}">'
            f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
            f'<rect x="-2" y="-2" width="{width + 4}" height="{number(bottom + 4)}" fill="{self.theme.page}"/>'
            f"{self._head(wide, width, title, note, line, last, seat)}{''.join(placed)}</svg>"
        )

    def _head(self, wide: bool, width: float, title: str, note: str, line: str, last: str, seat: int) -> str:
        soft, left, right = self.theme.soft, GAP + 4, width - GAP - 4
        words = text(left, 20, title, 18, bold=True) + text(right, 20, note, 13, soft, anchor="end")
        if seat >= 0:
            words += token(self.theme, seat, left + 11, 47, 11)
        words += text(left + (30 if seat >= 0 else 0), 47, line, 15, bold=True)
        return words + (
            text(right, 47, last, 13, soft, anchor="end") if wide else text(left, 73, last, 13, soft)
        )


def actions_shown(state: GameState, seat: int | None) -> list[int]:
    """The legal actions for the seat to move and for None; none for another seat."""
    return state.legal_actions() if seat in (None, state.current_player) else []


def winners_of(state: GameState) -> list[int]:
    """The seats that won the game or share the win; none before its end."""
    return np.flatnonzero(state.record.win_shares).tolist() if state.is_terminal() else []


def last_action(state: GameState, seat: int | None) -> tuple[int, int] | None:
    """The last seat to act and its action as ``seat`` saw it (HIDDEN if it did not); None sees every action.

    None at the beginning, and if the state has no past.
    """
    moves = int(state.records["num_moves"][0])
    if not 0 < moves <= len(state.log):
        return None
    mover, action, _ = state.log[moves - 1].tolist()
    return mover, action if action_seen(state, seat) else HIDDEN
