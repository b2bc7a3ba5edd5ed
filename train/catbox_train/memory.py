"""The memory of the process: whether there is enough for a run, and what the C library does with freed memory."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import psutil

from catbox_agents.system.machine import memory_left

# From malloc.h, for mallopt.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_TRIM_THRESHOLD = 1 << 30
#: The largest that glibc accepts.
_MMAP_THRESHOLD = 1 << 25


def check_memory(num_bytes: int, now: bool = True) -> None:
    """Raise ``MemoryError`` unless the system grants ``num_bytes`` in one piece, and they are available ``now``.

    Available is what is free or can be freed at once, also within the limit of the control group. A system may grant
    more, and kill the process when it is used. With ``now`` off, a grant is enough, whatever is in use at the moment.

    The memory is released at once; nothing is written to it, so it costs no time. NumPy allocates it, before torch
    does, because torch has no error of its own for memory.
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
    """Let the C library keep the megabytes that every minibatch allocates and frees, for the rest of the process.

    Linux's glibc returns them to the system at once, and getting them back takes about a tenth of the training time.
    Other systems are not affected. This changes the whole process, so the program decides, once and before it trains:
    ``catbox train`` does it.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)
        mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD)
