"""Pictures as pixels, by libvips (the package pyvips, extra ``render``).

Text is drawn as outlines of the font Inter, from ``letters/`` (written by `docs/letters.py`). So the pixels do not
depend on installed fonts, and libvips starts no threads, after which a forked process could not draw. A character
without an outline, which a game may have in its names, is drawn as a question mark.

Memory does not grow with the number of pictures: the cache in which libvips keeps the last operations of the process,
with their pixels, is switched off.
"""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache, lru_cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from catbox_env.core.extras import install_line, missing_extra

#: Width of a frame of ``render_mode="rgb_array"``, in pixels.
FRAME_WIDTH = 640

_LETTERS = Path(__file__).parent / "letters" / "letters.json"
#: Elements and attributes as `svg` writes them.
TEXT = re.compile(r"<text([^>]*[^>/])>(.*?)</text>", re.DOTALL)
TSPAN = re.compile(r'<tspan x="([^"]*)">(.*?)</tspan>')
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def can_rasterise() -> bool:
    """Whether ``pyvips`` is installed, from the extra ``render``."""
    return importlib.util.find_spec("pyvips") is not None


@cache
def load_rasteriser() -> Any:
    """The module ``pyvips``, its cache of operations switched off for the process (``pyvips.cache_set_max(0)``).

    Raises ``ImportError``, saying what to install, if it is missing.
    """
    try:
        import pyvips
    except ModuleNotFoundError as error:
        raise missing_extra(error, "render_mode='rgb_array'", "render") from error
    except OSError as error:  # pyvips without the library it wraps
        raise ImportError(
            f"render_mode='rgb_array' needs libvips, which is not installed ({error}). {install_line('render')}"
        ) from error
    pyvips.cache_set_max(0)
    return pyvips


def rasterise(svg: str) -> np.ndarray:
    """The pixels of a picture, a new uint8 array (height, width, 3), in the size that the SVG specifies.

    Raises ``ImportError`` as `load_rasteriser` does.
    """
    pyvips = load_rasteriser()
    image = pyvips.Image.svgload_buffer(TEXT.sub(_outlined, svg).encode())
    width, height = image.width, image.height
    fetched = pyvips.Region.new(image).fetch(
        0, 0, width, height
    )  # in this thread; image.numpy() would start others
    with_opacity = np.frombuffer(fetched, np.uint8).reshape(height, width, 4)
    pixels = np.empty((height, width, 3), np.uint8)
    for band in range(3):  # faster than all at once
        pixels[:, :, band] = with_opacity[:, :, band]
    return pixels


def _outlined(text: re.Match[str]) -> str:
    """A text element as a path of its letters."""
    attributes, transform, letters = placed_letters(text)
    path = "".join(f"M{x} 0{outline}" for x, outline in letters)
    fill = f' fill="{attributes["fill"]}"' if "fill" in attributes else ""
    return f'<path d="{path}"{transform}{fill}/>'


def placed_letters(text: re.Match[str]) -> tuple[dict[str, str], str, list[tuple[str, str]]]:
    """A text element that `TEXT` has found: its attributes, the attribute ``transform`` of its letters, and where each
    begins, with its outline; a space has none."""
    attributes, content = dict(ATTRIBUTE.findall(text[1])), text[2]
    scale = float(attributes["font-size"]) / _letters()["units"]
    weight = "bold" if attributes.get("font-weight") == "700" else "regular"
    # The fraction of a text's width that lies left of its anchor.
    anchor = {"middle": 0.5, "end": 1.0}.get(attributes.get("text-anchor", ""), 0.0)
    letters = []
    for x, words in TSPAN.findall(content) or [(attributes["x"], content)]:
        width, outlines = _outlines(unescape(words), weight)
        left = float(x) / scale - anchor * width
        letters += [(f"{left + at:.0f}", outline) for at, outline in outlines]
    return attributes, f' transform="translate(0 {attributes["y"]}) scale({scale:.5f})"', letters


@lru_cache(maxsize=1000)  # a picture has about a hundred texts, and most of them are on the next one, too
def _outlines(words: str, weight: str) -> tuple[int, list[tuple[int, str]]]:
    """The width of ``words``, and where each letter begins, in units of the font, with its outline."""
    letters, at, outlines = _letters()[weight], 0, []
    for letter in words:
        width, outline = letters.get(letter) or letters[" " if letter.isspace() else "?"]
        outlines.append((at, outline))
        at += width
    return at, outlines


@cache
def _letters() -> dict[str, Any]:
    letters: dict[str, Any] = json.loads(_LETTERS.read_text(encoding="utf-8"))
    return letters
