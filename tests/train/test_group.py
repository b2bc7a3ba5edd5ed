"""Sums in shared memory: exact, in the order of the ranks, and never endless. Threads stand for processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest
import torch

from catbox_train.devices import device_of
from catbox_train.group import Group, ProcessLost, SharedMemoryGroup
from catbox_train.processes import _memory_file


@contextmanager
def groups(size: int) -> Iterator[list[SharedMemoryGroup]]:
    """The group as each of ``size`` processes sees it."""
    with ExitStack() as stack:
        pairs = [Pipe() for _ in range(size - 1)]
        for connection in (end for pair in pairs for end in pair):
            stack.callback(connection.close)
        memory = stack.enter_context(_memory_file())
        ends: list[list[Connection]] = [[own for own, _ in pairs], *([other] for _, other in pairs)]
        yield [SharedMemoryGroup(k, size, ends[k], memory) for k in range(size)]


def in_each(found: list[SharedMemoryGroup], work: Callable[[SharedMemoryGroup], Any]) -> list[Any]:
    """What ``work`` returns in each process."""
    with ThreadPoolExecutor(len(found)) as pool:
        return list(pool.map(work, found))


@pytest.mark.parametrize("size", [2, 3, 5])
def test_sums_are_exact_and_in_the_order_of_the_ranks(size: int) -> None:
    """Many in a row, of other sizes and dtypes, as fast as the processes can."""
    generator = torch.Generator().manual_seed(1)
    numbers = torch.randn((200, size, 500), generator=generator)

    def sums(group: SharedMemoryGroup) -> list[torch.Tensor]:
        found = []
        for k, given in enumerate(numbers):
            tensor = given[group.rank, : 1 + 7 * k % 500].clone()
            if k % 3 == 1:
                tensor = tensor.double()
            if k % 50 == 49:  # and some that need more room
                tensor = tensor.repeat(k)
            group.sum_(tensor)
            found.append(tensor)
        return found

    with groups(size) as made:
        found = in_each(made, sums)
    for k, given in enumerate(numbers):
        expected = torch.zeros(1 + 7 * k % 500, dtype=torch.float64 if k % 3 == 1 else torch.float32)
        for own in given:
            expected += own[: len(expected)]
        if k % 50 == 49:
            expected = expected.repeat(k)
        assert all(torch.equal(each[k], expected) for each in found)


def test_tensors_of_any_shape_and_numbers_and_counts_are_summed() -> None:
    def work(group: SharedMemoryGroup) -> Any:
        matrix = torch.full((3, 4), group.rank + 1.0)
        group.sum_(matrix)
        group.sum_(torch.empty(0))
        return matrix, group.summed(group.rank, 2**40, 0.1), group.counts(10 + group.rank)

    with groups(3) as made:
        for matrix, sums, counts in in_each(made, work):
            assert torch.equal(matrix, torch.full((3, 4), 6.0))
            assert sums == [3, 3 * 2**40, 0.1 + 0.1 + 0.1]
            assert counts == [10, 11, 12]


def test_a_process_that_is_alone_adds_nothing() -> None:
    group, tensor = Group(), torch.arange(3.0)
    group.sum_(tensor)
    assert tensor.tolist() == [0, 1, 2]
    assert (group.summed(1, 0.5), group.counts(7)) == ([1, 0.5], [7])


@pytest.mark.parametrize("lost", [0, 1])
def test_a_process_that_has_ended_is_not_waited_for(lost: int) -> None:
    with groups(2) as made:
        made[lost]._connections[0].close()
        with pytest.raises(ProcessLost):
            made[1 - lost].sum_(torch.zeros(5))


def test_the_first_process_raises_what_another_has_sent() -> None:
    with groups(3) as made:
        made[2]._connections[0].send_bytes(pickle.dumps(LookupError("no card")))
        made[1]._connections[0].send_bytes(b"")
        with pytest.raises(LookupError, match="no card"):
            made[0].sum_(torch.zeros(5))


@pytest.mark.parametrize(
    ("device", "size", "expected"),
    [
        ("cuda:0", 3, ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda:2", 2, ["cuda:2", "cuda:0"]),
        ("cuda:1", 4, 4 * ["cuda:1"]),
        ("cpu", 2, ["cpu", "cpu"]),
    ],
)
def test_each_process_has_a_gpu_of_its_own_if_there_are_enough(
    device: str, size: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert [device_of(device, rank, size) for rank in range(size)] == expected
