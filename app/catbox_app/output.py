"""What a command checks before it starts, its progress, and standard streams that never end the work or lose a result.

`main` reads this file before it is known that rich is installed, and before Numba is loaded.
"""

from __future__ import annotations

import errno
import importlib.util
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Seconds between lines of progress where no terminal shows a bar.
LINE_SECONDS = 10.0


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

    Invalid bytes on ``sys.stdin`` are read as replacement characters: a person is asked again.

    A character that the encoding lacks becomes "?". When the reader of a pipe has gone or a disk is full, the rest is
    dropped; `finish` tells of the disk. A stream that was closed before the start leads nowhere.
    """
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
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
def games_progress(what: str = "games") -> Iterator[Callable[[int, int | None], None]]:
    """Yield a callback (done, total) that shows the progress of ``what`` on standard error until the block ends: a bar
    on a terminal, elsewhere a line now and then."""
    from rich.console import Console  # may not be installed
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines_of(what)
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines_of(what: str) -> Callable[[int, int | None], None]:
    """A callback (done, total) that writes a line on standard error every `LINE_SECONDS`."""
    last = time.monotonic()

    def show(done: int, total: int | None) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            print(f"{what}: {done:,}" + (f" of {total:,}" if total else ""), file=sys.stderr)

    return show


def require(command: str, packages: Sequence[str], extra: str) -> None:
    """Raise ``ValueError``, with what to install, unless all ``packages`` can be imported."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        from catbox_env.core.extras import install_line  # loads Numba

        raise ValueError(
            f"{command} needs {', '.join(missing)}, which this installation leaves out.\n{install_line(extra)}"
        )


def check_writable(path: Path | None, replaces: bool = True) -> None:
    """Raise ValueError unless a file can be written at ``path``, tested with a temporary file beside it.

    None: nothing is written. ``replaces``: whether it may replace another file.
    """
    if path is None:
        return
    if not replaces and path.exists():
        raise ValueError(f"{path} already exists, and a game would replace it: give another name")
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file in it")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write {path}: {error.strerror}; give a file in an existing folder that you may write to"
        ) from None
