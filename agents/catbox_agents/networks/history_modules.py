"""The encoder of ``history`` in torch, for training.

``HistoryEncoder`` is the module, for every device. ``HistoryLayer`` computes the same on flat vectors of weights for
training on the CPU, compiled, with a derivative written by hand (``history_kernels``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.networks.history import HistorySizes, encode_histories
from catbox_agents.networks.history_kernels import add_gradient

#: In the scores of the rows that a history does not have: their weight is exactly 0.
_UNUSED_SCORE = -1e30


class HistoryEncoder(nn.Module):
    """Histories (n, T, 2) int8 to ``sizes.outputs`` float32 numbers; its parameters are `HistorySizes.shapes`."""

    def __init__(self, sizes: HistorySizes) -> None:
        super().__init__()
        self.sizes = sizes
        for name, shape in sizes.shapes().items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))

    def initialise(self, generator: torch.Generator) -> HistoryEncoder:
        """Draw normal weights; the heads begin with looking back over different spans. Returns self."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, generator=generator)
        heads = self.sizes.heads
        slopes = torch.exp2(-8 * torch.arange(1, heads + 1) / heads)  # those of Press et al.
        with torch.no_grad():
            self.get_parameter("age_scores").copy_(-torch.arange(self.sizes.length)[:, None] * slopes)
        return self

    def forward(self, histories: torch.Tensor) -> torch.Tensor:
        """Outputs (n, D) float32 of ``histories`` (n, T, 2) int8."""
        sizes = self.sizes
        seats, actions = histories.long().unbind(2)
        used = (seats >= 0).long().cumprod(1) > 0
        tokens = torch.where(used, seats * (sizes.num_actions + 1) + actions + 1, 0)
        last = used.sum(1, keepdim=True) - 1
        ages = (last - torch.arange(tokens.shape[1], device=tokens.device)).clamp(0, sizes.length - 1)
        token_scores, age_scores, token_values, age_values = self.parameters()
        lookup = nn.functional.embedding
        scores = lookup(tokens, token_scores.flatten(0, 1)) + lookup(ages, age_scores)
        weights = scores.masked_fill(~used[:, :, None], _UNUSED_SCORE).softmax(1) * used[:, :, None]
        values = lookup(tokens, token_values.flatten(0, 1)) + lookup(ages, age_values)
        heads = values.unflatten(2, (sizes.heads, -1))
        return torch.einsum("nth,nthw->nhw", weights, heads).flatten(1)


class HistoryLayer:
    """A ``HistoryEncoder`` on flat vectors of weights, in the order of its parameters.

    Args:
        encoder: gives the shapes.
        weights: (K,) float32.
        gradient: (K,) in any precision; a backward pass fills it.

    Both are used where they lie: change them in place.
    """

    def __init__(self, encoder: HistoryEncoder, weights: torch.Tensor, gradient: torch.Tensor) -> None:
        self.outputs = encoder.sizes.outputs
        shapes = [parameter.shape for parameter in encoder.parameters()]
        stops = np.cumsum([0, *(shape.numel() for shape in shapes)]).tolist()
        if weights.shape != (stops[-1],) or gradient.shape != (stops[-1],):
            raise ValueError(
                f"vectors of shape {tuple(weights.shape)} and {tuple(gradient.shape)} for an encoder of histories: "
                f"expected ({stops[-1]},)"
            )
        self._weights = [
            weights.detach()[start:stop].view(shape).numpy()
            for shape, (start, stop) in zip(shapes, pairwise(stops), strict=True)
        ]
        self._gradient = gradient
        self._sums = torch.zeros(stops[-1])  # the gradient in float32
        self._gradients = [
            self._sums[start:stop].view(shape).numpy()
            for shape, (start, stop) in zip(shapes, pairwise(stops), strict=True)
        ]
        self._last: tuple[NDArray[np.int8], NDArray[np.int64], NDArray[Any], NDArray[Any]] | None = None

    def __call__(self, histories: NDArray[np.int8], rows: NDArray[np.int64]) -> torch.Tensor:
        """Outputs (n, D) float32 for ``rows`` (n,) of ``histories`` (M, T, 2).

        Raises ``ValueError`` for a row that is not there and for histories that no game of this size has.
        """
        outputs, attention = encode_histories(histories, rows, self._weights)
        self._last = histories, rows, outputs, attention
        return torch.from_numpy(outputs)

    def backward(self, gradient: torch.Tensor) -> None:
        """Fill the gradient of the weights from that of the outputs (n, D) of the last call."""
        if self._last is None or gradient.shape != self._last[2].shape:
            raise ValueError("a backward pass follows a call, with a gradient in the shape of its outputs")
        self._sums.zero_()
        given = gradient.float().contiguous().numpy()
        if not add_gradient(*self._last, given, *self._weights[2:], *self._gradients):
            raise ValueError(
                "the histories of the last call have changed since: keep them until the backward pass"
            )
        self._gradient.copy_(self._sums)
