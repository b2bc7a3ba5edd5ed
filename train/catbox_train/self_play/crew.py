"""The workers of a run, and how all of them are told to do something: in threads, in processes (``processes``), or on
the machines of a cluster (``catbox_train.ray``).

The algorithm decides; a worker only ever runs a function that it is given, as ``function(worker, *args)``, and all
that it says comes back as the result. So an algorithm is the same, to the last bit, wherever its workers are.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import torch

from catbox_train.self_play.weights import SharedWeights
from catbox_train.self_play.worker import Worker

AnyWorker = TypeVar("AnyWorker", bound=Worker)


class Meeting(ABC):
    """Where the workers meet in the middle of a function: they wait for one another, and see what each has written.

    The methods for gradient steps are those of workers whose weights lie in the same memory: to wait is enough there.
    All raise ``threading.BrokenBarrierError`` once one of the workers has left.
    """

    @abstractmethod
    def wait(self, number: int) -> None:
        """Worker ``number`` waits for all others."""

    @abstractmethod
    def leave(self) -> None:
        """Never come again: the others do not wait for this worker."""

    def add_up_gradients(self, weights: SharedWeights, number: int, parts: Sequence[slice]) -> None:
        """Let ``weights.gradient`` be, in the ``parts`` of worker ``number``, the sum of all workers' shares."""
        self.wait(number)
        for part in parts:
            weights.add_up_shares(part)

    def share_squares(self, weights: SharedWeights, number: int) -> None:
        """Let every worker see all rows of ``weights.squares``, of which worker ``number`` has written its own."""
        self.wait(number)

    def share_weights(self, weights: SharedWeights, number: int) -> None:
        """Let every worker see all weights, of which worker ``number`` has moved its own parts."""
        self.wait(number)

    def average(self, gradient: torch.Tensor) -> None:
        """Let ``gradient`` be the mean of those of all workers, each on a device of its own."""
        raise TypeError("workers that share their memory share a device too: they have one gradient")


class Crew(ABC, Generic[AnyWorker]):
    """All workers. ``workers`` are those of this process: all in threads, the first alone where each has a process."""

    workers: list[AnyWorker]

    @abstractmethod
    def map(
        self, function: Callable[..., Any], *args: Any, each: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """What ``function(worker, *args)`` returns for each worker, all side by side.

        ``each`` has further arguments, a tuple for each worker. ``function`` is one of a module (or a ``partial`` of
        one). Raises what it raises; of several errors, that of the first worker.
        """

    def fetch(self, weights: SharedWeights) -> None:
        """Bring what the workers have made of weights and moments of the optimizer into ``weights`` of this process."""

    def publish(self, weights: SharedWeights, *names: str) -> None:
        """Let every worker see what this process has written into ``weights``: those of ``weights.kept()`` named."""

    @abstractmethod
    def close(self) -> None:
        """End the workers."""


class Threads(Crew[AnyWorker]):
    """A thread for each worker."""

    def __init__(self, workers: list[AnyWorker]) -> None:
        self.workers = workers
        self.pool = ThreadPoolExecutor(len(workers), initializer=partial(torch.set_num_threads, 1))

    def map(
        self, function: Callable[..., Any], *args: Any, each: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        meeting = ThreadMeeting(len(self.workers))
        futures = []
        for worker, more in zip(self.workers, each or [()] * len(self.workers), strict=True):
            worker.meeting = meeting
            futures.append(self.pool.submit(run, worker, function, (*args, *more)))
        try:
            errors = [future.exception() for future in futures]
        except BaseException:  # Ctrl-C: nobody waits for these workers any more
            meeting.leave()
            raise
        raise_first(errors)
        return [future.result() for future in futures]

    def close(self) -> None:
        """Wait for what the workers are doing, and end them: a thread cannot be ended from outside."""
        self.pool.shutdown()


class ThreadMeeting(Meeting):
    """A meeting of ``count`` threads: as ``threading.Barrier``, in half the time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._arrived = 0
        self._lock = threading.Lock()
        self._gates: list[SimpleQueue[bool]] = [SimpleQueue() for _ in range(count)]

    def wait(self, number: int) -> None:
        with self._lock:
            self._arrived += 1
            last = self._arrived % self._count == 0
        if last:
            for other, gate in enumerate(self._gates):
                if other != number:
                    gate.put(True)
        elif not self._gates[number].get():
            raise threading.BrokenBarrierError

    def leave(self) -> None:
        for gate in self._gates:
            gate.put(False)


def run(worker: Worker, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """``function(worker, *args)``; the others do not wait for a worker whose function has raised an error."""
    try:
        return function(worker, *args)
    except BaseException:
        worker.meeting.leave()
        raise


def raise_first(errors: Sequence[BaseException | None]) -> None:
    """Raise the first of ``errors`` that is no more than the echo of another one, if there is any."""
    found = [error for error in errors if error is not None]
    for error in sorted(found, key=lambda e: isinstance(e, threading.BrokenBarrierError)):
        raise error
