"""Several processes that play and learn together: on this machine, or wherever Ray starts them.

The run is in the first process. The others repeat what it does: it broadcasts the name of each method of the algorithm
that it is about to call, and in `learner` all of them sum their gradients with ``torch.distributed`` (gloo). Nothing
else is shared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, Protocol

import torch
from torch import distributed
from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public, but not declared

from catbox_env import Game
from catbox_train.algorithm import Algorithm, DivergedError, Metrics, Policy, State, algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

#: How long the others may take to start.
TIME_TO_START = 300.0
#: How long a process waits for the first one, which evaluates and writes files meanwhile.
PATIENCE = timedelta(days=30)
#: Errors that the first process raises as they are.
_KINDS = {"DivergedError": DivergedError, "ValueError": ValueError, "MemoryError": MemoryError}


class Others(Protocol):
    """The processes beside the first one."""

    def lost(self) -> str:
        """What happened to one that has ended; empty if all are there."""

    def error(self, reason: str) -> Exception:
        """What to raise when they are lost."""

    def stop(self) -> None:
        """End them at once."""


#: Starts the processes 1 .. size - 1, each of which calls ``work(host, port, rank, size)``: (port, size) -> the others.
Start = Callable[[int, int], Others]


class Together(Algorithm):
    """The algorithm of ``config``, computed by ``config.workers`` processes, of which this is the first."""

    def __init__(
        self, config: TrainConfig, game: Game, start: Start | None = None, host: str = "127.0.0.1"
    ) -> None:
        super().__init__(config, game)
        size = config.workers
        self._store = TCPStore(host, 0, None, is_master=True, wait_for_workers=False, timeout=PATIENCE)
        self._others = (start or LocalProcesses)(self._store.port, size)
        try:
            self._wait_for(size)
            distributed.init_process_group(
                "gloo", store=self._store, rank=0, world_size=size, timeout=PATIENCE
            )
            self._tell(config.as_dict())
            kind: Any = algorithm_class(config.algorithm)
            self._algorithm: Algorithm = self._do(lambda: kind(config, game, 0, size))
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
        if distributed.is_initialized():
            with suppress(RuntimeError):
                distributed.destroy_process_group()
        self._others.stop()

    def _call(self, name: str, *arguments: Any) -> Any:
        def both() -> Any:
            self._tell((name, arguments))
            return getattr(self._algorithm, name)(*arguments)

        return self._do(both)

    def _tell(self, message: Any) -> None:
        distributed.broadcast_object_list([message], 0)

    def _do(self, work: Callable[[], Any]) -> Any:
        """``work()``; if it fails because another process has ended, raises that one's error."""
        try:
            return work()
        except RuntimeError as error:
            if isinstance(error, DivergedError):
                raise
            reason, unreachable = "", isinstance(error, distributed.DistError) or "gloo" in str(error)
            for _ in range(50 if unreachable else 1):  # the one that failed may still be ending
                if found := self._error():
                    raise found from error
                if reason := self._others.lost():
                    break
                time.sleep(0.1)
            if not unreachable and not reason:
                raise
            raise self._others.error(reason or str(error)) from error

    def _error(self) -> Exception | None:
        """The error that another process has reported."""
        if not self._store.check(["error"]):
            return None
        kind, text = json.loads(self._store.get("error"))
        return _KINDS.get(kind, ChildProcessError)(text)

    def _wait_for(self, size: int) -> None:
        names, until = [f"ready {rank}" for rank in range(1, size)], time.monotonic() + TIME_TO_START
        while not self._store.check(names):
            if reason := self._others.lost():
                raise self._others.error(reason)
            if time.monotonic() > until:
                raise ChildProcessError(f"{size - 1} more processes did not start within {TIME_TO_START:g} s")
            time.sleep(0.02)


class LocalProcesses:
    """Processes 1 .. ``size`` - 1 on this machine, which connect to ``port``.

    They are started as commands, so that the program that trains need not be importable, and in sessions of their own:
    Ctrl-C is for the first process alone.
    """

    def __init__(self, port: int, size: int) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._started = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "catbox_train.processes",
                    "127.0.0.1",
                    str(port),
                    str(rank),
                    str(size),
                ],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            for rank in range(1, size)
        ]

    def lost(self) -> str:
        codes = [process.poll() for process in self._started]
        return next((f"exit code {code}" for code in codes if code is not None), "")

    def error(self, reason: str) -> Exception:
        return ChildProcessError(f"a process that plays and learns with this one has ended ({reason})")

    def stop(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()


def work(host: str, port: int, rank: int, size: int) -> None:
    """Play and learn as process ``rank`` of ``size``, until the first process, at ``host`` and ``port``, ends."""
    torch.set_num_threads(1)
    store = TCPStore(host, port, None, is_master=False, timeout=PATIENCE)
    store.set(f"ready {rank}", "")
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)

    def message() -> Any:
        box = [None]
        distributed.broadcast_object_list(box, 0)
        return box[0]

    try:
        settings = message()
        kind: Any = algorithm_class(settings["algorithm"])
        config = kind.Config(**settings)
        algorithm = kind(config, config.make_game(), rank, size)
        while True:
            name, arguments = message()
            getattr(algorithm, name)(*arguments)
    except Exception as error:
        first_has_ended = isinstance(error, distributed.DistError) or "gloo" in str(error)
        if first_has_ended:
            return
        with suppress(RuntimeError):
            store.set("error", json.dumps([type(error).__name__, str(error)]))
        raise


if __name__ == "__main__":
    keep_freed_memory()
    address, *numbers = sys.argv[1:]
    work(address, *map(int, numbers))
