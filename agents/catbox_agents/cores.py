"""How many cores this process may use."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from catbox_agents.control_groups import cpu_quota


def physical_cores(root: Path = Path("/")) -> int:
    """Cores that this process may use, at least 1; two hardware threads of a core count once.

    Which processors it may run on counts, and on Linux the quota of its control group, rounded down; ``root`` is the
    folder in which ``proc`` and ``sys`` are.
    """
    process = psutil.Process()
    # Not on macOS.
    allowed = process.cpu_affinity() if hasattr(process, "cpu_affinity") else range(os.cpu_count() or 1)
    try:
        threads = root / "sys/devices/system/cpu"
        cores = len({(threads / f"cpu{k}/topology/thread_siblings_list").read_text() for k in allowed})
    except OSError:  # not on Linux, or in a sandbox that hides it
        cores = min(len(allowed), psutil.cpu_count(logical=False) or len(allowed))
    quota = cpu_quota(root)
    return max(1, cores if quota is None else min(cores, int(quota)))
