"""Files of named arrays in safetensors format (https://github.com/huggingface/safetensors#format).

    8 bytes      the length of the header, little-endian
    the header   JSON: {"NAME": {"dtype", "shape", "data_offsets": [first byte, end]}, ...}, and
                 "__metadata__": {TEXT: TEXT}
    the rest     the arrays, one after the other, little-endian

Only float32 and float16 are read, the latter converted to float32. A file that violates the format is refused before
memory is allocated for more than its header.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from catbox_agents.system.files import LARGEST_TEXT, parse_json

_METADATA = "__metadata__"
_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
#: The most dimensions of an array.
_MAX_AXES = 8
#: Alignment of the length of the header, so that the numbers after it can be read fast.
_ALIGNMENT = 8


@dataclass(frozen=True)
class Header:
    """``metadata``, and the file's description of its arrays, which ``read_arrays`` checks; they begin at ``start``."""

    metadata: dict[str, str]
    entries: dict[str, Any]
    start: int


def read_header(file: BinaryIO) -> Header:
    """The header of ``file``, read from its beginning.

    Raises ``ValueError`` if it is invalid, or larger than ``LARGEST_TEXT``.
    """
    first = file.read(8)
    if len(first) < 8:
        raise ValueError(f"it ends after {len(first)} bytes")
    length = int.from_bytes(first, "little")
    if length > LARGEST_TEXT:
        raise ValueError(f"its header has {length:,} bytes, expected at most {LARGEST_TEXT:,}")
    text = file.read(length)
    if len(text) < length:
        raise ValueError(f"it ends in its header, after {8 + len(text)} bytes")
    entries = parse_json(text.decode("utf-8"))
    if not isinstance(entries, dict):
        raise ValueError("its header is not a JSON object")
    metadata = entries.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError(f"its {_METADATA} is {metadata!r:.80}, expected texts")
    return Header(metadata, entries, 8 + length)


def read_arrays(file: BinaryIO, header: Header, most: int) -> dict[str, NDArray[np.float32]]:
    """All arrays of ``file``, in float32. Raises ``ValueError`` if there are more than ``most``, and for an invalid
    file."""
    if len(header.entries) > most:
        raise ValueError(f"it holds {len(header.entries)} arrays, expected at most {most}")
    length = file.seek(0, os.SEEK_END) - header.start
    places = _places(header.entries, length)
    file.seek(header.start)
    data = file.read(length)
    if len(data) != length:
        raise ValueError(f"it ends after {header.start + len(data):,} bytes")
    with np.errstate(invalid="ignore"):  # for NaN, which the network refuses
        return {
            name: np.frombuffer(data, dtype, math.prod(shape), first).reshape(shape).astype(np.float32)
            for name, (first, dtype, shape) in places.items()
        }


def _places(entries: Mapping[str, Any], length: int) -> dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]]:
    """Where each array begins, its type and its shape; together they must be the ``length`` bytes after the header."""
    found, spans = {}, []
    for name, entry in entries.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"{name!r:.80} is described by {entry!r:.80}")
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if dtype is None:
            raise ValueError(
                f"{name!r:.80} is of type {entry['dtype']!r:.80}, expected {' or '.join(_DTYPES)}"
            )
        shape, offsets = _integers(entry["shape"], least=1), _integers(entry["data_offsets"], least=0)
        if shape is None or len(shape) > _MAX_AXES:
            raise ValueError(f"{name!r:.80} is of shape {entry['shape']!r:.80}")
        size = math.prod(shape) * dtype.itemsize
        if offsets is None or len(offsets) != 2 or offsets[1] - offsets[0] != size:
            raise ValueError(
                f"{name!r:.80} is at {entry['data_offsets']!r:.80}, expected a span of {size:,} bytes"
            )
        found[name] = offsets[0], dtype, shape
        spans.append(offsets)
    end = 0
    for first, behind in sorted(spans):
        if first != end:
            raise ValueError(
                f"its arrays overlap or leave bytes out, {min(first, end):,} bytes after its header"
            )
        end = behind
    if end != length:
        raise ValueError(f"its arrays have {length:,} bytes, expected {end:,}")
    return found


def _integers(value: object, least: int) -> tuple[int, ...] | None:
    """``value`` as a tuple if it is a list of integers from ``least`` to the largest address, else None."""
    if not isinstance(value, list) or not all(type(n) is int and least <= n < 2**62 for n in value):
        return None
    return tuple(value)


def array_file_bytes(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """The content of a file of ``arrays``, float32 or float16."""
    header: dict[str, Any] = {_METADATA: dict(metadata)}
    parts, end = [], 0
    for name, array in arrays.items():
        part = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        parts.append(part.tobytes())
        first, end = end, end + len(parts[-1])
        header[name] = {"dtype": _NAMES[part.dtype], "shape": list(array.shape), "data_offsets": [first, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
