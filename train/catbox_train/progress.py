"""What a run shows while it is under way, and how it is stopped."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from catbox_train.config import TrainConfig


def command() -> str:
    """The command ``catbox`` as this process was started, to be typed again in the same folder."""
    started = sys.argv[0] if sys.argv else ""
    if Path(started).stem == "catbox":
        found = shutil.which("catbox")
        on_path = found is not None and Path(found).resolve() == Path(started).resolve()
        return "catbox" if on_path else shlex.quote(started)
    python = sys.orig_argv[0] if sys.orig_argv else sys.executable
    return f"{shlex.quote(python)} -m catbox_train"


class TrainingInterrupted(KeyboardInterrupt):
    """A run was stopped on request, after a checkpoint was written. Its text says how to go on."""

    def __init__(self, run: Path, decisions: int) -> None:
        super().__init__(
            f"Stopped after {decisions:,} decisions; everything is saved. "
            f"Go on with:  {command()} train --resume --output {shlex.quote(str(run))}"
        )
        self.run = run


class StopRequest:
    """Turns the first Ctrl-C or SIGTERM into ``requested``, so that the batch can be finished and saved.

    The second one acts as it always does. In a thread that cannot take signals, nothing is changed.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._ask) for number in self.SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class TrainingProgress:
    """A bar with decisions per second and the time left, and under it how the game goes in self-play."""

    def __init__(self, config: TrainConfig, decisions: int, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TextColumn("{task.fields[speed]} decisions/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=120,
        )
        total = config.num_updates * config.batch_size
        self._task = self._bar.add_task("", total=total, completed=decisions, speed="-")
        self._figures = Text(style="dim", no_wrap=True, overflow="ellipsis")
        self.shown = Group(self._bar, self._figures)

    def advance(self, row: Mapping[str, float]) -> None:
        """Show the row of metrics of one update."""
        speed = f"{row['speed/decisions_per_second']:,.0f}"
        self._bar.update(self._task, completed=row["decisions"], speed=speed)
        figures = [
            f"{name.removeprefix('game/').replace('_', ' ')} {value:.2f}"
            for name, value in row.items()
            if name.startswith("game/") and name != "game/rounds"
        ]
        self._figures.plain = "self-play: " + ", ".join(figures)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text)


@contextmanager
def training_progress(config: TrainConfig, decisions: int, console: Console) -> Iterator[TrainingProgress]:
    """Progress of a run that has come to ``decisions``, shown until the end of the block."""
    progress = TrainingProgress(config, decisions, console)
    with Live(progress.shown, console=console, refresh_per_second=2):
        yield progress
    if not console.is_terminal:  # the last state of the bar is all that was printed, without an end of line
        console.print()
