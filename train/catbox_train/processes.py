"""Several processes that play and learn together: on this machine, or wherever Ray starts them.

The run is in the first process. The others repeat what it does: it sends them the name of each method of the algorithm
that it is about to call, and in `learner` all of them sum their gradients. Nothing else is shared.
"""

from __future__ import annotations

import hmac
import os
import pickle
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Protocol

import torch

from catbox_env import Game
from catbox_train.algorithm import Algorithm, Metrics, Policy, State
from catbox_train.config import TrainConfig
from catbox_train.learner import Group, ProcessLost
from catbox_train.memory import keep_freed_memory
from catbox_train.registry import algorithm_class

#: Seconds that the others may take to start.
TIME_TO_START = 300.0
#: Bytes of the secret that the others send first.
TOKEN_SIZE = 32


class Others(Protocol):
    """The processes beside the first one."""

    def lost(self) -> str:
        """What happened to one that has ended; empty if all are there."""

    def error(self, reason: str) -> Exception:
        """What to raise when they are lost."""

    def stop(self) -> None:
        """End them at once."""


#: Starts the processes 1 .. size - 1, each of which calls ``work(host, port, token, rank, size)``:
#: (port, token, size) -> the others.
Start = Callable[[int, bytes, int], Others]


class Together(Algorithm):
    """The algorithm of ``config``, computed by ``config.workers`` processes, of which this is the first.

    The others connect to it at ``host``, an address of this machine.
    """

    def __init__(
        self, config: TrainConfig, game: Game, start: Start | None = None, host: str = "127.0.0.1"
    ) -> None:
        super().__init__(config, game)
        assert config.workers != "auto", "use config.resolved(game)"
        size, token = config.workers, secrets.token_bytes(TOKEN_SIZE)
        self._group = Group()
        with socket.create_server((host, 0)) as server:
            self._others = (start or LocalProcesses)(server.getsockname()[1], token, size)
            try:
                connections = self._accept(server, token, size)
                self._group = Group(connections, 0, size, self._check)
                self._group.send(pickle.dumps(config.as_dict()))
                kind: Any = algorithm_class(config.algorithm)
                self._algorithm: Algorithm = self._do(lambda: kind(config, game, self._group))
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
        for connection in self._group.connections:
            connection.close()
        self._others.stop()

    def _call(self, name: str, *arguments: Any) -> Any:
        def everywhere() -> Any:
            self._group.send(pickle.dumps((name, arguments)))
            return getattr(self._algorithm, name)(*arguments)

        return self._do(everywhere)

    def _do(self, work: Callable[[], Any]) -> Any:
        """``work()``, or the error that says which process has ended."""
        try:
            return work()
        except ProcessLost as error:
            until = time.monotonic() + 5
            while time.monotonic() < until:  # it may still be ending
                self._check()
                time.sleep(0.1)
            raise self._others.error(str(error)) from error

    def _check(self) -> None:
        if reason := self._others.lost():
            raise self._others.error(reason)

    def _accept(self, server: socket.socket, token: bytes, size: int) -> list[Connection]:
        """The connections to the others, in order."""
        found: dict[int, Connection] = {}
        until = time.monotonic() + TIME_TO_START
        server.settimeout(0.1)
        while len(found) < size - 1:
            self._check()
            if time.monotonic() > until:
                raise ChildProcessError(f"{size - 1} more processes did not start within {TIME_TO_START:g} s")
            with suppress(TimeoutError):
                connection = _connection(server.accept()[0])
                # Whoever does not know the secret is no process of this run.
                with suppress(EOFError, OSError):
                    if connection.poll(1) and hmac.compare_digest(connection.recv_bytes(TOKEN_SIZE), token):
                        found[connection.recv()] = connection
        return [found[rank] for rank in range(1, size)]


class LocalProcesses:
    """Processes 1 .. ``size`` - 1 on this machine, which connect to ``port``.

    They are started as commands, so that the program that trains need not be importable, and in sessions of their own:
    Ctrl-C is for the first process alone.
    """

    def __init__(self, port: int, token: bytes, size: int) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._started = []
        for rank in range(1, size):
            process = subprocess.Popen(
                [sys.executable, "-m", "catbox_train.processes", str(port), str(rank), str(size)],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._started.append(process)
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as stdin:  # if it has ended, `lost` says so
                stdin.write(token)

    def lost(self) -> str:
        codes = [process.poll() for process in self._started]
        return next((f"exit code {code}" for code in codes if code is not None), "")

    def error(self, reason: str) -> Exception:
        return ChildProcessError(f"a process that plays and learns with this one has ended ({reason})")

    def stop(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()


def work(host: str, port: int, token: bytes, rank: int, size: int) -> None:
    """Play and learn as process ``rank`` of ``size``, until the first process, at ``host`` and ``port``, ends."""
    torch.set_num_threads(1)
    with _connection(socket.create_connection((host, port))) as connection, suppress(ProcessLost):
        connection.send_bytes(token)
        connection.send(rank)
        group = Group([connection], rank, size)
        try:
            settings = group.receive()
            kind: Any = algorithm_class(settings["algorithm"])
            config = kind.Config(**settings)
            algorithm = kind(config, config.make_game(), group)
            while True:
                name, arguments = group.receive()
                getattr(algorithm, name)(*arguments)
        except ProcessLost:
            raise
        except Exception as error:  # noqa: BLE001  (the first process raises it)
            group.send_error(error)
            while True:  # until the first process has read it
                group.receive()


def _connection(to: socket.socket) -> Connection:
    to.settimeout(None)
    to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    to.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return Connection(to.detach())


if __name__ == "__main__":
    keep_freed_memory()
    port, rank, size = map(int, sys.argv[1:])
    work("127.0.0.1", port, sys.stdin.buffer.read(TOKEN_SIZE), rank, size)
