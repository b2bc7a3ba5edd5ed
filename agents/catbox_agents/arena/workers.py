"""Plays blocks in separate processes. Each is a new interpreter, which ends when its parent is gone."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from catbox_agents.arena.results import Block
from catbox_agents.arena.seatings import Players, PlayTasks, Setup, Task
from catbox_agents.errors import portable

#: What a process says once it has started, which takes an import of the script that started it.
STARTED = "started"
#: What to do if it does not.
NO_START = (
    "a process of the arena ended with exit code 1 before it could play, see its error above: a new process imports "
    'the script that is run, so the script must call the arena inside  if __name__ == "__main__":'
)


def _work(connection: Connection) -> None:
    """The main function of a process: receive the setup, then play tasks until there are no more."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the arena has ended
        connection.send(STARTED)
        pickled, players = connection.recv(), None
        while True:
            task = connection.recv()
            try:
                players = players or Players(pickle.loads(pickled))
                answer: Any = task.play(players)
            except Exception as error:  # noqa: BLE001  (raised in the other process)
                answer = portable(error)
            connection.send(answer)


@contextmanager
def in_processes(setup: Setup, number: int) -> Iterator[PlayTasks]:
    """A function that plays tasks in ``number`` processes, which end with the block.

    It raises what `play_block` raises, and ``ChildProcessError`` if a process ends by itself or cannot start.
    """
    if multiprocessing.current_process().daemon:
        raise ChildProcessError(
            f"processes={number} in a process that may start none, such as one of multiprocessing.Pool: play without "
            "processes there, or start it with concurrent.futures.ProcessPoolExecutor"
        )
    processes: dict[Connection, Any] = {}
    started: set[Connection] = set()

    def play(tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
        left, playing = list(tasks)[::-1], dict[Connection, Task]()
        while left or playing:
            while left and len(playing) < number:
                connection = next((one for one in processes if one not in playing), None)
                if connection is None:
                    connection, process = _started(setup)
                    processes[connection] = process
                playing[connection] = left.pop()
                with suppress(BrokenPipeError, ConnectionResetError):  # noticed below
                    connection.send(playing[connection])
            for ready in wait(list(playing)):
                assert isinstance(ready, Connection)
                task = playing[ready]
                try:
                    answer = ready.recv()
                except (EOFError, ConnectionResetError):
                    processes[ready].join()
                    code = processes[ready].exitcode
                    if code == 1 and ready not in started:
                        raise ChildProcessError(NO_START) from None
                    how = (
                        f"by signal {-code} ({signal.Signals(-code).name})"
                        if code < 0
                        else f"with exit code {code}"
                    )
                    raise ChildProcessError(
                        f"a process of the arena ended {how} while it played {setup.who(task)}"
                    ) from None
                if isinstance(answer, Exception):
                    raise answer
                if answer == STARTED:
                    started.add(ready)
                else:
                    yield playing.pop(ready), answer

    try:
        yield play
    finally:
        for connection, process in processes.items():
            process.kill()
            process.join()
            connection.close()


def _started(setup: Setup) -> tuple[Connection, Any]:
    """A new process that has the setup, and the connection to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    with _for_new_processes():
        process.start()
    theirs.close()
    with suppress(BrokenPipeError, ConnectionResetError):  # noticed where the answer is missing
        ours.send(pickle.dumps(setup))
    return ours, process


@contextmanager
def _for_new_processes() -> Iterator[None]:
    """Processes started here ignore Ctrl-C, which the arena handles, and compute in one thread.

    They import nothing from the working directory that this process would not.
    """
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH")
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(dict.fromkeys(variables, "1"))
    # A new process inherits the blocked signals from its first instruction on. Starting the first process would also
    # start the resource tracker, which unblocks them; so start that before.
    masked = hasattr(signal, "pthread_sigmask")
    if masked:
        resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if masked else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
