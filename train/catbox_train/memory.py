"""The memory of the process: whether there is enough for a run, and what the C library does with what is freed."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

# From malloc.h, for mallopt.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_TRIM_THRESHOLD = 1 << 30
#: The largest that glibc accepts.
_MMAP_THRESHOLD = 1 << 25


def check_memory(num_bytes: int) -> None:
    """Raise ``MemoryError`` unless the system grants ``num_bytes`` now, in one piece, which is given back at once.

    Asked of NumPy before torch allocates: torch has no error of its own for memory. Nothing is written to the piece,
    so it costs no time. A system that grants more than it has (Linux does within bounds) may still run out later.
    """
    if num_bytes > sys.maxsize:
        raise MemoryError(f"{num_bytes} bytes are more than this process can address")
    np.empty(num_bytes, np.uint8)


def keep_freed_memory() -> None:
    """Let the C library keep the megabytes that every minibatch takes and frees, for the rest of the process.

    Linux's glibc hands them back to the system at once, and to fetch them anew costs about a tenth of the time of
    training. Other systems are left as they are. It changes the whole process, so a program decides it for itself, once
    and before it trains: ``catbox train`` does.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)
        mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD)
