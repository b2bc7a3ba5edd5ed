"""What the tests tell workers to do. It is imported in their processes, by its name."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from catbox_train.algorithm import DivergedError
from catbox_train.self_play.worker import Worker


def meet(worker: Worker, times: int) -> tuple[int, int]:
    """Meet the others; number of the worker, and of its process."""
    for _ in range(times):
        worker.meeting.wait(worker.networks.number)
    return worker.networks.number, os.getpid()


def fail(worker: Worker, failing: int, how: str) -> None:
    """Meet the others for ever, but for worker ``failing``, which soon diverges, or whose process ends."""
    number = worker.networks.number
    for turn in range(1_000_000):
        if (number, turn) == (failing, 5):
            if how == "diverged":
                raise DivergedError("a number of this worker")
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "exits with a thread":
                threading.Thread(target=time.sleep, args=(600,)).start()
            sys.exit(3)
        worker.meeting.wait(number)


def die_beside_a_child(worker: Worker, dying: int, file: str) -> None:
    """Worker ``dying`` is killed, and a process that it has forked lives on with all that it had open.

    ``file`` gets the number of that process. The others wait for the worker.
    """
    number = worker.networks.number
    if number == dying:
        child = os.fork()
        if child == 0:
            time.sleep(120)
            os._exit(0)
        Path(file).write_text(str(child))
        os.kill(os.getpid(), signal.SIGKILL)
    worker.meeting.wait(number)


def signals_blocked(worker: Worker) -> set[int]:
    """The signals that are blocked in the main thread of the worker, which is the one that calls this."""
    assert threading.current_thread() is threading.main_thread()
    return {int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])}
