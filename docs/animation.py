"""Several pictures of `game.render_svg` as one animated SVG.

What two pictures share is written once, so that a whole game takes little more than a few of its positions. The
animation is CSS alone: it runs where the file is shown as an image, without a script. Where the reader asks for less
motion, and in programs that know no CSS animation, the picture stands still.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape

SVG = "{http://www.w3.org/2000/svg}"
#: For pages in which the picture is itself: an animation is shown as an image.
LEFT_OUT = ("aria-label", "aria-hidden", "aria-disabled", "role", "data-action")


class Part:
    """An element of the animation, and the pictures that show it."""

    def __init__(self, element: ET.Element) -> None:
        self.key = part_key(element)
        self.element = element
        self.parts: list[Part] = []
        self.shown: set[int] = set()

    def add(self, element: ET.Element, picture: int) -> None:
        """The element is in ``picture`` too: a group takes in what it holds there."""
        self.shown.add(picture)
        if is_group(element):
            self.parts = with_picture(self.parts, list(element), picture)


def is_group(element: ET.Element) -> bool:
    """Whether it holds elements that come and go by themselves."""
    return element.tag == SVG + "g" and len(element) > 0


def attributes(element: ET.Element) -> str:
    """The attributes as SVG text."""
    kept = {name: value for name, value in element.attrib.items() if name not in LEFT_OUT}
    return "".join(f' {name}="{escape(value)}"' for name, value in kept.items())


def part_key(element: ET.Element) -> str:
    """Elements of one key are the same; groups are if their attributes are."""
    return "<g" + attributes(element) if is_group(element) else leaf(element)


def leaf(element: ET.Element) -> str:
    """An element with all that it holds, as SVG text."""
    tag = element.tag.removeprefix(SVG)
    inner = escape(element.text or "", quote=False) + "".join(
        leaf(child) + escape(child.tail or "", quote=False) for child in element
    )
    return f"<{tag}{attributes(element)}>{inner}</{tag}>" if inner else f"<{tag}{attributes(element)}/>"


def with_picture(parts: list[Part], elements: list[ET.Element], picture: int) -> list[Part]:
    """``parts`` with the elements of one more picture, each behind and before the same others as there."""
    matcher = SequenceMatcher(
        None, [part.key for part in parts], [part_key(element) for element in elements], autojunk=False
    )
    joined: list[Part] = []
    for kind, first, last, new, end in matcher.get_opcodes():
        joined += parts[first:last]
        if kind == "equal":
            for part, element in zip(parts[first:last], elements[new:end], strict=True):
                part.add(element, picture)
        else:
            for element in elements[new:end]:
                joined.append(Part(element))
                joined[-1].add(element, picture)
    return joined


def written(parts: list[Part], around: set[int], classes: dict[frozenset[int], str]) -> str:
    """The parts as SVG text; those not shown all the time get a class, which is noted in ``classes``."""
    text = []
    for part in parts:
        mark = ""
        if part.shown != around:
            mark = f' class="{classes.setdefault(frozenset(part.shown), f"f{len(classes)}")}"'
        if is_group(part.element):
            inner = written(part.parts, part.shown, classes)
            text.append(f"<g{attributes(part.element)}{mark}>{inner}</g>")
        elif mark:
            tag = part.key.split(maxsplit=1)[0].rstrip("/>")
            text.append(part.key.replace(tag, tag + mark, 1))
        else:
            text.append(part.key)
    return "".join(text)


def rules(shown: frozenset[int], name: str, starts: Sequence[float], still: int) -> str:
    """The CSS of a class: its elements are seen in the pictures ``shown``."""
    total = starts[-1]
    steps = [
        f"{100 * starts[picture] / total:.4g}%{{opacity:{int(picture in shown)}}}"
        for picture in range(len(starts) - 1)
        if picture == 0 or (picture in shown) != (picture - 1 in shown)
    ]
    hidden = "" if still in shown else "opacity:0;"
    return f".{name}{{{hidden}animation:{name} {total:g}s step-end infinite}}@keyframes {name}{{{''.join(steps)}}}"


def animated(pictures: Sequence[str], seconds: Sequence[float], still: int = -1) -> str:
    """An SVG that shows ``pictures``, all of one size, one after the other, again and again.

    Args:
        pictures: SVG texts of ``render_svg``.
        seconds: how long each is seen.
        still: which one is seen where nothing moves.
    """
    roots = [ET.fromstring(picture) for picture in pictures]
    sizes = {(root.get("width"), root.get("height"), root.get("viewBox")) for root in roots}
    if len(sizes) != 1:
        raise ValueError(f"pictures of one size are expected, but these have {sorted(map(str, sizes))}")
    parts: list[Part] = []
    for number, root in enumerate(roots):
        drawn = [child for child in root if child.tag not in (SVG + "title", SVG + "desc")]
        parts = with_picture(parts, drawn, number)
    starts = [sum(seconds[:number]) for number in range(len(seconds) + 1)]
    classes: dict[frozenset[int], str] = {}
    body = written(parts, set(range(len(pictures))), classes)
    style = "".join(rules(shown, name, starts, still % len(pictures)) for shown, name in classes.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg"{attributes(roots[0])}>'
        f"<style>{style}@media(prefers-reduced-motion:reduce){{*{{animation:none!important}}}}</style>{body}</svg>"
    )
