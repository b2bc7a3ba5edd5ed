"""How many cores and how much memory this process may use, in containers too.

The limits of a container are in Linux control groups (cgroups). Neither psutil nor ``os.process_cpu_count`` reads them;
loky reads the CPU quota, but not the memory limit. This module reads both versions (the kernel's admin-guide/cgroup-v1
and admin-guide/cgroup-v2). A limit applies to all groups below it, so every group from the process's own up to the
mount point counts. ``root`` is the folder that contains ``proc`` and ``sys``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import psutil


def physical_cores(root: Path = Path("/")) -> int:
    """Physical cores that this process may use, at least 1: hardware threads of one core count once.

    Respects CPU affinity and, on Linux, the quota of the control group, rounded down.
    """
    process = psutil.Process()
    # psutil has no cpu_affinity on macOS.
    allowed = process.cpu_affinity() if hasattr(process, "cpu_affinity") else range(os.cpu_count() or 1)
    try:
        threads = root / "sys/devices/system/cpu"
        cores = len({(threads / f"cpu{k}/topology/thread_siblings_list").read_text() for k in allowed})
    except OSError:  # not on Linux, or in a sandbox that hides it
        cores = min(len(allowed), psutil.cpu_count(logical=False) or len(allowed))
    quota = cpu_quota(root)
    return max(1, cores if quota is None else min(cores, int(quota)))


def memory_left(root: Path = Path("/")) -> int | None:
    """Bytes that this process may still allocate within the limits of its groups; None without a limit.

    Reclaimable memory counts as free: the file cache, and the kernel's reclaimable caches (version 1 does not report
    these).
    """
    files, caches = ("memory.max", "memory.current"), ["inactive_file", "active_file", "slab_reclaimable"]
    found = [_left(folder, *files, caches) for folder in _groups("", root)]
    files, caches = (
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ["total_inactive_file", "total_active_file"],
    )
    found += [_left(folder, *files, caches) for folder in _groups("memory", root)]
    return min((left for left in found if left is not None), default=None)


def cpu_quota(root: Path = Path("/")) -> float | None:
    """How many processors' worth of time the groups allow this process; None without a limit."""
    found = [_ratio(_words(folder / "cpu.max")) for folder in _groups("", root)]
    for folder in _groups("cpu", root):
        found.append(_ratio(_words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")))
    return min((quota for quota in found if quota is not None), default=None)


def _left(folder: Path, limit: str, usage: str, caches: Sequence[str]) -> int | None:
    numbers = _words(folder / limit) + _words(folder / usage)
    if len(numbers) != 2 or not numbers[0].isdecimal():  # "max", or no file: the root group has none
        return None
    most, used = map(int, numbers)
    words = _words(folder / "memory.stat")
    statistics = dict(zip(words[::2], words[1::2], strict=True))
    return max(0, most - used + sum(int(statistics.get(cache, 0)) for cache in caches))


def _ratio(numbers: list[str]) -> float | None:
    if len(numbers) != 2 or not numbers[0].isdecimal():  # "max", "-1", or no file
        return None
    quota, period = map(int, numbers)
    return quota / period


def _groups(controller: str, root: Path) -> Iterator[Path]:
    """The folders of this process's group of ``controller`` and of those above it; "" means version 2."""
    own = None
    for line in _lines(root / "proc/self/cgroup"):  # number:controllers:path
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            own = PurePosixPath(path)
    for line in _lines(root / "proc/self/mountinfo"):  # ... ... ... top point ... - type source options
        mount, _, kind = line.partition(" - ")
        _, _, _, top, point, *_ = mount.split(" ")
        name, _, options = kind.split(" ", 2)
        if (name == "cgroup" and controller in options.split(",")) or (name == "cgroup2" and not controller):
            folder, below = root / point.lstrip("/"), PurePosixPath()
            # Seen from a container, the own group may be what is mounted, or lie outside of it.
            if own is not None and own.is_relative_to(top) and ".." not in own.parts:
                below = own.relative_to(top)
            yield from (folder / group for group in (below, *below.parents))
            return


def _words(file: Path) -> list[str]:
    return [word for line in _lines(file) for word in line.split()]


def _lines(file: Path) -> list[str]:
    """The lines of ``file``, none if it cannot be read: then there are no such groups.

    Splits at newlines alone: names in it may contain any other bytes, including Unicode line separators.
    """
    try:
        data = file.read_bytes()
    except OSError:
        return []
    return [os.fsdecode(line) for line in data.split(b"\n") if line]
