"""Threads that share the rows of one call."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np


class Threads:
    """Runs a function over arrays cut into one slice for each thread.

    The threads are started by the first call, end when this object is dropped, and are started anew in a process
    that was forked: a fork copies the calling thread alone.
    """

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._pool: ThreadPoolExecutor | None = None
        _ALIVE.add(self)

    def run(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """``work(*slices)`` for each slice of ``arrays``, all cut alike along the first axis.

        Returns when every thread has finished, whatever happens: nothing of ``arrays`` is written after that. An
        exception of ``work``, or Ctrl-C, is raised then.
        """
        if self.num_threads == 1:
            work(*arrays)
            return
        if self._pool is None:
            pool = ThreadPoolExecutor(self.num_threads, thread_name_prefix="catbox")
            weakref.finalize(self, pool.shutdown, wait=False)
            self._pool = pool
        cuts = [np.array_split(array, self.num_threads) for array in arrays]
        # No thread begins before all have been asked, so that one that Ctrl-C makes us lose sight of does nothing.
        all_asked, may_work = threading.Event(), False

        def when_all_are_asked(*slices: np.ndarray) -> None:
            all_asked.wait()
            if may_work:
                work(*slices)

        futures: list[Future[None]] = []
        try:
            for slices in zip(*cuts, strict=True):
                futures.append(self._pool.submit(when_all_are_asked, *slices))
            may_work = True
        finally:
            _finish(all_asked, futures)
        for future in futures:
            future.result()


def _finish(all_asked: threading.Event, futures: list[Future[None]]) -> None:
    """Let the threads begin, and return when they have finished; only then is a Ctrl-C raised."""
    interrupted: KeyboardInterrupt | None = None
    while True:
        try:
            all_asked.set()
            wait(futures)
            break
        except KeyboardInterrupt as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted


_ALIVE: weakref.WeakSet[Threads] = weakref.WeakSet()
#: Pools whose threads stayed in the parent of a fork: kept, because ending a pool would wait for its threads.
_LEFT_BEHIND: list[ThreadPoolExecutor] = []


def _start_anew() -> None:
    for threads in _ALIVE:
        if threads._pool is not None:
            _LEFT_BEHIND.append(threads._pool)
            threads._pool = None


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_start_anew)
