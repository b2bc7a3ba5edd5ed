"""SVG text as pixels, by libvips (the package pyvips, extra ``render``).

Text is drawn with the fonts in ``fonts/``, so that the pixels do not depend on what is installed: the letters of Inter
that pictures need (`fonts/LICENSE.txt`), taken from the package @fontsource/inter 5.3.0 by ``pyftsubset`` of fonttools
with ``--unicodes=20-7e,b7,d7,2013,2212 --no-hinting --layout-features=``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

#: Width of a frame of ``render_mode="rgb_array"``, in pixels.
FRAME_WIDTH = 640

_FONTS = Path(__file__).parent / "fonts"
_WEIGHTS = ("Regular", "Bold")


@cache
def load_rasteriser() -> Any:
    """The module ``pyvips``, which knows the fonts of pictures. Raises ``ImportError``, saying what to install."""
    try:
        import pyvips
    except (ImportError, OSError) as error:  # OSError: pyvips without the library that it binds
        raise ImportError(
            "render_mode='rgb_array' needs pyvips with libvips: pip install 'catbox-env[render]', or use "
            f"render_mode='ansi' ({error})"
        ) from error
    for weight in _WEIGHTS:
        file = _FONTS / f"Inter-{weight}.ttf"
        if not file.is_file():  # libvips would draw with any other font
            raise ImportError(f"the font {file} is missing: install catbox-env again")
        # All later drawing in this process knows a font with which a text has been drawn.
        pyvips.Image.text("a", font="Inter", fontfile=str(file))
    return pyvips


def rasterise(svg: str) -> np.ndarray:
    """The pixels of ``svg``, a new uint8 array (height, width, 3), in the size that the SVG names.

    Raises ``ImportError`` as `load_rasteriser` does.
    """
    image = load_rasteriser().Image.svgload_buffer(svg.encode())
    pixels: np.ndarray = image.extract_band(
        0, n=3
    ).numpy()  # without the band of opacity: pictures have a ground
    return pixels
