"""SVG elements as text. Coordinates are in the units of the picture; a colour is ``"#rrggbb"``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

#: Characters that XML does not allow.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(words: object) -> str:
    """Words as XML, with a question mark for each character that XML does not allow."""
    return escape(_NO_XML.sub("?", str(words)))


def number(value: float) -> str:
    """A coordinate, rounded to a hundredth of a unit."""
    return f"{round(value, 2):g}"


def signed(value: float) -> str:
    """A number, with two decimals at most, with a typographic minus sign."""
    return f"{round(value, 2):g}".replace("-", "\u2212")


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


def cross(x: float, y: float, size: float) -> str:
    """Two diagonals of a square with the corner ``x``, ``y``, as part of a path."""
    return f"M{number(x)} {number(y)}l{size:g} {size:g}m0 -{size:g}l-{size:g} {size:g}"


def text(
    x: float, y: float, words: object, size: float = 14, fill: str = "", *, bold: bool = False, anchor: str = ""
) -> str:  # fmt: skip
    """Text that begins at ``x`` (``anchor="end"``: ends there), with capitals centred vertically on ``y``."""
    look = f' fill="{fill}"' if fill else ""
    look += f' text-anchor="{anchor}"' if anchor else ""
    look += ' font-weight="700"' if bold else ""
    return f'<text x="{number(x)}" y="{number(y + 0.36 * size)}" font-size="{size:g}"{look}>{escaped(words)}</text>'


def centred(x: float, y: float, words: object, size: float, fill: str = "", *, bold: bool = False) -> str:
    """Text centred on ``x`` and ``y``."""
    return text(x, y, words, size, fill, bold=bold, anchor="middle")


def prompt(x: float, y: float, words: str, size: float = 14, fill: str = "") -> str:
    """What the player is asked to do; a page where nothing can be chosen hides it."""
    return f'<g data-prompt="">{text(x, y, words, size, fill)}</g>'


def letters(xs: Iterable[float], y: float, words: str, size: float, fill: str) -> str:
    """The letters of ``words``, each centred on its position in ``xs``."""
    if not words:
        return ""
    spans = "".join(f'<tspan x="{number(x)}">{letter}</tspan>' for x, letter in zip(xs, words, strict=True))
    return f'<text y="{number(y + 0.36 * size)}" font-size="{size:g}" fill="{fill}" text-anchor="middle">{spans}</text>'


def group(content: str, label: str = "", role: str = "group") -> str:
    """A group of elements; ``label`` describes it to a screen reader."""
    return f'<g role="{role}" aria-label="{escaped(label)}">{content}</g>' if label else f"<g>{content}</g>"


def with_key(key: str, content: str, *, came_from: str = "", goes_to: str = "") -> str:
    """Something that a page can move from one picture to the next, where it has the same ``key``.

    ``came_from``: the key of what it came from, if it is new; ``goes_to``: of what it goes to when it disappears.
    """
    more = f' data-from="{came_from}"' if came_from else ""
    more += f' data-to="{goes_to}"' if goes_to else ""
    return f'<g data-key="{key}"{more}>{content}</g>'


def figure(content: str, label: str) -> str:
    """Elements that form one image for a screen reader, described by ``label``."""
    return group(content, label, "img")


def with_title(content: str, words: str) -> str:
    """Elements about which a page tells ``words`` when they are pointed at."""
    return f"<g><title>{escaped(words)}</title>{content}</g>"


def area(
    name: str, value: object, x: float, y: float, width: float, height: float, radius: float = 6, **more: object
) -> str:  # fmt: skip
    """An invisible area that a page can click, with the attribute ``data-NAME``, and others for ``more``."""
    others = "".join(f' data-{key}="{data}"' for key, data in more.items())
    return (
        f'<rect data-{name}="{value}"{others} x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}" rx="{radius:g}" fill="none" pointer-events="all"/>'
    )
