"""What the control groups of a container allow, read from folders that look like /proc and /sys."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from catbox_agents.system.machine import cpu_quota, memory_left, physical_cores
from catbox_train import memory
from catbox_train.memory import check_memory
from catbox_train.runs import loop
from catbox_train.runs.folder import start_run
from catbox_train.runs.loop import resume, train
from tests.train.ppo_runs import quiet, small

UNLIMITED = 9223372036854771712
VERSION_2 = "30 25 0:26 {top} /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate"
VERSION_1 = "35 31 0:32 {top} /sys/fs/cgroup/{name} rw,nosuid - cgroup cgroup rw,{name}"
OTHER = "22 27 0:21 / /proc rw,relatime - proc proc rw"


def machine(folder: Path, own: str, mounts: list[str], groups: dict[str, object]) -> Path:
    """A root folder with the lines ``own`` and ``mounts`` of the process, and the files ``groups``."""
    files = {"proc/self/cgroup": own, "proc/self/mountinfo": "\n".join([OTHER, *mounts])}
    for name, text in (files | {f"sys/fs/cgroup/{name}": text for name, text in groups.items()}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    return folder


def version_2(folder: Path, own: str, groups: dict[str, object], top: str = "/") -> Path:
    return machine(folder, f"0::{own}", [VERSION_2.format(top=top)], groups)


def version_1(folder: Path, own: str, groups: dict[str, object], top: str = "/") -> Path:
    mounts = [VERSION_1.format(top=top, name=name) for name in ("cpu,cpuacct", "memory")]
    unified = "38 31 0:39 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
    lines = f"5:memory:{own}\n1:cpu,cpuacct:{own}\n0::/"
    return machine(folder, lines, [*mounts, unified], groups)


def test_without_groups_or_limits_there_is_none(tmp_path: Path) -> None:
    groups = {"a/memory.max": "max", "a/memory.current": 500, "a/cpu.max": "max 100000"}
    for root in (tmp_path, version_2(tmp_path / "2", "/a", groups)):
        assert (memory_left(root), cpu_quota(root)) == (None, None)


def test_limits_hold_for_what_is_in_use_without_what_the_system_gives_up(tmp_path: Path) -> None:
    """Also the limits of the groups above, and not those of the groups beside."""
    groups = {
        "a/memory.max": 1000,
        "a/memory.current": 700,
        "a/memory.stat": "anon 270\nfile 400\ninactive_file 250\nactive_file 110\nshmem 40\nslab 30\n"
        "slab_reclaimable 20\nslab_unreclaimable 10",
        "a/cpu.max": "250000 100000",
        "a/b/memory.max": 5000,
        "a/b/memory.current": 200,
        "a/b/cpu.max": "400000 100000",
        "a/c/memory.max": 1,
        "a/c/memory.current": 1,
    }
    root = version_2(tmp_path, "/a/b", groups)
    assert memory_left(root) == 1000 - 700 + 250 + 110 + 20
    assert cpu_quota(root) == 2.5


def test_version_1_too(tmp_path: Path) -> None:
    groups = {
        "memory/a/memory.limit_in_bytes": 1000,
        "memory/a/memory.usage_in_bytes": 700,
        "memory/a/memory.stat": "cache 9\ninactive_file 1\ntotal_inactive_file 250\ntotal_active_file 100",
        "memory/memory.limit_in_bytes": UNLIMITED,
        "memory/memory.usage_in_bytes": 10**9,
        "cpu,cpuacct/a/cpu.cfs_quota_us": 300000,
        "cpu,cpuacct/a/cpu.cfs_period_us": 100000,
    }
    root = version_1(tmp_path, "/a", groups)
    assert memory_left(root) == 1000 - 700 + 250 + 100
    assert cpu_quota(root) == 3


@pytest.mark.parametrize("own", ["/docker/1234", "/../1234", "/elsewhere"])
def test_the_own_group_may_be_the_top_of_what_a_container_sees(tmp_path: Path, own: str) -> None:
    groups = {"memory/memory.limit_in_bytes": 1000, "memory/memory.usage_in_bytes": 1200}
    assert memory_left(version_1(tmp_path, own, groups, top="/docker/1234")) == 0


def test_names_of_any_bytes_among_the_mounts_do_no_harm(tmp_path: Path) -> None:
    """No UTF-8, and what only Unicode takes for the end of a line."""
    groups = {"a/memory.max": 1000, "a/memory.current": 700}
    mounts = version_2(tmp_path, "/a", groups) / "proc/self/mountinfo"
    strange = b"40 22 0:50 / /media/\xff\xe9\x0b\x85\xe2\x80\xa8\rdisk rw - ext4 /dev/sdb1 rw\n"
    mounts.write_bytes(strange + mounts.read_bytes())
    assert memory_left(tmp_path) == 300


# The cores.


def cores(folder: Path, siblings: list[str]) -> None:
    for number, text in enumerate(siblings):
        file = folder / f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list"
        file.parent.mkdir(parents=True)
        file.write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("allowed", "quota", "expected"),
    [
        (range(6), "max", 4),  # two of them are threads of the first two cores
        ([0, 4], "max", 1),
        ([1, 2, 6], "max", 2),
        (range(8), "250000", 2),
        (range(8), "50000", 1),
    ],
)
def test_cores_are_those_that_the_process_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: list[int], quota: str, expected: int
) -> None:
    """Four cores with two threads each."""
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda process: list(allowed), raising=False)
    cores(tmp_path, ["0,4", "1,5", "2,6", "3,7"] * 2)
    assert physical_cores(version_2(tmp_path, "/", {"cpu.max": f"{quota} 100000"})) == expected


# The memory.


def free(monkeypatch: pytest.MonkeyPatch, on_machine: int, in_group: int | None) -> None:
    class Found:
        available = on_machine

    monkeypatch.setattr(psutil, "virtual_memory", Found)
    monkeypatch.setattr(memory, "memory_left", lambda: in_group)


@pytest.mark.parametrize(
    ("on_machine", "in_group", "where"),
    [(2.0e9, 3e9, "this machine"), (3e9, 2.0e9, "limit of its control group")],
)
def test_memory_that_is_not_free_is_not_there(
    monkeypatch: pytest.MonkeyPatch, on_machine: int, in_group: int, where: str
) -> None:
    """The system may grant it nevertheless."""
    free(monkeypatch, on_machine, in_group)
    check_memory(2_000_000_000)
    with pytest.raises(MemoryError, match=rf"2\.1 GB are needed, 2\.0 GB are free .*{where}"):
        check_memory(2_100_000_000)


def test_a_run_that_does_not_fit_is_refused_and_one_that_is_resumed_is_told_to_free_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 10**9, 10_000)
    needed = r"\(.* GB are needed, 0\.0 GB are free"
    with pytest.raises(ValueError, match=rf"games_per_update = 32, .*: make one of them smaller {needed}"):
        train(small(), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()
    start_run(tmp_path / "run", small())
    with pytest.raises(
        ValueError, match=rf"^not enough memory to resume .*: free some, then try again {needed}"
    ):
        resume(tmp_path / "run", quiet())


def test_a_run_that_does_not_fit_on_its_gpu_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "free_memory", lambda device: 10_000)
    with pytest.raises(ValueError, match=r"not enough memory .* GB are needed, 0\.0 GB are free on cpu"):
        train(small(), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()
