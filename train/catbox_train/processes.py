"""Several processes that play and learn together: on this machine, or wherever Ray starts them.

The run is in process 0. The others repeat what it does: they make the same algorithm, and the same calls of its
methods. In `catbox_train.learner`, all of them sum their gradients over their `catbox_train.group`.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO, Any, Protocol

import torch
import torch.distributed as dist

from catbox_agents.errors import portable
from catbox_agents.system.interpreter import python_command
from catbox_env import Game
from catbox_train.algorithm import Algorithm, Metrics, Policy, State
from catbox_train.config import TrainConfig
from catbox_train.devices import device_of
from catbox_train.group import DistributedGroup, Group, ProcessLost, SharedMemoryGroup
from catbox_train.memory import keep_freed_memory
from catbox_train.registry import algorithm_class

#: What a process of this machine runs. It ends without the destructors of C++: those of gloo abort if another process
#: is lost.
COMMAND = """
import os
connection, memory = sys.argv[1:]
from multiprocessing.connection import Connection
from catbox_train.processes import work
work(Connection(int(connection)), open(int(memory), 'r+b'))
os._exit(0)
"""
#: Seconds after which a process that is lost without a reason has none.
TIME_TO_END = 5.0


class Workers(Protocol):
    """The processes 1 .. ``size`` - 1."""

    def start(self) -> Group:
        """Start them. Returns the group of process 0."""

    def call(self, name: str, *arguments: Any) -> None:
        """Let them call this method of the algorithm; do not wait for it."""

    def check(self) -> None:
        """Raise the error of one that has failed, or `lost` for one that has ended."""

    def lost(self, reason: str) -> Exception:
        """What to raise if one has ended."""

    def stop(self) -> None:
        """End them at once."""


class ParallelAlgorithm(Algorithm):
    """The algorithm of ``config``, computed by ``config.workers`` processes, of which this is number 0.

    ``make_workers`` makes the others: `LocalWorkers` by default.
    """

    def __init__(
        self, config: TrainConfig, game: Game, make_workers: Callable[[TrainConfig], Workers] | None = None
    ) -> None:
        super().__init__(config, game)
        self._workers = (make_workers or LocalWorkers)(config)
        try:
            kind: Any = algorithm_class(config.algorithm)
            self._algorithm: Algorithm = self._do(lambda: kind(config, game, self._workers.start()))
        except BaseException:
            self.close()
            raise

    def update(self, update: int, progress: float) -> tuple[int, Metrics]:
        return self._call("update", update, progress)

    def policy(self) -> Policy:
        return self._algorithm.policy()

    def state(self) -> State:
        return self._call("state")

    def restore(self, state: State) -> None:
        self._call("restore", state)

    def close(self) -> None:
        self._workers.stop()

    def _call(self, name: str, *arguments: Any) -> Any:
        def everywhere() -> Any:
            self._workers.call(name, *arguments)
            return getattr(self._algorithm, name)(*arguments)

        return self._do(everywhere)

    def _do(self, work: Callable[[], Any]) -> Any:
        """``work()``; if a process is lost, raises why."""
        try:
            return work()
        except ProcessLost as error:
            until = time.monotonic() + TIME_TO_END
            while time.monotonic() < until:
                self._workers.check()
                time.sleep(0.1)
            raise self._workers.lost(str(error)) from error


class Worker:
    """What each of the processes 1 .. ``size`` - 1 does. Methods return the error that was raised, if any."""

    def start(self, settings: Mapping[str, Any], join: Callable[[], Group]) -> Exception | None:
        """Join the group, and make the algorithm of these settings."""

        def make() -> None:
            torch.set_num_threads(1)
            keep_freed_memory()
            if settings["device"].startswith("cuda"):
                torch.cuda.set_device(settings["device"])
            kind: Any = algorithm_class(settings["algorithm"])
            config = kind.Config(**settings)
            self._algorithm: Algorithm = kind(config, config.make_game(), join())

        return self._error_of(make)

    def call(self, name: str, *arguments: Any) -> Exception | None:
        """Call this method of the algorithm."""
        return self._error_of(lambda: getattr(self._algorithm, name)(*arguments))

    def _error_of(self, work: Callable[[], Any]) -> Exception | None:
        try:
            work()
        except ProcessLost:  # process 0 finds out which
            return None
        except Exception as error:  # noqa: BLE001  (process 0 raises it)
            return portable(error)
        return None


class LocalWorkers:
    """Processes of this machine. They share memory; if each has a GPU of its own, or if they are to be
    ``distributed``, they are joined by ``torch.distributed``.

    They are started as commands, so that the program that trains need not be importable, and in sessions of their own:
    Ctrl-C is for process 0 alone.
    """

    def __init__(self, config: TrainConfig, distributed: bool = False) -> None:
        assert config.workers != "auto", "use config.resolved(game)"
        self._config, self._distributed, self._size = config, distributed, config.workers
        self._group = Group()
        self._started: list[subprocess.Popen[bytes]] = []
        self._connections: list[Connection] = []
        self._folder = tempfile.TemporaryDirectory(prefix="catbox-")  # this user's alone

    def start(self) -> Group:
        config, size = self._config, self._size
        devices = [device_of(config.device, rank, size) for rank in range(size)]
        on_gpus = len(set(devices)) > 1
        store = os.path.join(self._folder.name, "store") if self._distributed or on_gpus else None
        memory = _memory_file()
        for rank in range(1, size):
            connection = self._start_one(memory.fileno())
            with suppress(OSError):  # if it has ended, the first sum says so
                connection.send((config.as_dict() | {"device": devices[rank]}, rank, size, store, on_gpus))
        self._group = SharedMemoryGroup(0, size, self._connections, memory)
        if store:
            self._group.counts(0)  # waits until all have started
            self._group.close()
            self._group = _join(0, size, store, on_gpus, self.check)
        return self._group

    def call(self, name: str, *arguments: Any) -> None:
        try:
            for connection in self._connections:
                connection.send((name, arguments))
        except OSError as error:
            raise ProcessLost(str(error)) from error

    def check(self) -> None:
        for connection in self._connections:
            while connection.poll():
                self._receive(connection)

    def lost(self, reason: str) -> Exception:
        return ChildProcessError(f"a process that plays and learns with this one has ended ({reason})")

    def stop(self) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()
        for connection in self._connections:
            connection.close()
        self._group.close()
        self._folder.cleanup()

    def _start_one(self, memory: int) -> Connection:
        own, other = Pipe()
        with other:
            process = subprocess.Popen(
                python_command(COMMAND, f"{other.fileno()}", f"{memory}"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(other.fileno(), memory),
                start_new_session=True,
            )
        self._started.append(process)
        self._connections.append(own)
        return own

    def _receive(self, connection: Connection) -> None:
        """Raise what the process has sent, if it is an error."""
        try:
            error = connection.recv_bytes()
        except (EOFError, OSError):
            process = self._started[self._connections.index(connection)]
            with suppress(subprocess.TimeoutExpired):
                process.wait(TIME_TO_END)
            raise self.lost(f"exit code {process.returncode}") from None
        if error:
            raise pickle.loads(error)


def work(connection: Connection, memory: IO[bytes]) -> None:
    """Play and learn until process 0, at the other end of ``connection``, ends."""
    worker = Worker()
    with suppress(EOFError, OSError):  # it has ended
        settings, rank, size, store, on_gpus = connection.recv()
        group = SharedMemoryGroup(rank, size, [connection], memory)

        def join() -> Group:
            if store is None:
                return group
            group.counts(0)
            return _join(rank, size, store, on_gpus)

        error = worker.start(settings, join)
        while True:
            if error:
                connection.send_bytes(pickle.dumps(error))
            name, arguments = connection.recv()
            error = worker.call(name, *arguments)


def _join(rank: int, size: int, store: str, on_gpus: bool, check: Callable[[], None] = lambda: None) -> Group:
    found = dist.FileStore(store, size)  # type: ignore[attr-defined]  # torch defines it under a condition
    return DistributedGroup(rank, size, found, "127.0.0.1", on_gpus, check)


def _memory_file() -> IO[bytes]:
    """An empty file in memory (outside Linux, on disk) that has no name."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("catbox"), "r+b")
    return tempfile.TemporaryFile()
