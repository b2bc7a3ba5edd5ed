"""The metrics of a run, one line of JSON per update, and the same for TensorBoard.

RUN/metrics.jsonl     {"update": 1, "decisions": 65536, "learning/entropy": 2.1, "game/score": 0.4, ...}
RUN/tensorboard/      the same, plotted over decisions
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from io import FileIO
from pathlib import Path

from catbox_agents.system.files import WriteError, parse_json, write_all, write_atomically, writing
from catbox_env.core.checks import short_repr
from catbox_train.algorithm import DivergedError
from catbox_train.runs.tensorboard import EventFile

METRICS_FILE = "metrics.jsonl"
#: Prefixes of the metrics of an algorithm.
PREFIXES = ("learning/", "game/")
#: The most damaged lines that the notice lists.
MAX_LINES = 10


class MetricsLog:
    """Writes the metrics of each update; a context manager that closes its files.

    ``rows``: those of the updates before; ``notice`` says which damaged lines were left out and where they are kept,
    None if there were none.
    """

    def __init__(self, run: Path, updates_done: int) -> None:
        """Continue after update ``updates_done`` (0: a new run); what was logged after it is dropped.

        Raises ``WriteError``, as the methods do.
        """
        self.path = run / METRICS_FILE
        data = _content(self.path)
        rows, damaged = parse_metrics(data)
        self.notice: str | None = None
        if damaged:
            copy = _free_name(run)
            write_atomically(copy, data)
            numbers = ", ".join(map(str, damaged[:MAX_LINES])) + (", ..." if len(damaged) > MAX_LINES else "")
            self.notice = (
                f"{self.path}: left out damaged lines ({numbers}); the file as it was is kept as {copy.name}"
            )
        kept = [row for row in rows if row["update"] <= updates_done]
        lines = [_line(row) for row in kept]
        write_atomically(self.path, b"".join(lines))
        self.rows = kept
        self._begin = sum(map(len, lines[:-1]))
        decisions = int(kept[-1]["decisions"]) if kept else 0
        purge = decisions + 1 if updates_done else None
        self._board = EventFile(run / "tensorboard", purge)
        try:
            self._file = self._opened()
        except WriteError:
            self._board.close()
            raise

    def write(self, row: Mapping[str, float]) -> None:
        """Log one update: ``update`` and ``decisions`` locate it, every other name is a metric."""
        with writing(self.path):
            self._begin = self._file.seek(0, os.SEEK_END)
            write_all(self._file, _line(row))
        self._draw(row, row)

    def extend(self, row: Mapping[str, float], metrics: Mapping[str, float]) -> None:
        """Add ``metrics`` to ``row``, the last one written."""
        with writing(self.path):
            self._file.close()
            before = self.path.read_bytes()[: self._begin]
        write_atomically(self.path, before + _line({**row, **metrics}))
        self._file = self._opened()
        self._draw(row, metrics)

    def sync(self) -> None:
        """Flush what was written to disk."""
        with writing(self.path):
            os.fsync(self._file.fileno())

    def _opened(self) -> FileIO:
        with writing(self.path):  # unbuffered: an error is raised by the line that it concerns
            return open(self.path, "ab", buffering=0)

    def _draw(self, row: Mapping[str, float], metrics: Mapping[str, float]) -> None:
        drawn = {name: value for name, value in metrics.items() if name not in ("update", "decisions")}
        self._board.add(drawn, int(row["decisions"]))

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._board.close()


def checked_metrics(metrics: Mapping[str, float], algorithm: str) -> dict[str, float]:
    """What an algorithm's ``update`` returned, as names and finite floats.

    Raises ``DivergedError`` for a number that is not finite, ``ValueError`` for a name or value that ``update`` may not
    return; both name the metric.
    """
    if not isinstance(metrics, Mapping):
        raise ValueError(
            f"{algorithm}: update returned {short_repr(metrics)}, expected a mapping of names to numbers"
        )
    checked = {}
    for name, value in metrics.items():
        if not isinstance(name, str) or not name.startswith(PREFIXES):
            raise ValueError(
                f"{algorithm}: update returned a metric named {short_repr(name)}; expected a name that begins with "
                f"{' or '.join(PREFIXES)}"
            )
        try:
            number = float("" if isinstance(value, str | bytes) else value)
        except (TypeError, ValueError, RuntimeError, OverflowError):  # torch raises RuntimeError for an array
            raise ValueError(
                f"{algorithm}: update returned {short_repr(value)} as the metric {name}; expected a number; leave the "
                "metric out if there is none"
            ) from None
        if not math.isfinite(number):
            raise DivergedError(f"the metric {name} is not finite")
        checked[name] = number
    return checked


def read_metrics(run: Path) -> list[dict[str, float]]:
    """The logged rows of a run, oldest first, without damaged lines."""
    return parse_metrics(_content(run / METRICS_FILE))[0]


def parse_metrics(data: bytes) -> tuple[list[dict[str, float]], list[int]]:
    """The rows in the bytes of ``metrics.jsonl``, and the numbers of the damaged lines, from 1.

    An incomplete last line, which a killed run was writing, does not count as damaged.
    """
    *lines, last = data.split(b"\n")
    rows = [_row(line) for line in lines]
    damaged = [number for number, row in enumerate(rows, start=1) if row is None]
    return [row for row in [*rows, _row(last)] if row is not None], damaged


def _line(row: Mapping[str, float]) -> bytes:
    return (json.dumps(dict(row)) + "\n").encode()


def _row(line: bytes) -> dict[str, float] | None:
    """The metrics of one line; None if it is damaged."""
    try:
        row = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(row, dict) or not all(type(row.get(name)) is int for name in ("update", "decisions")):
        return None
    return row if all(_is_metric(value) for value in row.values()) else None


def _is_metric(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return type(value) is int and abs(value) < 1 << 63


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise OSError(
            f"{path} cannot be read ({error.strerror or error}): make it a readable file, or move it away to "
            "continue without the metrics so far"
        ) from error


def _free_name(run: Path) -> Path:
    """The first of ``metrics.damaged-1.jsonl``, ``metrics.damaged-2.jsonl`` ... that does not exist."""
    number = 1
    while (path := run / f"metrics.damaged-{number}.jsonl").exists():
        number += 1
    return path
