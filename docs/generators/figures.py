"""Pictures of the pages as SVG files, which follow the light or dark theme of the page that shows them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from experiments.results import Folders

#: Of Okabe and Ito (2008), whose colours colour-blind readers can distinguish.
BLUE, SKY, GREEN, VERMILION, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7"
#: What stands back, on a light and on a dark page.
GREY = "#C8C8C8"
#: Colour on a light page -> on a dark one. Text in black has no colour in the file.
_DARK = {"#ffffff": "#0b0c0f", "#000000": "#c9ccd3", "#b0b0b0": "#8a8f99"}
_RULES = [
    f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
    for light, dark in _DARK.items()
    for kind in ("fill", "stroke")
]
_DARK_STYLE = f"@media (prefers-color-scheme: dark){{text{{fill:{_DARK['#000000']}}}{''.join(_RULES)}}}"


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
        with matplotlib.rc_context({"svg.hashsalt": self.title, "svg.fonttype": "none"}):
            self.draw().savefig(file, format="svg", metadata=metadata)
        return file.getvalue().replace(b"</style>", f"{_DARK_STYLE}</style>".encode(), 1)


def picture_file(name: str, folders: Folders) -> Path:
    """The file of the picture ``name``."""
    return folders.docs / "pictures" / f"{name}.svg"


def shown(name: str, alternative: str) -> str:
    """The picture ``name`` on a page, with what it shows in words."""
    return f"![{alternative}](pictures/{name}.svg)"
