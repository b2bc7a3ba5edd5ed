"""Threads that share the rows of one call."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np


class Threads:
    """Runs a function over arrays that are split into one slice per thread.

    The first call starts the threads. They end when this object is deleted. A forked process starts its own, because a
    fork copies only the calling thread.
    """

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """Call ``work(*slices)`` for each slice of ``arrays``, which are all split alike along the first axis.

        It always waits for every thread to finish, so that nothing writes to ``arrays`` afterwards; only then does it
        raise an exception of ``work``, or Ctrl-C.
        """
        if self.num_threads == 1:
            work(*arrays)
            return
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.num_threads, thread_name_prefix="catbox")
            self._process = os.getpid()
        cuts = [np.array_split(array, self.num_threads) for array in arrays]
        # No task begins before all are submitted: after a Ctrl-C in ``submit``, the pool may not know its newest
        # thread and cannot wait for it, so that thread must do nothing.
        all_submitted, may_work = threading.Event(), False

        def work_when_all_are_submitted(*slices: np.ndarray) -> None:
            all_submitted.wait()
            if may_work:
                work(*slices)

        try:
            futures = [
                self._pool.submit(work_when_all_are_submitted, *slices) for slices in zip(*cuts, strict=True)
            ]
            may_work = True
            all_submitted.set()
            wait(futures)
        except BaseException:  # Ctrl-C: end all threads
            all_submitted.set()
            _end(self._pool)
            self._pool = None
            raise
        for future in futures:
            future.result()


def _end(pool: ThreadPoolExecutor) -> None:
    """Cancel tasks that have not begun and wait for the rest, ignoring Ctrl-C, which is being raised already."""
    while True:
        try:
            pool.shutdown(cancel_futures=True)
            return
        except KeyboardInterrupt:
            continue
