"""Several processes that play and learn together: on this machine, or wherever Ray starts them.

The run is in process 0. The others repeat what it does: they make the same algorithm, and the same calls of its
methods. In `catbox_train.learner`, all of them sum their gradients over their `catbox_train.group`.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO, Any, Protocol

import torch

import catbox_env
from catbox_agents.errors import portable
from catbox_env import Game
from catbox_train.algorithm import Algorithm, Metrics, Policy, State, algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.devices import device_of
from catbox_train.group import DistributedGroup, Group, ProcessLost, SharedMemoryGroup, meeting_point
from catbox_train.memory import keep_freed_memory

#: What a process of this machine runs; all imports are from the path of the process that starts it.
COMMAND = """
import sys
connection, memory, *sys.path = sys.argv[1:]
from multiprocessing.connection import Connection
from catbox_train.processes import work
work(Connection(int(connection)), int(memory))
"""
#: This machine.
HOST = "127.0.0.1"
#: Seconds after which a process that is lost without a reason has none.
TIME_TO_END = 5.0


class Workers(Protocol):
    """The processes 1 .. ``size`` - 1.

    Attributes: ``group``, that of process 0.
    """

    group: Group

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

    ``start`` starts the others.
    """

    def __init__(
        self, config: TrainConfig, game: Game, start: Callable[[TrainConfig], Workers] | None = None
    ) -> None:
        super().__init__(config, game)
        self._workers = (start or LocalWorkers)(config)
        try:
            kind: Any = algorithm_class(config.algorithm)
            self._algorithm: Algorithm = self._do(lambda: kind(config, game, self._workers.group))
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
    """What each of the processes 1 .. ``size`` - 1 does. `start` and `call` return the error that was raised, if any."""

    def release(self) -> str:
        """The release of catbox there."""
        return catbox_env.__version__

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
        size = config.workers
        devices = [device_of(config.device, rank, size) for rank in range(size)]
        on_gpus = len(set(devices)) > 1
        self.group = Group()
        self._started: list[subprocess.Popen[bytes]] = []
        self._connections: list[Connection] = []
        try:
            with _memory_file() as memory:
                for _ in range(1, size):
                    self._start(memory.fileno())
                joined = distributed or on_gpus
                store = meeting_point(HOST, host=True) if joined else None
                for rank, connection in enumerate(self._connections, start=1):
                    settings = {**config.as_dict(), "device": devices[rank]}
                    connection.send((settings, rank, size, store and store.port, on_gpus))
                if store is None:
                    self.group = SharedMemoryGroup(0, size, self._connections, os.dup(memory.fileno()))
                    return
            for connection in self._connections:
                self._receive(connection)  # it is about to join
            self.group = DistributedGroup(0, size, store, on_gpus, self.check)
        except BaseException:
            self.stop()
            raise

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
        self.group.close()

    def _start(self, memory: int) -> None:
        own, other = Pipe()
        with other:
            self._connections.append(own)
            self._started.append(
                subprocess.Popen(
                    # -P: the working directory is no place to import from, unless this process does.
                    [sys.executable, "-P", "-c", COMMAND, f"{other.fileno()}", f"{memory}", *sys.path],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(other.fileno(), memory),
                    start_new_session=True,
                )
            )

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


def work(connection: Connection, memory: int) -> None:
    """Play and learn until process 0, at the other end of ``connection``, ends."""
    worker = Worker()
    with suppress(EOFError, OSError):  # it has ended
        settings, rank, size, port, on_gpus = connection.recv()
        if port is None:
            join: Callable[[], Group] = partial(SharedMemoryGroup, rank, size, [connection], memory)
        else:
            connection.send_bytes(b"")
            join = partial(join_group, rank, size, HOST, port, on_gpus)
        error = worker.start(settings, join)
        while True:
            if error:
                connection.send_bytes(pickle.dumps(error))
            name, arguments = connection.recv()
            error = worker.call(name, *arguments)


def join_group(rank: int, size: int, host: str, port: int, on_gpus: bool) -> Group:
    """Process ``rank`` of the group that process 0 has opened at this address."""
    return DistributedGroup(rank, size, meeting_point(host, port), on_gpus)


def _memory_file() -> IO[bytes]:
    """An empty file in memory (outside Linux, on disk) that has no name."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("catbox"), "r+b")
    return tempfile.TemporaryFile()
