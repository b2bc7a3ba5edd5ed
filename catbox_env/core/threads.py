"""Threads that divide the rows of one call among them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np


class Threads:
    """Runs a function over arrays that are cut into one slice for each thread.

    The first call starts the threads. They end when this object is deleted. A forked process starts its own, because a
    fork copies only the calling thread.
    """

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._pool: ThreadPoolExecutor | None = None
        _ALIVE.add(self)

    def run(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """Call ``work(*slices)`` for each slice of ``arrays``, which are all cut alike along the first axis.

        Whatever happens, this returns only when every thread has finished, so that nothing writes to ``arrays`` after
        that. Only then is an exception of ``work``, or Ctrl-C, raised.
        """
        if self.num_threads == 1:
            work(*arrays)
            return
        if self._pool is None:
            pool = ThreadPoolExecutor(self.num_threads, thread_name_prefix="catbox")
            weakref.finalize(self, pool.shutdown, wait=False)
            self._pool = pool
        cuts = [np.array_split(array, self.num_threads) for array in arrays]
        # No task begins before all are submitted. Ctrl-C may come before the future of a submitted task is stored:
        # such a task could not be waited for, so it must do nothing.
        all_submitted, may_work = threading.Event(), False

        def work_when_all_are_submitted(*slices: np.ndarray) -> None:
            all_submitted.wait()
            if may_work:
                work(*slices)

        futures: list[Future[None]] = []
        try:
            for slices in zip(*cuts, strict=True):
                futures.append(self._pool.submit(work_when_all_are_submitted, *slices))
            may_work = True
        finally:
            _finish(all_submitted, futures)
        for future in futures:
            future.result()


def _finish(all_submitted: threading.Event, futures: list[Future[None]]) -> None:
    """Let the threads begin, and wait until they have finished; only then raise a Ctrl-C."""
    interrupted: KeyboardInterrupt | None = None
    while True:
        try:
            all_submitted.set()
            wait(futures)
            break
        except KeyboardInterrupt as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted


_ALIVE: weakref.WeakSet[Threads] = weakref.WeakSet()
#: Pools whose threads stayed in the parent of a fork. They are kept, because to end a pool would wait for its threads.
_LEFT_BEHIND: list[ThreadPoolExecutor] = []


def _start_anew() -> None:
    for threads in _ALIVE:
        if threads._pool is not None:
            _LEFT_BEHIND.append(threads._pool)
            threads._pool = None


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_start_anew)
