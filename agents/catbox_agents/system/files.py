"""Atomic writes, and reads that do not trust the size or the content of a file."""

from __future__ import annotations

import errno
import glob
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

#: The largest header or settings file that is read, in bytes.
LARGEST_TEXT = 1 << 20

_REMEDIES = {
    errno.ENOENT: "its folder does not exist",
    errno.EEXIST: "a file stands where a folder is needed: move it away",
    errno.ENOTDIR: "a file stands where a folder is needed: move it away",
    errno.EISDIR: "a folder stands where a file is needed: move it away",
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there",
    errno.EFBIG: "allow larger files there",
    errno.EACCES: "give yourself the right to write there",
    errno.EPERM: "give yourself the right to write there",
    errno.EROFS: "give yourself the right to write there",
    errno.ENOLCK: "its file system cannot lock files: use one that can, such as a local disk",
    errno.EOPNOTSUPP: "its file system cannot lock files: use one that can, such as a local disk",
}


class WriteError(OSError):
    """A file or folder could not be written. The message names it and says why and what to do."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn any ``OSError`` in the block into a ``WriteError`` that names ``path``."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        remedy = f" ({_REMEDIES[error.errno]})" if error.errno in _REMEDIES else ""
        reason = " ".join((error.strerror or str(error)).split())  # HDF5 has several lines
        raise WriteError(f"cannot write {path}: {reason}{remedy}") from error


def writing_name(path: Path) -> Path:
    """The file that stands beside ``path`` while this process writes it."""
    return path.with_name(f".{path.name}.{os.getpid()}.writing")


def unfinished(path: Path) -> list[Path]:
    """The files by `writing_name` that processes of this machine left when they were killed."""
    pattern = f".{glob.escape(path.name)}.*.writing"
    return [
        file for file in path.parent.glob(pattern) if not _is_running(file.suffixes[-2].removeprefix("."))
    ]


def _is_running(process: str) -> bool:
    """Whether a process with this number runs; where that cannot be found out, yes."""
    if os.name == "nt" or not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


@contextmanager
def writing_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file for the new content of ``path``, which always holds either its old content or all of the new.

    What processes that were killed have left of it is removed. Raises ``WriteError``.
    """
    temporary = writing_name(path)
    with writing(path):
        for leftover in unfinished(path):
            leftover.unlink(missing_ok=True)
        try:
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, which always holds either its old content or all of ``data``.

    Raises ``WriteError``.
    """
    with writing_atomically(path) as file:
        file.write(data)


def write_all(file: RawIOBase, data: bytes) -> None:
    """Write all of ``data`` to an unbuffered file, which may accept only part of it at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def read_text(path: Path) -> str:
    """The text of a small file. Raises ``ValueError`` if it is larger than ``LARGEST_TEXT`` or not UTF-8."""
    with open(path, "rb") as file:
        data = file.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise ValueError(f"{path.name} is larger than {LARGEST_TEXT:,} bytes, the limit")
    return data.decode("utf-8")


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises ``ValueError`` for invalid JSON, including NaN, and for too deep nesting."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not allowed in JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def check_format(what: str, found: object, expected: str, remedy: str) -> None:
    """Raise ``ValueError`` unless the format ``found`` in the file ``what`` is ``expected``: "<kind>-<number>".

    The message advises to upgrade for a newer format, to use an older version for an older one, else ``remedy``.
    """
    if found == expected:
        return
    kind, _, number = expected.rpartition("-")
    match = re.fullmatch(rf"{re.escape(kind)}-([0-9]{{1,9}})", found) if isinstance(found, str) else None
    shown = repr(found)[:80]
    if match is None:
        raise ValueError(f"{what} has format {shown}, expected {expected!r}: {remedy}")
    if int(match[1]) > int(number):
        advice = "a newer version of catbox wrote it; upgrade yours"
    else:
        advice = "an older version of catbox wrote it; use that version, or train again"
    raise ValueError(f"{what} has format {shown}, expected {expected!r}: {advice}")
