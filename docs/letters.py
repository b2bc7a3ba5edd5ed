"""Write the letters that pictures are drawn with as pixels: `.venv/bin/python docs/letters.py REGULAR BOLD`.

REGULAR and BOLD are files of the font Inter, such as inter-latin-400-normal.woff and inter-latin-700-normal.woff of the
package @fontsource/inter 5.3.0. Needs fontTools.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

FILE = Path(__file__).resolve().parent.parent / "catbox_env" / "pictures" / "letters" / "letters.json"
#: The height of the font, in units: enough for the sizes of pictures.
UNITS = 512
#: ASCII, the middle dot, and the signs for times, from-to and minus.
LETTERS = [chr(code) for code in range(0x20, 0x7F)] + ["\u00b7", "\u00d7", "\u2013", "\u2212"]


class RelativePath(BasePen):
    """An outline as an SVG path of relative commands, with y downwards, that begins at the origin of the letter."""

    def __init__(self, glyphs: Any, scale: float) -> None:
        super().__init__(glyphs)
        self.commands: list[str] = []
        self._scale, self._at = scale, (0, 0)

    def _add(self, command: str, *points: tuple[float, float]) -> None:
        x, y = self._at
        rounded = [(round(px * self._scale), round(-py * self._scale)) for px, py in points]
        self.commands.append(command + " ".join(f"{px - x} {py - y}" for px, py in rounded))
        self._at = rounded[-1]

    def _moveTo(self, point: tuple[float, float]) -> None:
        self._add("m", point)
        self._begun = self._at

    def _lineTo(self, point: tuple[float, float]) -> None:
        self._add("l", point)

    def _qCurveToOne(self, control: tuple[float, float], point: tuple[float, float]) -> None:
        self._add("q", control, point)

    def _closePath(self) -> None:
        self.commands.append("z")
        self._at = self._begun  # where SVG goes on


def letters_of(file: str) -> dict[str, tuple[int, str]]:
    """Of each letter its width and its outline, in units."""
    font = TTFont(file)
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), UNITS / font["head"].unitsPerEm
    outlines = {}
    for letter in LETTERS:
        glyph, pen = glyphs[names[ord(letter)]], RelativePath(glyphs, scale)
        glyph.draw(pen)
        outlines[letter] = (round(glyph.width * scale), "".join(pen.commands))
    return outlines


if __name__ == "__main__":
    regular, bold = sys.argv[1:]
    written = {
        "units": UNITS,
        "regular": letters_of(regular),
        "bold": letters_of(bold),
    }
    FILE.write_text(json.dumps(written, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
