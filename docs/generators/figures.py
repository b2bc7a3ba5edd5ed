"""Pictures of the pages as SVG files, which follow the light or dark theme of the page that shows them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from catbox_agents.arena.plots import GREY, INK, LINE, LINES, PAGE, SOFT, style
from experiments.results import Folders

#: Colour on a light page -> on a dark one, as the browser table has them. Text in black has no colour in the file.
_ON_DARK = "#f2f4f7"
_DARK = {
    PAGE: "#12151b",
    "#000000": _ON_DARK,
    "#b0b0b0": "#7c8696",
    INK: _ON_DARK,
    SOFT: "#b1b8c4",
    LINE: "#525d70",
    GREY.lower(): "#525d70",
    "#cccccc": "#525d70",
}
_DARK |= dict(zip(LINES, ("#a9a2ff", "#f5ad67", "#74d4da", "#f896ca", "#ccd267", "#aeb9ca"), strict=True))
#: matplotlib lays text out in this font, the widest; a viewer shows it in the first of these that it has.
_LAID_OUT, _SHOWN = "'DejaVu Sans'", "Figtree, Inter, system-ui, 'Segoe UI', Roboto, 'DejaVu Sans'"


@dataclass(frozen=True)
class Picture:
    """A picture with its ``title``: ``draw`` makes it, and ``data`` is all that it shows."""

    title: str
    data: str
    draw: Callable[[], Figure]

    @property
    def checksum(self) -> str:
        """SHA-256 of what it shows, which its file contains."""
        return hashlib.sha256(self.data.encode()).hexdigest()

    def svg(self) -> bytes:
        """The file: the same for the same data and version of matplotlib."""
        file = io.BytesIO()
        metadata = {"Date": None, "Title": self.title, "Description": self.checksum}
        settings: dict[Any, Any] = {
            "svg.hashsalt": self.title,
            "svg.fonttype": "none",
            "figure.facecolor": PAGE,
            "axes.facecolor": "none",
        }
        with matplotlib.rc_context(settings):
            self.draw().savefig(file, format="svg", metadata=metadata)
        drawn = file.getvalue().decode().replace(_LAID_OUT, _SHOWN)
        return drawn.replace("</style>", f"{_themes(drawn)}</style>", 1).encode()


def _themes(drawn: str) -> str:
    """The CSS by which text without a colour, and the colours of ``drawn``, follow the theme."""
    rules = [
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in _DARK.items()
        for kind in ("fill", "stroke")
        if f"{kind}: {light}" in drawn
    ]
    dark = f"text{{fill:{_ON_DARK}}}{''.join(rules)}"
    return f"text{{fill:{INK}}}@media (prefers-color-scheme: dark){{{dark}}}"


def as_saved(draw: Callable[[], Figure]) -> Callable[[], Figure]:
    """``draw`` in the style of pictures that commands save, but laid out in the font that every machine has."""

    def drawn() -> Figure:
        with matplotlib.rc_context(style() | {"font.family": "DejaVu Sans"}):
            return draw()

    return drawn


def picture_file(name: str, folders: Folders) -> Path:
    """The file of the picture ``name``."""
    return folders.docs / "pictures" / f"{name}.svg"


def shown(name: str, alternative: str) -> str:
    """The picture ``name`` on a page, with what it shows in words."""
    return f"![{alternative}](pictures/{name}.svg)"


def shown_by_width(name: str, alternative: str) -> str:
    """`shown`, with the `narrow` variant on phones."""
    return (
        f'<picture>\n  <source media="(max-width: 45em)" srcset="pictures/{narrow(name)}.svg">\n'
        f'  <img src="pictures/{name}.svg" alt="{alternative}">\n</picture>'
    )


def narrow(name: str) -> str:
    """The name of the variant of the picture ``name`` for phones."""
    return f"{name}-narrow"
