"""What a run shows while in progress, and how it is stopped."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

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

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_train.algorithm import DivergedError
from catbox_train.config import TrainConfig
from catbox_train.runs.folder import CONFIG_FILE

Found = TypeVar("Found")


def command() -> str:
    """The command ``catbox`` as it started this process, to be typed again in the same folder."""
    started = sys.argv[0] if sys.argv else ""
    if Path(started).stem == "catbox":
        found = shutil.which("catbox")
        on_path = found is not None and Path(found).resolve() == Path(started).resolve()
        return "catbox" if on_path else shlex.quote(started)
    python = sys.orig_argv[0] if sys.orig_argv else sys.executable
    return f"{shlex.quote(python)} -m catbox_app"


def resume_command(run: Path, options: Sequence[str]) -> str:
    """The command that resumes a run; ``options`` are those that its folder does not hold, such as ``--trust``."""
    return f"{command()} {shlex.join(['train', '--resume', '--output', str(run), *options])}"


def what_is_kept(run: Path) -> str:
    """What is left of a run that stopped in the middle of an update."""
    last = latest_checkpoint(run)
    if last is None:
        return "there is no checkpoint yet, the run starts from the beginning"
    return f"the work since the last checkpoint, {last}, is lost"


class TrainingInterrupted(KeyboardInterrupt):
    """A run was stopped on request, after a checkpoint was written. The text says how to resume.

    ``decisions``: 0 if nothing has been learned, None if it is not known yet. ``signal``: the number of the signal.
    """

    def __init__(
        self,
        run: Path,
        decisions: int | None,
        options: Sequence[str] = (),
        number: int = signal.SIGINT,
    ) -> None:
        text = "Stopped before the run began; nothing is written."
        if (run / CONFIG_FILE).exists():
            after = "" if decisions is None else f" after {decisions:,} decisions"
            text = (
                f"Stopped{after}; everything is saved." if decisions != 0 else "Stopped in the first update."
            )
            text += f" Resume with:  {resume_command(run, options)}"
        super().__init__(text)
        self.run, self.signal = run, int(number)


class TrainingAborted(KeyboardInterrupt):
    """A run was stopped at once, in the middle of an update. The text says what is kept and how to resume."""

    def __init__(self, run: Path, options: Sequence[str] = (), number: int = signal.SIGINT) -> None:
        go_on = resume_command(run, options)
        super().__init__(f"Stopped at once; {what_is_kept(run)}. Resume with:  {go_on}")
        self.run, self.signal = run, int(number)


#: Seconds between lines of progress where no terminal shows a bar.
LINE_SECONDS = 10.0
#: The largest learning rate that is recommended after a run has diverged.
LEARNING_RATE = 1e-3


class TrainingDiverged(RuntimeError):
    """A loss, gradient or weight is not finite. Nothing of that update is saved; the text says what is."""

    def __init__(
        self,
        run: Path,
        update: int,
        what: str,
        learning_rate: float | None = None,
        options: Sequence[str] = (),
    ) -> None:
        last = latest_checkpoint(run)
        kept = "There is no checkpoint yet, and nothing of the update is saved"
        if last:
            kept = f"The last good checkpoint is {last}; nothing after it is saved"
        message = f"training diverged in update {update}: {what}. {kept}. Resuming would end here again."
        if learning_rate:
            smaller = f"learning_rate={min(learning_rate / 10, LEARNING_RATE):g}"
            again = shlex.join(["train", "--config", str(run / "config.yaml"), "--set", smaller, *options])
            message += (
                f" Smaller steps may help: start a run in another folder, such as:  {command()} {again}"
            )
        super().__init__(message)
        self.run, self.update = run, update


#: What is said at the first Ctrl-C.
ACKNOWLEDGED = b"\nStopping as soon as everything is saved. Ctrl-C again stops at once.\n"


class Stopped(Exception):
    """Work was ended by the signal of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = number


class StopRequest:
    """Turns the first Ctrl-C, SIGTERM or SIGHUP into ``requested``, so that everything can be saved.

    Ctrl-C is acknowledged at once, on standard error. A second signal has its usual effect: Ctrl-C raises
    ``KeyboardInterrupt``. Signals that the process was started to ignore (``nohup``) stay ignored. Outside the main
    thread, nothing changes.
    """

    SIGNALS = tuple(
        getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
    )

    def __init__(self) -> None:
        self.requested: int | None = None  # the number of the signal
        self._raises = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for number in self.SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        self.restore()

    def repeatable(self, work: Callable[[], Found]) -> Found:
        """``work()``, which a resumed run does again: a signal, also one that came before, ends it at once.

        Raises `Stopped` then. What ``work`` has changed is to be discarded.
        """
        try:
            try:
                self._raises = True
                if self.requested is None:
                    return work()
            finally:
                self._raises = False
        except DivergedError:
            raise
        except (KeyboardInterrupt, Exception):  # what is interrupted may raise an error of its own
            if self.requested is None:
                raise
        raise Stopped(self.requested)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.requested = number
        self.restore()
        if number == signal.SIGINT:
            # Written past every buffer: the signal may come in the middle of a write, or when the terminal is gone.
            with suppress(OSError):
                os.write(2, ACKNOWLEDGED)
        if self._raises:
            raise KeyboardInterrupt

    def restore(self) -> None:
        """Restore the previous signal handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


def show(console: Console, what: Any) -> None:
    """Print a text or a table on ``console``, with a ? for what its encoding lacks.

    A terminal that was closed, or a full disk behind it, is no reason to end a run.
    """
    if console.quiet:
        return
    with console.capture() as captured:
        console.print(what, soft_wrap=isinstance(what, str), markup=False, highlight=False)
    encoding = getattr(console.file, "encoding", None) or "utf-8"
    with suppress(OSError):
        console.file.write(captured.get().encode(encoding, "replace").decode(encoding))
        console.file.flush()


class TrainingProgress:
    """A bar with decisions per second and the time left, and below it the metrics of the game in self-play."""

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
        self._task = self._bar.add_task("", total=config.total_decisions, completed=decisions, speed="-")
        self._total, self._last_line = config.total_decisions, time.monotonic()
        self._metrics = Text(style="dim", no_wrap=True, overflow="ellipsis")
        self.shown = Group(self._bar, self._metrics)

    def advance(self, row: Mapping[str, float]) -> None:
        """Show the row of metrics of one update."""
        speed = f"{row['speed/decisions_per_second']:,.0f}"
        self._bar.update(self._task, completed=row["decisions"], speed=speed)
        metrics = [
            f"{name.removeprefix('game/').replace('_', ' ')} {value:.2f}"
            for name, value in row.items()
            if name.startswith("game/") and name != "game/rounds"
        ]
        self._metrics.plain = "self-play: " + ", ".join(metrics)
        if not self._console.is_terminal and time.monotonic() - self._last_line >= LINE_SECONDS:
            self.say(f"{row['decisions']:,} of {self._total:,} decisions, {speed} a second")

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._last_line = time.monotonic()
        show(self._console, text)


@contextmanager
def training_progress(config: TrainConfig, decisions: int, console: Console) -> Iterator[TrainingProgress]:
    """Progress of a run that has reached ``decisions``, shown until the end of the block.

    Without a terminal there is no bar, but a line now and then.
    """
    progress = TrainingProgress(config, decisions, console)
    if decisions:
        progress.say(f"Resuming at {decisions:,} of {config.total_decisions:,} decisions")
    if not console.is_terminal:
        yield progress
        return
    with Live(progress.shown, console=console, refresh_per_second=2):
        yield progress
