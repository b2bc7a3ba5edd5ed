"""Gradient steps: the weights of networks as one vector, Adam, and minibatches, in one process or several.

Each process plays its share of the games and computes the gradient of its share of every minibatch; the gradients are
summed, so that all processes make the same steps and keep equal weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

from catbox_env.core.checks import check_instance
from catbox_train.algorithm import DivergedError, State
from catbox_train.group import Group
from catbox_train.seeds import SHUFFLES, update_seed
from catbox_train.self_play_config import SelfPlayConfig, check_config

#: Adam's epsilon.
EPSILON = 1e-5

#: The loss () to differentiate and metrics (), by name: means over the decisions of a minibatch, whose columns (m, ...)
#: it takes by name, and then numbers.
Loss = Callable[..., tuple[torch.Tensor, dict[str, torch.Tensor]]]


class Minibatch(NamedTuple):
    """The ``rows`` (m,) int64 of ``columns`` (n, ...) that a gradient step is about, of ``total`` in all processes."""

    columns: Mapping[str, torch.Tensor]
    rows: torch.Tensor
    total: int


class Learner:
    """The networks of an algorithm and their optimizer, in one process of ``group``.

    Attributes: ``weights`` (K,) float32, of which all parameters of ``network`` are views, as are their gradients of
    ``weights.grad``; ``device``.
    """

    def __init__(self, network: nn.Module, config: SelfPlayConfig, group: Group = Group()) -> None:
        check_config(config)
        check_instance("network", network, nn.Module, "a torch.nn.Module")
        check_instance("group", group, Group, "a Group, such as Group()")
        self.config, self.group = config, group
        self.device = torch.device(config.device)
        self.weights = _flattened(network.to(self.device))
        if group.rank > 0:  # machines may round the initial weights differently: all take those of the first
            self.weights.data.zero_()
        group.sum_(self.weights.data)
        cuda = self.device.type == "cuda"
        self.optimizer = torch.optim.Adam(
            [self.weights],
            lr=torch.tensor(config.learning_rate, device=self.device) if cuda else config.learning_rate,
            eps=EPSILON,
            fused=True,
            capturable=cuda,
        )
        self.moments = self.optimizer.state[self.weights] = {
            "step": torch.zeros((), device=self.device if cuda else None),
            "exp_avg": torch.zeros_like(self.weights),
            "exp_avg_sq": torch.zeros_like(self.weights),
        }
        self._names: list[str] = []  # of the metrics, of which there are these sums over some steps
        self._sums, self._steps = torch.zeros(0, device=self.device), 0

    def anneal(self, progress: float) -> float:
        """Set the learning rate of the steps from now on, after the share ``progress`` of the run; returns it."""
        rate = interpolate(self.config.learning_rate, self.config.learning_rate_end, progress)
        group = self.optimizer.param_groups[0]
        if isinstance(group["lr"], torch.Tensor):  # a CUDA graph reads it there
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
        return rate

    def minibatches(
        self, columns: Mapping[str, torch.Tensor], rows: torch.Tensor, update_index: int
    ) -> Iterator[Minibatch]:
        """The minibatches of an update: in each epoch, each of ``rows`` (n,) int64 of the ``columns`` is in one.

        Their number depends on the rows of all processes; they differ in size by one row in each.
        """
        columns = {name: column.to(self.device) for name, column in columns.items()}
        counts = self.group.counts(len(rows))
        number = max(1, round(sum(counts) / self.config.minibatch_size))
        # As tensor_split does.
        totals = [sum(n // number + (k < n % number) for n in counts) for k in range(number)]
        for shuffled in self._epochs(rows, update_index):
            for part, total in zip(shuffled.tensor_split(number), totals, strict=True):
                if total:
                    yield Minibatch(columns, part, total)

    def _epochs(self, rows: torch.Tensor, update_index: int) -> Iterator[torch.Tensor]:
        """The rows in another order for each epoch, on the device, drawn there if it is a CUDA GPU."""
        seed = update_seed(self.config.seed, update_index, SHUFFLES, self.group.rank)
        rows = rows.to(self.device)
        if self.device.type == "cuda":
            drawn = torch.Generator(self.device).manual_seed(int(seed.generate_state(1, np.uint64)[0]))
        else:
            random = np.random.default_rng(seed)
        for _ in range(self.config.update_epochs):
            if self.device.type == "cuda":
                yield rows[torch.randperm(len(rows), generator=drawn, device=self.device)]
            else:
                yield rows[torch.from_numpy(random.permutation(len(rows))).to(self.device)]

    def step(self, loss: Loss, batch: Minibatch, *numbers: float) -> None:
        """One step against the gradient of ``loss(columns, *numbers)`` of the minibatch, a mean over its rows in all
        processes."""
        names, metrics = self._differentiate(loss, batch, numbers)
        self.group.sum_(self._gradient())
        self._record(names, torch.cat([self._descend()[None] / self.group.size, metrics]))

    def _record(self, names: list[str], values: torch.Tensor) -> None:
        """Add the norm of the gradient and the metrics of a step, this process's part of them, to the sums."""
        if len(values) > len(self._sums):  # the first step with decisions of this process
            self._names = ["grad_norm", *names]
            self._sums = torch.cat([self._sums, values.new_zeros(len(values) - len(self._sums))])
        self._sums[: len(values)] += values
        self._steps += 1

    def _differentiate(
        self, loss: Loss, batch: Minibatch, numbers: tuple[Any, ...]
    ) -> tuple[list[str], torch.Tensor]:
        """Set the gradient of this process's part of the mean; returns its part of the metrics, names and (k,)."""
        self._gradient().zero_()
        if not len(batch.rows):
            return [], torch.zeros(0, device=self.device)
        found, metrics = loss(
            {name: column.index_select(0, batch.rows) for name, column in batch.columns.items()}, *numbers
        )
        values = torch.stack([*metrics.values()]).detach() if metrics else torch.zeros(0, device=self.device)
        if (share := len(batch.rows) / batch.total) < 1:
            found, values = found * share, values * share
        found.backward()
        return [*metrics], values

    def _descend(self) -> torch.Tensor:
        """A step of the optimizer; returns the norm () of the gradient before it is clipped."""
        gradient = self._gradient()
        norm = gradient.norm()
        gradient *= (self.config.max_grad_norm / norm).clamp(max=1)
        self.optimizer.step()
        return norm

    def _gradient(self) -> torch.Tensor:
        assert self.weights.grad is not None
        return self.weights.grad

    def metrics(self) -> dict[str, float]:
        """The means of the metrics over the steps since the last call, over all processes.

        Raises ``DivergedError`` for one that is not finite, and for a weight that is not.
        """
        self.group.synchronize(self.device)
        if not self.weights.isfinite().all():
            raise DivergedError("a weight is not finite")
        sums, steps = self._sums.tolist(), max(1, self._steps)
        self._sums.zero_()
        self._steps = 0
        sums += [0.0] * (max(self.group.counts(len(sums))) - len(sums))
        means = dict(zip(self._names, (each / steps for each in self.group.summed(*sums)), strict=False))
        for name, value in means.items():
            if not math.isfinite(value):
                raise DivergedError(f"{name} is not finite")
        return means

    def state(self) -> State:
        """The weights and Adam's moments."""
        tensors = {"weights": self.weights.detach(), **{f"adam.{k}": v for k, v in self.moments.items()}}
        return {name: tensor.cpu().numpy().copy() for name, tensor in tensors.items()}

    @torch.no_grad()
    def restore(self, state: State) -> None:
        """Resume from what `state` returned. Raises ``ValueError`` for arrays that do not fit."""
        for name, own in {
            "weights": self.weights,
            **{f"adam.{k}": v for k, v in self.moments.items()},
        }.items():
            found = state.get(name)
            if found is None or found.shape != tuple(own.shape) or found.dtype != np.float32:
                raise ValueError(f"{name} does not fit: expected float32 of shape {tuple(own.shape)}")
            own.copy_(torch.from_numpy(found))


def interpolate(start: float, end: float, progress: float) -> float:
    """The value at ``progress``, 0 .. 1, on the straight line from ``start`` to ``end``."""
    return start + (end - start) * progress


def mean_and_variance(values: torch.Tensor, group: Group) -> tuple[float, float]:
    """The mean and variance of ``values`` (n,) over all processes."""
    own = values.double()
    count, total, squares = group.summed(len(own), own.sum().item(), own.square().sum().item())
    mean = total / max(1, count)
    return mean, max(squares / max(1, count) - mean**2, 0.0)  # this way round, NaN stays NaN


def _flattened(network: nn.Module) -> nn.Parameter:
    """One vector (K,) of which all parameters of ``network`` become views, as their gradients of its ``grad``."""
    vector = nn.Parameter(parameters_to_vector(network.parameters()).detach().clone())
    vector.grad = torch.zeros_like(vector)
    start = 0
    for parameter in network.parameters():
        stop = start + parameter.numel()
        parameter.data = vector.detach()[start:stop].view_as(parameter)
        parameter.grad = vector.grad[start:stop].view_as(parameter)
        start = stop
    return vector
