"""What the tests tell workers to do. It is imported in their processes, by its name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from catbox_agents.errors import AgentError
from catbox_train.algorithm import DivergedError
from catbox_train.self_play.worker import Worker


def fail(worker: Worker, failing: int, how: str, file: str) -> None:
    """Meet the others for ever, but for worker ``failing``, which soon raises an error, or whose process ends.

    One that is killed has forked a process before, which lives on with all that it had open; ``file`` gets its number.
    """
    number = worker.networks.number
    for turn in range(1_000_000):
        if (number, turn) == (failing, 5):
            if how == "diverged":
                raise DivergedError("a number of this worker")
            if how == "agent":
                raise AgentError("mine:Bot", KeyError("x"))
            if how == "killed":
                child = os.fork()
                if child == 0:
                    time.sleep(120)
                    os._exit(0)
                Path(file).write_text(str(child))
                os.kill(os.getpid(), signal.SIGKILL)
            sys.exit(3)
        worker.meeting.wait(number)
