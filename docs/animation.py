"""Several pictures of `game.render_svg` as one animated SVG.

Each picture is a group that is shown at its time. What several pictures have is written once, so that a whole game
takes little more than a few of its positions. The animation is CSS alone: it runs where the file is shown as an image,
without a script. Where the reader asks for less motion, and in programs that know no CSS animation, the picture stands
still.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

SVG = "{http://www.w3.org/2000/svg}"
#: For pages in which the picture is itself: an animation is shown as an image.
LEFT_OUT = ("aria-label", "aria-hidden", "aria-disabled", "role", "data-action")
#: Characters; a shorter element is written again, for a reference takes as much.
SHORT = 60

ET.register_namespace("", SVG[1:-1])


def text_of(element: ET.Element) -> str:
    """The element as SVG text."""
    return ET.tostring(element, encoding="unicode").replace(f' xmlns="{SVG[1:-1]}"', "")


def count(element: ET.Element, found: Counter[str]) -> None:
    """Count the element, and with the first of its kind what it holds, if it is a group."""
    text = text_of(element)
    found[text] += 1
    if found[text] == 1 and element.tag == SVG + "g":
        for child in element:
            count(child, found)


def written(element: ET.Element, ids: dict[str, str]) -> str:
    """The element as text, with references to what ``ids`` names by its text."""
    text = text_of(element)
    return f'<use href="#{ids[text]}"/>' if text in ids else defined(element, ids)


def defined(element: ET.Element, ids: dict[str, str]) -> str:
    """The element itself as text, with references in it."""
    if element.tag != SVG + "g" or not len(element):
        return text_of(element)
    empty = text_of(ET.Element(element.tag, element.attrib)).replace(" />", ">")
    return empty + "".join(written(child, ids) for child in element) + "</g>"


def rules(name: str, start: float, end: float, total: float, hidden: bool, begin: float) -> str:
    """The CSS of a picture that is seen from ``start`` to ``end`` of ``total`` seconds, from ``begin`` on."""
    steps = {0.0: 0, start: 1, end: 0}
    frames = "".join(f"{100 * at / total:.4g}%{{opacity:{seen}}}" for at, seen in steps.items() if at < total)
    still = "opacity:0;" if hidden else ""
    delay = f" -{begin:g}s" if begin else ""
    return (
        f".{name}{{{still}animation:{name} {total:g}s step-end{delay} infinite}}@keyframes {name}{{{frames}}}"
    )


def animated(pictures: Sequence[str], seconds: Sequence[float], still: int = -1, first: int = 0) -> str:
    """An SVG that shows ``pictures``, all of one size, one after the other, again and again.

    Args:
        pictures: SVG texts of ``render_svg``.
        seconds: how long each is seen.
        still: which one is seen where nothing moves.
        first: which one is seen first.
    """
    roots = [ET.fromstring(picture) for picture in pictures]
    if len({root.get("viewBox") for root in roots}) != 1:
        raise ValueError("pictures of one size are expected")
    found: Counter[str] = Counter()
    for root in roots:
        for element in root.iter():
            for name in LEFT_OUT:
                element.attrib.pop(name, None)
        for child in root:
            count(child, found)
    elements = {text_of(element): element for root in roots for element in root.iter()}
    shared = [text for text, times in found.items() if times > 1 and len(text) >= SHORT]
    ids = {text: f"s{number}" for number, text in enumerate(shared)}
    definitions = (
        re.sub(r"^<\w+", rf'\g<0> id="{name}"', defined(elements[text], ids)) for text, name in ids.items()
    )
    ends = list(accumulate(seconds))
    begin = ends[first] - seconds[first]
    style, body = "@media(prefers-reduced-motion:reduce){*{animation:none!important}}", ""
    for number, root in enumerate(roots):
        name, hidden = f"f{number}", number != still % len(roots)
        style += rules(name, ends[number] - seconds[number], ends[number], ends[-1], hidden, begin)
        drawn = (child for child in root if child.tag not in (SVG + "title", SVG + "desc"))
        body += f'<g class="{name}">{"".join(written(child, ids) for child in drawn)}</g>'
    start = ET.tostring(ET.Element(roots[0].tag, roots[0].attrib), encoding="unicode").replace(" />", ">")
    return f"{start}<style>{style}</style><defs>{''.join(definitions)}</defs>{body}</svg>"
