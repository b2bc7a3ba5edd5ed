"""Pictures whose words are outlines, so that they look the same whatever fonts a viewer has."""

from __future__ import annotations

import re

from catbox_env.pictures.raster import TEXT, placed_letters


def with_outlines(svg: str) -> str:
    """The same picture, with a reference to its outline for each letter; each outline is written once."""
    names: dict[str, str] = {}

    def outlined(text: re.Match[str]) -> str:
        attributes, transform, letters = placed_letters(text)
        drawn = ""
        for x, outline in letters:
            if outline:  # not a space
                name = names.setdefault(outline, f"l{len(names)}")
                drawn += f'<use href="#{name}" x="{x}"/>'
        kept = "".join(f' {name}="{attributes[name]}"' for name in ("id", "fill") if name in attributes)
        return f"<g{kept}{transform}>{drawn}</g>"

    drawn = TEXT.sub(outlined, svg)
    defined = "".join(f'<path id="{name}" d="M0 0{outline}"/>' for outline, name in names.items())
    return re.sub(r"^<svg[^>]*>", lambda start: f"{start[0]}<defs>{defined}</defs>", drawn)
