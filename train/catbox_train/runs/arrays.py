"""Named arrays in one file, as ``numpy.savez`` writes it, read back without trusting what the file says about itself.

Names, types, shapes and so the sizes must be those that the reader expects; nothing in the file is compressed, so
nothing can expand.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from catbox_agents.files import writing

#: Bytes of a file besides the numbers: for each array, and for the whole.
_OVERHEAD = 2048

#: What reading a damaged zip file or array header raises.
_DAMAGE = (
    *(ValueError, TypeError, KeyError, IndexError, EOFError, RuntimeError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write ``arrays`` and flush them to disk. Raises ``WriteError``."""
    with writing(path), open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
        os.fsync(file.fileno())


def read_arrays(path: Path, like: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays with the names, types and shapes of ``like``.

    Raises ``ValueError`` for a file that holds anything else, before anything larger is read; ``OSError`` for one that
    cannot be read.
    """
    size, largest = path.stat().st_size, sum(array.nbytes + _OVERHEAD for array in like.values()) + _OVERHEAD
    if size > largest:
        raise ValueError(f"{path.name} has {size:,} bytes, expected at most {largest:,}")
    try:
        with zipfile.ZipFile(path) as content:
            found = sorted(content.namelist())
            expected = sorted(f"{name}.npy" for name in like)
            if found != expected:
                differing = sorted(set(found) ^ set(expected)) or found
                raise ValueError(
                    f"these arrays are missing, unknown or duplicated: {', '.join(differing)[:200]}"
                )
            return {name: _read_array(content, name, array) for name, array in like.items()}
    except _DAMAGE as error:
        raise ValueError(f"{path.name}: {error}") from error


def _read_array(content: zipfile.ZipFile, name: str, like: np.ndarray) -> np.ndarray:
    info = content.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed, which training never writes")
    header = io.BytesIO()  # compared, not parsed: numpy parses a header as Python source
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(like))
    expected = header.getvalue()
    with content.open(info) as file:
        if file.read(len(expected)) != expected:
            raise ValueError(f"{name} does not have the type and shape {like.dtype} {like.shape}")
        data = file.read(like.nbytes)
        if len(data) != like.nbytes or file.read(1):
            raise ValueError(f"{name} does not have the expected {like.nbytes:,} bytes")
    if like.dtype == np.bool_ and max(data, default=0) > 1:
        raise ValueError(f"{name} holds a byte that is neither true nor false")
    return np.frombuffer(data, like.dtype).reshape(like.shape).copy()


def name_of_not_finite(arrays: Mapping[str, np.ndarray]) -> str | None:
    """The name of the first array that holds a number that is not finite, None if there is none."""
    for name, array in arrays.items():
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            return name
    return None
