"""The progress bar of commands that take a while: games played, or pictures drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def games_progress(console: Console, what: str = "games") -> Iterator[Callable[[int, int | None], None]]:
    """Yield a callback (done, total) that updates a bar of ``what``; only a terminal shows it, until the block ends."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
