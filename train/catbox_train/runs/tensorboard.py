"""Metrics for TensorBoard, written by the calling thread: errors are raised, not lost in a thread of the library."""

from __future__ import annotations

import io
import itertools
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from catbox_agents.system.files import WriteError, write_all, writing

_NUMBER = itertools.count()


class EventFile:
    """A new event file in a folder; ``close`` it at the end. Every method raises ``WriteError``."""

    def __init__(self, folder: Path, purge_step: int | None) -> None:
        """With ``purge_step``, TensorBoard ignores what earlier files in the folder hold from that step on."""
        name = f"events.out.tfevents.{time.time():.0f}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBER)}"
        self.path = folder / name
        with writing(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115  (open for the whole run)
        try:
            self._put(Event(file_version="brain.Event:2"))
            if purge_step is not None:
                self._put(Event(step=purge_step, session_log=SessionLog(status=SessionLog.START)))
        except WriteError:
            self._file.close()
            raise

    def add(self, metrics: Mapping[str, float], step: int) -> None:
        """Add each of ``metrics`` at ``step``."""
        values = [Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
        self._put(Event(step=step, summary=Summary(value=values)))

    def close(self) -> None:
        """Close the file."""
        with writing(self.path):
            self._file.close()

    def _put(self, event: Event) -> None:
        event.wall_time = time.time()
        record = io.BytesIO()
        RecordWriter(record).write(event.SerializeToString())
        with writing(self.path):
            write_all(self._file, record.getvalue())
