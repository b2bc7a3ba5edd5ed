"""Pictures whose words are outlines, so that they look the same whatever fonts a viewer has."""

from __future__ import annotations

import re
from html import unescape

from catbox_env.pictures.raster import ATTRIBUTE, TEXT, TSPAN, outlines, units


def with_outlines(svg: str) -> str:
    """The same picture, with a reference to its outline for each letter; each outline is written once."""
    letters: dict[tuple[str, str], str] = {}

    def outlined(text: re.Match[str]) -> str:
        attributes, content = dict(ATTRIBUTE.findall(text[1])), text[2]
        weight = "bold" if attributes.get("font-weight") == "700" else "regular"
        scale = float(attributes["font-size"]) / units()
        anchor = {"middle": 0.5, "end": 1.0}.get(attributes.get("text-anchor", ""), 0.0)
        drawn = ""
        for x, words in TSPAN.findall(content) or [(attributes["x"], content)]:
            width, placed = outlines(unescape(words), weight)
            left = float(x) / scale - anchor * width
            for at, outline in placed:
                name = letters.setdefault((weight, outline), f"l{len(letters)}")
                drawn += f'<use href="#{name}" x="{left + at:.0f}"/>' if outline else ""
        kept = "".join(f' {name}="{attributes[name]}"' for name in ("id", "fill") if name in attributes)
        return f'<g{kept} transform="translate(0 {attributes["y"]}) scale({scale:.5f})">{drawn}</g>'

    drawn = TEXT.sub(outlined, svg)
    defined = "".join(
        f'<path id="{name}" d="M0 0{outline}"/>' for (_, outline), name in letters.items() if outline
    )
    return re.sub(r"^<svg[^>]*>", lambda start: f"{start[0]}<defs>{defined}</defs>", drawn)
