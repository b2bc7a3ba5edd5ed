"""Plays blocks in separate processes, which can be killed when an agent does not answer.

Each process is a new interpreter. It writes to shared memory which agent it asks, so that a crash or a hang can be
attributed. It exits when its parent process is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from catbox_agents.arena.playing import forfeited_block, play_block
from catbox_agents.arena.referee import Watch
from catbox_agents.arena.results import Block
from catbox_agents.arena.setup import Setup, Task
from catbox_agents.arena.tables import SELF
from catbox_agents.errors import portable

#: How long after its time limit an agent may still answer, in seconds.
GRACE = 10.0
#: Seconds for a move in the warm-up game, in which code is compiled.
WARM_UP = 120.0
#: How long a process that has closed its connection may take to exit with its own exit code, in seconds.
_LAST_STEPS = 5.0
#: Seconds between two checks of the clocks.
_POLL = 0.25


class _Shared(Watch):
    """A watch in shared memory: the agent asked plus 1, or 0; since when; and its time limit.

    ``agents``: the arena's indices of the table's agents.
    """

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers
        self.agents: tuple[int, ...] = ()

    def asks(self, agent: int, seconds: float) -> None:
        self._numbers[1], self._numbers[2] = time.monotonic(), seconds
        self._numbers[0] = self.agents[agent] + 1

    def answered(self) -> None:
        self._numbers[0] = 0


def work(pickled: bytes, cold: frozenset[int], connection: Connection, numbers: Any) -> None:
    """The main function of a process: play tasks until there are no more. ``cold``: agents that get no warm-up."""
    watch = _Shared(numbers)
    try:
        setup: Setup = pickle.loads(pickled)
        if setup.move_time is not None:
            _warm_up(setup, cold, watch)
        connection.send(None)
        while True:
            task = connection.recv()
            watch.agents = setup.tables[task.table].agents
            try:
                answer: Any = play_block(setup, task, watch)
            except Exception as error:  # noqa: BLE001  (raised in the other process)
                answer = portable(error)
            connection.send(answer)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the arena has ended


def _warm_up(setup: Setup, cold: frozenset[int], watch: _Shared) -> None:
    """Let each agent, except those of ``cold``, play a game that does not count."""
    for number, table in enumerate(setup.tables):
        if table.kind == SELF and table.agents[0] not in cold:
            watch.agents = table.agents
            play_block(setup, Task(number, 0, 1), watch, timed=False)


@dataclass
class _Worker:
    process: Any
    connection: Connection
    numbers: Any
    task: Task | None = None
    ready: bool = False

    def asked(self) -> tuple[int, bool] | None:
        """The agent being asked, and whether it has exceeded its time; None while none is."""
        agent, since, limit = self.numbers[:]
        most = limit + GRACE if self.ready else WARM_UP
        return (int(agent) - 1, time.monotonic() > since + most) if agent else None


class Workers:
    """``number`` processes that play the tasks of an arena. A context manager, which ends them at its exit."""

    def __init__(self, setup: Setup, number: int) -> None:
        self._setup, self._number = setup, number
        self._pickled = pickle.dumps(setup)
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        #: Agents that did not survive the warm-up.
        self._cold: frozenset[int] = frozenset()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.connection.close()
        self._workers = []

    def play(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
        """Each task with its block, in the order in which they finish."""
        left = iter(tasks)
        missing = False
        while True:
            while not missing:
                idle = next((worker for worker in self._workers if worker.task is None), None)
                if idle is None and len(self._workers) == self._number:
                    break
                task = next(left, None)
                if task is None:
                    missing = True
                else:
                    self._give(idle or self._start(), task)
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy:
                return
            ready = wait([worker.connection for worker in busy], _POLL)
            for worker in busy:
                task = worker.task
                assert task is not None  # busy
                if worker.connection in ready:
                    block = self._heard(worker, task)
                else:
                    asked = worker.asked()
                    block = self._ended(worker, task, asked[0], True) if asked and asked[1] else None
                if block is not None:
                    yield task, block

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        numbers = self._context.RawArray("d", 3)
        process = self._context.Process(
            target=work, args=(self._pickled, self._cold, theirs, numbers), daemon=True
        )
        with _for_new_processes():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours, numbers))
        return self._workers[-1]

    def _give(self, worker: _Worker, task: Task) -> None:
        worker.task = task
        if worker.ready:
            with suppress(
                BrokenPipeError, ConnectionResetError
            ):  # `_heard` notices when the process has ended
                worker.connection.send(task)

    def _heard(self, worker: _Worker, task: Task) -> Block | None:
        """The block that a process has finished; None if it has only become ready."""
        try:
            answer = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            asked = worker.asked()
            return self._ended(worker, task, asked[0] if asked else None, False)
        if not worker.ready:
            worker.ready = True
            self._give(worker, task)
            return None
        if isinstance(answer, Exception):
            raise answer
        worker.task = None
        block: Block = answer
        return block

    def _ended(self, worker: _Worker, task: Task, agent: int | None, late: bool) -> Block | None:
        """The block of a process that has ended, or is killed here, while ``agent`` was asked.

        None if that was in the warm-up: another process then gets the task. Raises ``ChildProcessError`` if no agent
        was asked.
        """
        if not late:
            worker.process.join(_LAST_STEPS)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        code = worker.process.exitcode
        how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
        if agent is None:
            raise ChildProcessError(f"a process of the arena ended {how} while no agent was asked")
        if not worker.ready:
            self._cold |= {agent}
            self._give(self._start(), task)
            return None
        name = self._setup.names[agent]
        if late:
            why = (
                f"agent {name!r} had not answered {GRACE:g} s after the limit of {self._setup.move_time:g} s for a "
                "move, so its process was ended"
            )
        else:
            why = f"agent {name!r} was asked when its process ended {how}"
        place = self._setup.tables[task.table].agents.index(agent)
        return forfeited_block(self._setup, task, place, why + "; it forfeits all games of the block", late)


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
