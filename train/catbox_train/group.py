"""The processes that play and learn together, as one of them sees them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch

from catbox_agents.errors import portable


class ProcessLost(ConnectionError):
    """Another process of the group has ended without a word."""


class Group:
    """Process ``rank`` of ``size`` that play and learn together.

    The first one, ``rank`` 0, has a connection to each other one, in order; these have one to the first. All call the
    same methods in the same order. The first one calls ``check`` every second while it waits, which raises what has
    happened to the others.

    Methods raise ``ProcessLost`` if another process has ended, and in the first one what another has raised.
    """

    def __init__(
        self,
        connections: Sequence[Connection] = (),
        rank: int = 0,
        size: int = 1,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.connections, self.rank, self.size, self._check = connections, rank, size, check

    def sum_(self, tensor: torch.Tensor) -> None:
        """Replace ``tensor`` by its sum over the processes: the same bits in each."""
        if self.size == 1:
            return
        values = tensor.cpu().numpy()  # a view, if it is there already
        if self.rank == 0:
            for connection in self.connections:
                values += np.frombuffer(self._received(connection), values.dtype).reshape(values.shape)
            self.send(np.ascontiguousarray(values).data)
        else:
            self.send(np.ascontiguousarray(values).data)
            values[...] = np.frombuffer(self._received(self.connections[0]), values.dtype).reshape(
                values.shape
            )
        tensor.copy_(torch.from_numpy(values))

    def summed(self, *values: float) -> list[float]:
        """Each of ``values``, summed over the processes."""
        sums = torch.tensor(values, dtype=torch.float64)
        self.sum_(sums)
        return sums.tolist()

    def counts(self, count: int) -> list[int]:
        """The ``count`` of each process, in all of them."""
        return [
            int(each) for each in self.summed(*(count * (rank == self.rank) for rank in range(self.size)))
        ]

    def send(self, message: bytes | memoryview) -> None:
        """Send ``message`` to all processes that this one is connected to."""
        try:
            for connection in self.connections:
                connection.send_bytes(message)
        except OSError as error:
            raise ProcessLost(str(error)) from error

    def send_error(self, error: Exception) -> None:
        """Let the first process raise ``error``."""
        self.send(b"")
        self.send(pickle.dumps(portable(error)))

    def receive(self) -> Any:
        """What the first process has sent, pickled."""
        return pickle.loads(self._received(self.connections[0]))

    def _received(self, connection: Connection) -> bytes:
        try:
            while self.rank == 0 and not connection.poll(1):
                self._check()
            if data := connection.recv_bytes():
                return data
            failed: Exception = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise ProcessLost(str(error)) from error
        raise failed


#: One process.
ALONE = Group()
