"""Sums over the processes that play and learn together.

The CPU processes of one machine add what they write into memory that they share. Processes on GPUs or on several
machines use ``torch.distributed``: gloo for tensors on the CPU, NCCL for those on a GPU.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import IO, Any

import psutil
import torch
import torch.distributed as dist

#: Seconds that a process waits for others before it looks whether they are still there.
CHECK_EVERY = 1.0
#: Where gloo finds the name of the network interface to use.
INTERFACE = "GLOO_SOCKET_IFNAME"
#: Seconds that processes which have started may take to find one another.
TIME_TO_JOIN = 60.0


class ProcessLost(ConnectionError):
    """Another process of the group has ended."""


class Group:
    """Process ``rank`` of the ``size`` that play and learn together; all call the same methods in the same order.

    ``Group()`` is the group of a process that is alone. Methods raise `ProcessLost` if another process has ended, and
    in process 0 the error that another process has raised.
    """

    #: Whether tensors on a GPU are summed there.
    on_gpus = False

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @torch.no_grad()
    def sum_(self, tensor: torch.Tensor) -> None:
        """Replace ``tensor``, contiguous and of any shape, by its sum over the processes: the same bits in each."""
        if self.size == 1:
            return
        own = tensor if self.on_gpus else tensor.cpu()
        self._sum(own.view(-1))
        if own is not tensor:
            tensor.copy_(own)

    def summed(self, *values: float) -> list[float]:
        """Each of ``values``, summed over the processes."""
        sums = torch.tensor(values, dtype=torch.float64)
        self.sum_(sums)
        return sums.tolist()

    def counts(self, count: int) -> list[int]:
        """The ``count`` of each process, in all of them."""
        counts = torch.zeros(self.size, dtype=torch.int64)
        counts[self.rank] = count
        self.sum_(counts)
        return counts.tolist()

    def synchronize(self, device: torch.device) -> None:
        """Wait for the GPU ``device``, where sums are made in the order of its stream, but not for a process that is
        lost: then raise. Reading a tensor would wait without end."""

    def close(self) -> None:
        """Leave the group."""

    def _sum(self, tensor: torch.Tensor) -> None:
        """Replace ``tensor`` (n,) by its sum."""
        raise NotImplementedError


class SharedMemoryGroup(Group):
    """Processes of one machine that share the file ``memory``, empty at first.

    Process 0 has a connection to each other process, in order; these have one to process 0. They wait for one another
    in reads from it, which end when the other process does, and take no time from the processes that still compute.

    Each process writes its tensor into its own slot, and when all have, each adds all slots in the order of the ranks.
    There are two sets of slots, used in turn: a process that writes into the same set again has met the others at the
    sum in between, so they have read what was there.

    The order of reads and writes in memory needs no fences, on no processor: a process writes into its slot before it
    sends, and reads slots after it has received. Both are system calls on the same socket, whose lock in the kernel
    makes what came before the one visible after the other.
    """

    def __init__(self, rank: int, size: int, connections: Sequence[Connection], memory: IO[bytes]) -> None:
        super().__init__(rank, size)
        self._connections, self._memory = connections, memory
        self._slots = torch.empty((2, size, 0), dtype=torch.uint8)  # (turns, ranks, bytes)
        self._turn = 0

    def close(self) -> None:
        """Leave the group."""
        self._memory.close()

    def _sum(self, tensor: torch.Tensor) -> None:
        if tensor.nbytes > self._slots.shape[2]:
            self._grow(tensor.nbytes)
        self._turn = 1 - self._turn
        slots = self._slots[self._turn, :, : tensor.nbytes].view(tensor.dtype)
        slots[self.rank] = tensor
        self._meet()
        torch.add(slots[0], slots[1], out=tensor)
        for slot in slots[2:]:
            tensor += slot

    def _grow(self, size: int) -> None:
        """Make room for ``size`` bytes in each slot, rounded up to whole cache lines."""
        self._meet()  # until here, others may read the slots as they were
        size = -(-size // 64) * 64
        os.ftruncate(self._memory.fileno(), 2 * self.size * size)  # to the same size in each process
        slots = torch.frombuffer(mmap.mmap(self._memory.fileno(), 2 * self.size * size), dtype=torch.uint8)
        self._slots = slots.view(2, self.size, size)

    def _meet(self) -> None:
        """Wait until all processes are here."""
        try:
            if self.rank:
                self._connections[0].send_bytes(b"")
            for connection in self._connections:
                if error := connection.recv_bytes():
                    raise pickle.loads(error)
            if self.rank == 0:
                for connection in self._connections:
                    connection.send_bytes(b"")
        except (EOFError, OSError) as error:
            raise ProcessLost(str(error)) from error


class DistributedGroup(Group):
    """Processes that are joined by ``torch.distributed``, and find one another through ``store``.

    Args:
        host: an address of the machine of process 0.
        on_gpus: whether each process has a GPU of its own, the current one.
        check: called every second in which this process waits; raises what has happened to the others.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        store: Any,
        host: str,
        on_gpus: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(rank, size)
        self.on_gpus, self._check = on_gpus, check
        backend = "cpu:gloo,cuda:nccl" if on_gpus else "gloo"
        store.set_timeout(timedelta(seconds=TIME_TO_JOIN))
        hook = sys.excepthook
        try:
            with _interface_to(host):
                dist.init_process_group(backend, store=store, rank=rank, world_size=size)
            # Waits until all have joined: gloo reports a process that is lost before, on standard error.
            self.counts(0)
        except RuntimeError as error:
            raise ProcessLost(str(error)) from error
        finally:
            sys.excepthook = hook  # torch's would write the rank before every line of a traceback

    def synchronize(self, device: torch.device) -> None:
        if not self.on_gpus:
            return
        done = torch.cuda.current_stream(device).record_event()
        checked = time.monotonic()
        while not done.query():
            time.sleep(1e-4)
            if time.monotonic() - checked > CHECK_EVERY:
                self._check()
                checked = time.monotonic()

    def close(self) -> None:
        """Leave the group."""
        dist.destroy_process_group()

    def _sum(self, tensor: torch.Tensor) -> None:
        try:
            if tensor.device.type == "cuda":
                dist.all_reduce(tensor)  # in the order of the stream; `synchronize` waits
                return
            # Each process adds the parts of one chunk in the order of the ranks, as in shared memory: the same bits.
            chunk = -(-len(tensor) // self.size)
            padded = tensor.new_zeros(self.size * chunk)
            padded[: len(tensor)] = tensor
            parts = torch.empty_like(padded)
            self._wait(dist.all_to_all_single(parts, padded, async_op=True))
            own, *others = parts.view(self.size, chunk)
            for other in others:
                own += other
            self._wait(dist.all_gather(list(padded.view(self.size, chunk)), own, async_op=True))
            tensor.copy_(padded[: len(tensor)])
        except RuntimeError as error:
            raise ProcessLost(str(error)) from error

    def _wait(self, work: dist.Work) -> None:
        """Wait for ``work``, in pieces: signals are handled in between."""
        while not work.is_completed():
            try:
                work.wait(timedelta(seconds=CHECK_EVERY))
            except RuntimeError:  # not completed by then
                self._check()
        work.wait()  # raises what has failed


@contextmanager
def _interface_to(host: str) -> Iterator[None]:
    """While it lasts, gloo listens on the network interface that reaches ``host``, unless the environment names one.

    Otherwise it asks for the address of this machine's name, which may be none, or not that of a network.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 1))  # sends nothing
        address = probe.getsockname()[0]
    names = [
        name for name, found in psutil.net_if_addrs().items() if address in (one.address for one in found)
    ]
    if not names or INTERFACE in os.environ:
        yield
        return
    os.environ[INTERFACE] = names[0]
    try:
        yield
    finally:
        del os.environ[INTERFACE]
