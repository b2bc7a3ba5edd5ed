"""Gradient steps on a CUDA GPU, recorded as CUDA graphs: for decisions of games that are played there too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import nn

from catbox_train.graphs import Graph
from catbox_train.group import Group
from catbox_train.learner import Learner, Loss, Minibatch
from catbox_train.self_play_config import SelfPlayConfig

#: Minibatches of an epoch from which those of different size do not count.
MIN_EQUAL_MINIBATCHES = 8


class DeviceLearner(Learner):
    """A `Learner` whose steps are a few launches each.

    What a graph reads stays where it is: the columns of an update are copied to where those of the first one are,
    unless they are there already, as those of a `DeviceRollout`. So every update has as many rows. A loss must not
    wait for the GPU.
    """

    def __init__(self, network: nn.Module, config: SelfPlayConfig, group: Group = Group()) -> None:
        super().__init__(network, config, group)
        self._columns: dict[str, torch.Tensor] = {}
        self._numbers: list[torch.Tensor] = []
        self._rows = torch.zeros(0, dtype=torch.int64, device=self.device)
        self._recorded: tuple[Loss, int, int] | None = None

    def minibatches(
        self, columns: Mapping[str, torch.Tensor], rows: torch.Tensor, update_index: int
    ) -> Iterator[Minibatch]:
        """As in `Learner`, but of equal size, if there are enough rows: those that are left, fewer than make a
        minibatch, are in none."""
        for name, column in columns.items():
            buffer = self._columns.setdefault(name, column)
            if buffer.data_ptr() != column.data_ptr():
                buffer.copy_(column)
        size = max(1, self.config.minibatch_size // self.group.size)  # rows of a minibatch in each process
        number = min(self.group.counts(len(rows))) // size
        if number < MIN_EQUAL_MINIBATCHES:
            yield from super().minibatches(self._columns, rows, update_index)
            return
        for shuffled in self._epochs(rows, update_index):
            for part in shuffled[: number * size].split(size):
                yield Minibatch(self._columns, part, size * self.group.size)

    def step(self, loss: Loss, batch: Minibatch, *numbers: float) -> None:
        """See `Learner.step`."""
        if not len(batch.rows):
            super().step(loss, batch, *numbers)
            return
        if self._recorded != (loss, len(batch.rows), batch.total):
            self._record_graphs(loss, batch, len(numbers))
        self._rows.copy_(batch.rows)
        for tensor, number in zip(self._numbers, numbers, strict=True):
            tensor.fill_(number)
        self._first()
        if self.group.size > 1:
            self.group.sum_(self._gradient())
            self._second()
        self._record(self._step_names, self._step_metrics)

    def _record_graphs(self, loss: Loss, batch: Minibatch, num_numbers: int) -> None:
        """Two graphs, before and after the sum over the processes; one, if there is one process."""
        self._recorded = loss, len(batch.rows), batch.total
        self._rows = torch.empty_like(batch.rows)
        self._numbers = [torch.zeros((), device=self.device) for _ in range(num_numbers)]
        recorded = Minibatch(self._columns, self._rows, batch.total)

        def differentiate() -> None:
            self._step_names, self._of_loss = self._differentiate(loss, recorded, tuple(self._numbers))

        def descend() -> None:
            norm = self._descend()[None] / self.group.size
            self._step_metrics = torch.cat([norm, self._of_loss])

        def both() -> None:
            differentiate()
            descend()

        self._first = Graph(differentiate if self.group.size > 1 else both, self.device)
        self._second = Graph(descend, self.device)
