"""The figures of a run, one line of JSON for each update, and the same for TensorBoard.

RUN/metrics.jsonl     {"update": 1, "decisions": 65536, "learning/entropy": 2.1, "game/score": 0.4, ...}
RUN/tensorboard/      the same, drawn over decisions
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from catbox_agents.files import write_atomically

METRICS_FILE = "metrics.jsonl"


class MetricsLog:
    """Writes the figures of each update; a context manager that closes its files."""

    def __init__(self, run: Path, updates_done: int) -> None:
        """Go on after update ``updates_done`` (0: a new run); what was logged after it is dropped."""
        kept = [row for row in read_metrics(run) if row["update"] <= updates_done]
        write_atomically(run / METRICS_FILE, "".join(json.dumps(row) + "\n" for row in kept).encode())
        self._file = open(run / METRICS_FILE, "a", encoding="utf-8")  # noqa: SIM115  (open as long as the log)
        decisions = int(kept[-1]["decisions"]) if kept else 0
        purge = decisions + 1 if updates_done else None
        self._board = SummaryWriter(str(run / "tensorboard"), purge_step=purge)

    def write(self, row: Mapping[str, float]) -> None:
        """Log one update: ``update`` and ``decisions`` say where it stands, every other name is a figure."""
        self._begin = self._file.tell()
        self._put(row, row)

    def extend(self, row: Mapping[str, float], figures: Mapping[str, float]) -> None:
        """Add ``figures`` to ``row``, which was written last."""
        self._file.truncate(self._begin)
        self._put({**row, **figures}, {**figures, "decisions": row["decisions"]})

    def sync(self) -> None:
        """Bring what was written to the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def _put(self, row: Mapping[str, float], drawn: Mapping[str, float]) -> None:
        self._file.write(json.dumps(dict(row)) + "\n")
        self._file.flush()
        for name, value in drawn.items():
            if name not in ("update", "decisions"):
                self._board.add_scalar(name, value, int(row["decisions"]))

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._board.close()


def read_metrics(run: Path) -> list[dict[str, float]]:
    """The logged rows of a run, oldest first, up to the first line that is none: cut short by a kill, or damaged."""
    path = run / METRICS_FILE
    rows: list[dict[str, float]] = []
    if not path.exists():
        return rows
    for line in path.read_bytes().split(b"\n")[
        :-1
    ]:  # after the last whole line stands nothing, or the cut one
        try:
            row = json.loads(line.decode("utf-8"))
        except ValueError:
            break
        if not isinstance(row, dict) or not {"update", "decisions"} <= row.keys():
            break
        rows.append(row)
    return rows
