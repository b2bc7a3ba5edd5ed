"""Write the fonts of plots, of which matplotlib cannot read the WOFF2: `.venv/bin/python docs/plot_fonts.py`.

The letters are those of the browser table's font, in its regular and bold weight. Needs fontTools and brotli.
"""

from __future__ import annotations

from pathlib import Path

from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

ROOT = Path(__file__).resolve().parent.parent
FONT = ROOT / "app" / "catbox_app" / "web" / "static" / "figtree.woff2"
FOLDER = ROOT / "agents" / "catbox_agents" / "arena" / "fonts"

if __name__ == "__main__":
    for style, weight in (("Regular", 400), ("Bold", 700)):
        font = instantiateVariableFont(TTFont(FONT, recalcTimestamp=False), {"wght": weight})
        font.flavor = None
        for number, name in enumerate(
            ("Figtree", style, None, f"Figtree {style}", None, f"Figtree-{style}"), 1
        ):
            if name:
                font["name"].setName(name, number, 3, 1, 0x409)
        font.save(FOLDER / f"Figtree-{style}.ttf")
