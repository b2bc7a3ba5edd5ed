"""Workers in processes of their own, which share the weights: no worker waits for another's interpreter lock.

The first worker stays in the process of the run. Each other process is a new interpreter (``worker_process``), so
neither the threads of this process nor its main module matter to it. Three things connect it with the run: a socket for
functions and their results, a socket for meetings, and a file without a name in memory, which holds the weights. All
three vanish with the processes, however these end. A process that ends closes its sockets, which whoever waits for it
notices at once. A process that it has forked (for an agent, say) may keep them open: so a thread also looks whether all
are still there.
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from math import prod
from multiprocessing.connection import Connection
from typing import Any

import torch

from catbox_agents.errors import portable
from catbox_train.config import TrainConfig
from catbox_train.self_play.crew import AnyWorker, Crew, Meeting, raise_first, run

#: Signals that ask the run to stop. The run decides what becomes of its workers.
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
#: Memory of a process without games and weights, about: the interpreter, torch and compiled code.
PROCESS_BYTES = 250_000_000
#: What the workers say at a meeting.
_HERE, _LEFT = b"h", b"l"
#: How long a process may take to end when it is told to, in seconds.
_TIME_TO_END = 5.0
#: How often it is looked whether the processes are still there, in seconds.
_INTERVAL = 0.5
#: How long a worker looks for what another one says before it sleeps until it is woken, in seconds.
_TIME_TO_LISTEN = 0.0002
_START = "import sys; sys.path[:] = {path!r}; from catbox_train.self_play.worker_process import main; main({given})"


def processes_possible(config: TrainConfig) -> bool:
    """Whether the workers of a run can have processes of their own here.

    Not on Windows, nor in a program that is no Python interpreter, nor where the run names a class of the main script,
    which another process does not have.
    """
    agents = config.algorithm_options.agents_by_setting().values()
    specs = (config.algorithm, *chain.from_iterable(agents))
    return (
        os.name == "posix"
        and bool(sys.executable)
        and not getattr(sys, "frozen", False)
        and not any(spec.startswith("__main__:") for spec in specs)
    )


class SharedMemory:
    """A file without a name that lies in memory, and tensors in it.

    A process that calls ``allocate`` for the same tensors in the same order has the same numbers in them. ``file`` is
    the descriptor of a file that another process has made; without it, it is made here.
    """

    def __init__(self, file: int | None = None) -> None:
        self._made_here = file is None
        if file is None:
            if hasattr(os, "memfd_create"):
                file = os.memfd_create("catbox")
            else:
                with tempfile.TemporaryFile() as unnamed:
                    file = os.dup(unnamed.fileno())
        self.file = file
        self._size = 0

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """A tensor, zeros where nothing was written yet. Raises ``MemoryError`` where the memory does not suffice."""
        num_bytes = prod(shape) * dtype.itemsize
        if not num_bytes:
            return torch.zeros(shape, dtype=dtype)
        start = self._size
        self._size += -(-num_bytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        try:
            if self._made_here:
                os.ftruncate(self.file, self._size)
                if hasattr(
                    os, "posix_fallocate"
                ):  # later, there would be no error but the end of the process
                    os.posix_fallocate(self.file, start, self._size - start)
            memory = mmap.mmap(self.file, num_bytes, offset=start)
        except OSError as error:
            raise MemoryError(f"{num_bytes} bytes of shared memory: {error}") from error
        return torch.frombuffer(memory, dtype=dtype).view(shape)

    def close(self) -> None:
        """Close the file; the tensors stay."""
        os.close(self.file)


class Processes(Crew[AnyWorker]):
    """The first worker in this process, every other one in its own."""

    def __init__(self, config: TrainConfig, memory: SharedMemory) -> None:
        """Start the processes; ``begin`` waits for them."""
        self.workers = []
        self._config, self._memory = config, memory
        self._processes: list[subprocess.Popen[bytes]] = []
        self._sockets: list[socket.socket] = []
        self._connections: list[Connection] = []  # over the same sockets
        self._meeting = Hub([])
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        try:
            for number in range(1, config.num_workers):
                self._start(number)
            self._watcher.start()
        except BaseException:
            self.kill()
            raise

    def _start(self, number: int) -> None:
        ours, theirs = socket.socketpair()
        our_meeting, their_meeting = socket.socketpair()
        for end in (ours, theirs, our_meeting, their_meeting):
            end.setblocking(True)  # whatever `socket.setdefaulttimeout` says
        self._sockets.append(ours)
        self._connections.append(Connection(os.dup(ours.fileno())))
        self._meeting.sockets.append(our_meeting)
        given = (number, os.getpid(), theirs.fileno(), their_meeting.fileno(), self._memory.file)
        code = _START.format(
            path=[entry for entry in sys.path if isinstance(entry, str)], given=repr(given)[1:-1]
        )
        # What is blocked here is blocked in the new process, from its first instruction on.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            with theirs, their_meeting:
                process = subprocess.Popen(
                    [sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=given[2:]
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._processes.append(process)

    def _watch(self) -> None:
        """Shut the sockets of each process that has ended: nobody waits for what it will not say any more."""
        while not self._closing.wait(_INTERVAL):
            for process, *ends in zip(self._processes, self._sockets, self._meeting.sockets, strict=True):
                if process.poll() is not None:
                    for end in ends:
                        with suppress(OSError):  # the other end is closed already
                            end.shutdown(socket.SHUT_RDWR)

    def begin(self, worker: AnyWorker, seeds: Sequence[Any]) -> None:
        """Make the workers, each with one of ``seeds``; ``worker`` is the first one. The shared memory is complete."""
        self.workers = [worker]
        worker.meeting = self._meeting
        try:
            self._send([(self._config, seed) for seed in seeds[1:]])
            raise_first([error for error, _ in self._answers()])
        except BaseException:
            self.kill()
            raise

    def map(
        self, function: Callable[..., Any], *args: Any, each: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        own, *others = each or [()] * self._config.num_workers
        try:
            self._send([(function, (*args, *more)) for more in others])
            found: list[tuple[BaseException | None, Any]] = []
            try:
                found.append((None, run(self.workers[0], function, (*args, *own))))
            except Exception as error:  # noqa: BLE001  (raised below)
                found.append((error, None))
            found += self._answers()
            raise_first([error for error, _ in found])
        except BaseException:
            self.kill()
            raise
        return [result for _, result in found]

    def _send(self, messages: Sequence[Any]) -> None:
        if len(messages) != len(self._connections):
            raise RuntimeError("the worker processes have ended: make the algorithm anew")
        for connection, message in zip(self._connections, messages, strict=True):
            with suppress(BrokenPipeError, ConnectionResetError):  # its answer says what became of it
                connection.send(message)

    def _answers(self) -> list[tuple[BaseException | None, Any]]:
        """The error or the result of each other process."""
        found: list[tuple[BaseException | None, Any]] = []
        for number, connection in enumerate(self._connections, 1):
            try:
                found.append(connection.recv())
            except (EOFError, ConnectionResetError):
                found.append((self._ended(number), None))
        return found

    def _ended(self, number: int) -> ChildProcessError:
        """The error of a worker whose process does not answer any more."""
        process = self._processes[number - 1]
        try:
            code = process.wait(_TIME_TO_END)
        except subprocess.TimeoutExpired:
            return ChildProcessError(
                f"worker {number} has ended, but its process has not: an agent's thread may keep it"
            )
        how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
        if code == -signal.SIGKILL:
            how += ", as the system does when memory runs out"
        return ChildProcessError(f"the process of worker {number} was ended {how}")

    def kill(self) -> None:
        """End all processes at once; they hold nothing that has to be saved."""
        for process in self._processes:
            process.kill()
        self.close()

    def close(self) -> None:
        self._closing.set()
        if self._watcher.is_alive():
            self._watcher.join()
        for end, connection in zip(self._sockets, self._connections, strict=True):
            end.close()
            connection.close()  # which tells its process to end
        self._sockets, self._connections = [], []
        self._meeting.close()
        until = time.monotonic() + _TIME_TO_END
        for process in self._processes:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes = []


class Hub(Meeting):
    """The meetings, as the first worker comes to them: it hears each other worker, and answers once all are there."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        self.sockets = sockets

    def wait(self, number: int) -> None:
        if any(_heard(other) != _HERE for other in self.sockets):
            self.leave()
            raise threading.BrokenBarrierError
        for other in self.sockets:
            _say(other, _HERE)

    def leave(self) -> None:
        for other in self.sockets:
            _say(other, _LEFT)

    def close(self) -> None:
        for other in self.sockets:
            other.close()
        self.sockets = []


class Spoke(Meeting):
    """The meetings, as another worker comes to them."""

    def __init__(self, hub: socket.socket) -> None:
        self._hub = hub

    def wait(self, number: int) -> None:
        _say(self._hub, _HERE)
        if _heard(self._hub) != _HERE:
            raise threading.BrokenBarrierError

    def leave(self) -> None:
        _say(self._hub, _LEFT)


def _say(to: socket.socket, what: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # it has ended; whoever listens to it notices
        to.send(what)


def _heard(of: socket.socket) -> bytes:
    """What the worker at the other end says; nothing if it has ended."""
    try:
        # To be woken takes longer than most meetings do.
        until = time.perf_counter() + _TIME_TO_LISTEN
        while time.perf_counter() < until:
            with suppress(BlockingIOError):
                return of.recv(1, socket.MSG_DONTWAIT)
        return of.recv(1)
    except ConnectionResetError:
        return b""


def reported(error: Exception, number: int) -> Exception:
    """``error`` of worker ``number`` as another process can read it, with its traceback as a note."""
    error.add_note(f"In the process of worker {number}:\n{''.join(traceback.format_exception(error))}")
    return portable(error)
