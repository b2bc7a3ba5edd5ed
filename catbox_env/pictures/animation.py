"""A sequence of pictures as an animated GIF, by libvips (the package pyvips, extra ``render``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from catbox_env.pictures.raster import load_rasteriser, rasterise

#: Bits per pixel: 64 colours, chosen for each frame.
_BITS = 6
#: The most that all frames may take in memory, in bytes.
MAX_BYTES = 2 << 30


def animated_gif(
    pictures: Sequence[str],
    seconds: Sequence[float],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> bytes:
    """A GIF that loops through ``pictures``, SVGs of `game.render_svg` of the same size, in that size.

    ``seconds``: how long each is shown, to a hundredth. ``progress`` is called with (steps done, steps in total).

    Raises ``ImportError`` as `raster.load_rasteriser` does; ``ValueError`` for no pictures, pictures of different
    sizes, a different number of seconds, and more than `MAX_BYTES` of pixels.
    """
    if not pictures or len(pictures) != len(seconds):
        raise ValueError(
            f"{len(pictures)} pictures, {len(seconds)} durations: expected at least one, and as many of each"
        )
    pyvips = load_rasteriser()
    count = len(pictures)
    frames = np.empty((0, 0, 0, 3), np.uint8)
    for i, picture in enumerate(pictures):
        frame = rasterise(picture)
        if i == 0:
            if count * frame.nbytes > MAX_BYTES:
                raise ValueError(
                    f"{count} pictures of {frame.shape[1]} x {frame.shape[0]} pixels need more than {MAX_BYTES >> 30} "
                    "GiB: make them narrower"
                )
            frames = np.empty((count, *frame.shape), np.uint8)
        elif frame.shape != frames.shape[1:]:
            raise ValueError(f"picture {i + 1} of {count} differs in size from those before it")
        frames[i] = frame
        progress(i + 1, 2 * count)
    _, height, width, _ = frames.shape
    image = pyvips.Image.new_from_memory(frames.data, width, count * height, 3, "uchar")
    image = image.copy(interpretation="srgb")
    image.set_type(pyvips.GValue.gint_type, "page-height", height)
    image.set_type(pyvips.GValue.gint_type, "loop", 0)
    image.set_type(pyvips.GValue.array_int_type, "delay", [round(1000 * one) for one in seconds])
    image.set_progress(True)
    image.signal_connect(
        "eval", lambda _, at: progress(count + count * min(at.percent, 100) // 100, 2 * count)
    )
    written: bytes = image.gifsave_buffer(dither=0, bitdepth=_BITS, effort=1)
    return written
