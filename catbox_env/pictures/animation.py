"""A sequence of pictures as an animated GIF, by libvips (the package pyvips, extra ``render``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from catbox_env.pictures.raster import load_rasteriser, rasterise

#: The most that all frames may take in memory, in bytes.
MAX_BYTES = 2 << 30


def animated_gif(
    pictures: Sequence[str],
    seconds: Sequence[float],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> bytes:
    """A GIF that loops through ``pictures``, at least one, all SVGs of one game and width from `game.render_svg`.

    ``seconds``: how long each is shown, to a hundredth. ``progress`` is called with (steps done, steps in total).

    Raises ``ImportError`` as `raster.load_rasteriser` does; ``ValueError`` for more than `MAX_BYTES` of pixels.
    """
    pyvips = load_rasteriser()
    count = len(pictures)
    height, width, _ = rasterise(pictures[0]).shape
    if 3 * count * width * height > MAX_BYTES:
        raise ValueError(
            f"{count} pictures of {width} x {height} pixels need more than {MAX_BYTES >> 30} GiB: make them narrower"
        )
    frames = np.empty((count, height, width, 3), np.uint8)
    for i, picture in enumerate(pictures):
        frames[i] = rasterise(picture)
        progress(i + 1, 2 * count)
    image = pyvips.Image.new_from_memory(frames.data, width, count * height, 3, "uchar")
    image = image.copy(interpretation="srgb")
    image.set_type(pyvips.GValue.gint_type, "page-height", height)
    image.set_type(pyvips.GValue.gint_type, "loop", 0)
    image.set_type(pyvips.GValue.array_int_type, "delay", [round(1000 * one) for one in seconds])
    image.set_progress(True)
    image.signal_connect(
        "eval", lambda _, at: progress(count + count * min(at.percent, 100) // 100, 2 * count)
    )
    # 6 bits per pixel: 64 colours, chosen for each frame.
    written: bytes = image.gifsave_buffer(dither=0, bitdepth=6, effort=1)
    return written
