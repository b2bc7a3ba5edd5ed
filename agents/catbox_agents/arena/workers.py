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
from catbox_agents.arena.tables import Players, Setup, Task, play_block
from catbox_agents.errors import portable


def work(connection: Connection) -> None:
    """The main function of a process: receive the setup, then play tasks until there are no more."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the arena has ended
        pickled, players = connection.recv(), None
        while True:
            task = connection.recv()
            try:
                if players is None:
                    setup: Setup = pickle.loads(pickled)
                    players = Players(setup)
                    if setup.move_time is not None:
                        players.warm_up()
                answer: Any = play_block(setup, players, task)
            except Exception as error:  # noqa: BLE001  (raised in the other process)
                answer = portable(error)
            connection.send(answer)


class Workers:
    """``number`` processes that play the tasks of an arena. A context manager, which ends them at its exit."""

    def __init__(self, setup: Setup, number: int) -> None:
        self._setup, self._number = setup, number
        self._processes: dict[Connection, Any] = {}
        self._playing: dict[Connection, Task] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for connection, process in self._processes.items():
            process.kill()
            process.join()
            connection.close()

    def play(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
        """Each task with its block, in the order in which they finish.

        Raises what `play_block` raises, and ``ChildProcessError`` if a process ends by itself.
        """
        left = list(tasks)[::-1]
        while left or self._playing:
            while left and len(self._playing) < self._number:
                idle = next((one for one in self._processes if one not in self._playing), None)
                connection = self._start() if idle is None else idle
                self._playing[connection] = left.pop()
                with suppress(BrokenPipeError, ConnectionResetError):  # noticed below
                    connection.send(self._playing[connection])
            for ready in wait(list(self._playing)):
                assert isinstance(ready, Connection)
                task = self._playing.pop(ready)
                try:
                    answer = ready.recv()
                except (EOFError, ConnectionResetError):
                    raise ChildProcessError(self._ended(ready, task)) from None
                if isinstance(answer, Exception):
                    raise answer
                yield task, answer

    def _ended(self, connection: Connection, task: Task) -> str:
        process = self._processes[connection]
        process.join()
        code = process.exitcode
        how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
        names = [repr(self._setup.names[place]) for place in self._setup.tables[task.table].agents]
        return f"a process of the arena ended {how} while it played {' and '.join(names)}"

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs,), daemon=True)
        with _for_new_processes():
            process.start()
        theirs.close()
        with suppress(BrokenPipeError, ConnectionResetError):  # noticed where the answer is missing
            ours.send(pickle.dumps(self._setup))
        self._processes[ours] = process
        return ours


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
