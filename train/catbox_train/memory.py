"""The memory of the process: whether there is enough for a run, and what the C library does with what is freed."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import psutil

from catbox_agents.machine import memory_left

# From malloc.h, for mallopt.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_TRIM_THRESHOLD = 1 << 30
#: The largest that glibc accepts.
_MMAP_THRESHOLD = 1 << 25


def check_memory(num_bytes: int, now: bool = True) -> None:
    """Raise ``MemoryError`` unless the system grants ``num_bytes`` in one piece, and they are there ``now``.

    There is what is free or can be freed at once, in the limit of the control group too. A system may grant more, and
    end the process when it is used. With ``now`` off, to be granted is enough, whatever is in use at the moment.

    What is granted is given back at once; nothing is written to it, so it costs no time. Asked of NumPy before torch
    allocates: torch has no error of its own for memory.
    """
    if num_bytes > sys.maxsize:
        raise MemoryError(f"{num_bytes} bytes are more than this process can address")
    if now:
        left, where, limited = psutil.virtual_memory().available, "on this machine", memory_left()
        if limited is not None and limited < left:
            left, where = limited, "in the limit of its control group (of a container, say)"
        if num_bytes > left:
            raise MemoryError(f"{num_bytes / 1e9:,.1f} GB are needed, {left / 1e9:,.1f} GB are free {where}")
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
