"""What commands show: standard streams whose failures never end the work or lose a result, and the progress bar."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class LenientOutput(io.RawIOBase):
    """Passes bytes on to ``below`` until that fails, and drops them from then on.

    Attributes: ``error``: the first failure.
    """

    def __init__(self, below: Any) -> None:
        self.below = below
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return bool(self.below.isatty())

    def fileno(self) -> int:
        return int(self.below.fileno())

    def write(self, data: Any, /) -> int:
        if self.error is None:
            try:
                return int(self.below.write(data))
            except OSError as error:
                self.error = error
        return len(data)


def make_lenient() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by streams whose writes never fail.

    A character that the encoding lacks becomes "?". When the reader of a pipe has gone or a disk is full, the rest is
    dropped; `finish` tells of the disk. A stream that was closed before the start leads nowhere.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the null device also takes its number, which the next file would have otherwise
            below: Any = open(os.devnull, "wb", buffering=0)  # noqa: SIM115
        else:
            stream.flush()
            below = getattr(stream.buffer, "raw", stream.buffer)
        lenient = io.TextIOWrapper(
            io.BufferedWriter(LenientOutput(below)),
            encoding=getattr(stream, "encoding", "utf-8"),
            errors="backslashreplace" if name == "stderr" else "replace",
            line_buffering=name == "stderr" or below.isatty(),
            write_through=getattr(stream, "write_through", False),
        )
        setattr(sys, name, lenient)


def finish() -> int:
    """Write out what `make_lenient` has buffered. Returns the exit code: 1 if some of it was lost, such as on a full
    disk, and then says so; 0 also if the reader of a pipe has gone."""
    sys.stdout.flush()
    error = sys.stdout.buffer.raw.error  # type: ignore[union-attr]  # it is a LenientOutput
    if error is None or error.errno == errno.EPIPE:
        return 0
    print(f"catbox: standard output: {error.strerror}", file=sys.stderr)
    return 1


@contextmanager
def games_progress(console: Console, what: str = "games") -> Iterator[Callable[[int, int | None], None]]:
    """Yield a callback (done, total) that updates a bar of ``what``; only a terminal shows it, until the block ends."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
