"""Files that are there whole or not at all, and files of others, read without trusting their sizes or contents."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any

#: Bytes of the largest header or file of settings that is read.
LARGEST_TEXT = 1 << 20

_REMEDIES = {
    errno.ENOENT: "its folder is not there (any more)",
    errno.EEXIST: "a file stands where a folder is needed: move it away",
    errno.ENOTDIR: "a file stands where a folder is needed: move it away",
    errno.EISDIR: "a folder stands where a file is needed: move it away",
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there",
    errno.EFBIG: "allow larger files there",
    errno.EACCES: "give yourself the right to write there",
    errno.EPERM: "give yourself the right to write there",
    errno.EROFS: "give yourself the right to write there",
}


class WriteError(OSError):
    """A file or folder could not be written. The text names it, and says why and what to do."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise ``WriteError``, which names ``path``, for any ``OSError`` of the block."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        remedy = f" ({_REMEDIES[error.errno]})" if error.errno in _REMEDIES else ""
        raise WriteError(f"cannot write {path}: {error.strerror or error}{remedy}") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that ``path`` holds either what it held before or all of it, whatever happens.

    Raises ``WriteError``.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.writing")
    with writing(path):
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_all(file: RawIOBase, data: bytes) -> None:
    """Write all of ``data`` to an unbuffered file, which may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def read_text(path: Path) -> str:
    """The text of a small file. Raises ``ValueError`` when it is larger than ``LARGEST_TEXT`` or no UTF-8."""
    with open(path, "rb") as file:
        data = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise ValueError(f"{path.name} is larger than {LARGEST_TEXT:,} bytes")
    return data.decode("utf-8")


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises ``ValueError`` for anything else, nesting without end and NaN among it."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def check_format(what: str, found: object, expected: str, remedy: str) -> None:
    """Raise ``ValueError`` unless a file, named by ``what``, is of the format ``expected``, "<kind>-<number>".

    A newer format asks for an upgrade, an older one for an older version; ``remedy`` is for a file that has neither.
    """
    if found == expected:
        return
    kind, _, number = expected.rpartition("-")
    match = re.fullmatch(rf"{re.escape(kind)}-([0-9]{{1,9}})", found) if isinstance(found, str) else None
    shown = repr(found)[:80]
    if match is None:
        raise ValueError(f"{what} is of format {shown}, expected {expected!r}: {remedy}")
    if int(match[1]) > int(number):
        advice = "a newer version of catbox wrote it; upgrade yours, with pip install --upgrade catbox-env"
    else:
        advice = "an older version of catbox wrote it; use that version, or train anew"
    raise ValueError(f"{what} is of format {shown}, expected {expected!r}: {advice}")
