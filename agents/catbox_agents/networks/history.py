"""The history of a seat as numbers for a network: attention of a few learned queries over the actions so far.

A history is int8 (T, 2), a row (relative seat, action) for each action of the game, the oldest first; another seat's
discard is the action -1. It ends at the first row with a negative seat. What the encoder knows of a row is its token,
the pair of seat and action, and its age, how many actions came after it. With queries that do not depend on the
position, the product of a query and a key is a number that can itself be learned. So, for each head h, over the rows t,

    weight_h,t = softmax over t of token_scores[seat, action, h] + age_scores[age, h]
    output_h   = sum over t of weight_h,t * (token_values[seat, action] + age_values[age]), those of head h

as in the pooling of Lee et al. 2019 (Set Transformer, https://arxiv.org/abs/1810.00825, section 3.2), with the ages of
Press et al. 2022 (https://arxiv.org/abs/2108.12409). A history without rows gives zeros. A row older than the tables of
ages are long counts as the oldest that they know.

``HistoryEncoder`` is the module, in torch, for every device. ``HistoryLayer`` computes the same on flat vectors of
weights for training on the CPU, compiled, with a derivative written by hand (``history_kernels``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.networks.history_kernels import add_gradient, encode

#: Queries, and the numbers that all of them together give.
HEADS, OUTPUTS = 4, 32
#: In the scores of the rows that a history does not have: their weight is exactly 0.
_UNUSED_SCORE = -1e30


class HistoryEncoder(nn.Module):
    """Histories of a game of ``num_players`` and ``num_actions``, ``length`` ages, to ``outputs`` float32 numbers.

    Parameters: ``token_scores`` (P, A + 1, H), ``age_scores`` (T, H), ``token_values`` (P, A + 1, D), ``age_values``
    (T, D); the action -1 has the first place. Each of the H ``heads`` gives D / H of the D ``outputs``.
    """

    def __init__(
        self, num_players: int, num_actions: int, length: int, heads: int = HEADS, outputs: int = OUTPUTS
    ) -> None:
        super().__init__()
        if min(num_players, num_actions, length, heads, outputs) < 1 or outputs % heads:
            raise ValueError(
                f"a history of {num_players} players, {num_actions} actions and {length} ages with {heads} heads and "
                f"{outputs} outputs: expected numbers from 1, the outputs a multiple of the heads"
            )
        shapes = weight_shapes(num_players, num_actions, length, heads, outputs)
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))
        self.num_players, self.num_actions, self.length = num_players, num_actions, length
        self.heads, self.outputs = heads, outputs

    def initialise(self, generator: torch.Generator) -> HistoryEncoder:
        """Draw normal weights; the heads begin with looking back over different spans. Returns self."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, generator=generator)
        slopes = torch.exp2(-8 * torch.arange(1, self.heads + 1) / self.heads)  # those of Press et al.
        with torch.no_grad():
            self.get_parameter("age_scores").copy_(-torch.arange(self.length)[:, None] * slopes)
        return self

    def forward(self, histories: torch.Tensor) -> torch.Tensor:
        """Outputs (n, D) float32 of ``histories`` (n, T, 2) int8.

        Without a graph, on the CPU, compiled code does it, many times as fast. Raises ``ValueError`` there for
        histories that no game of this size has; with a graph torch raises an error of its own.
        """
        if histories.device.type == "cpu" and not torch.is_grad_enabled():
            arrays = [parameter.detach().numpy() for parameter in self.parameters()]
            rows = np.arange(len(histories))
            return torch.from_numpy(_encoded(histories.contiguous().numpy(), rows, arrays)[0])
        seats, actions = histories.long().unbind(2)
        used = (seats >= 0).long().cumprod(1) > 0
        tokens = torch.where(used, seats * (self.num_actions + 1) + actions + 1, 0)
        last = used.sum(1, keepdim=True) - 1
        ages = (last - torch.arange(tokens.shape[1], device=tokens.device)).clamp(0, self.length - 1)
        token_scores, age_scores, token_values, age_values = self.parameters()
        lookup = nn.functional.embedding
        scores = lookup(tokens, token_scores.flatten(0, 1)) + lookup(ages, age_scores)
        weights = scores.masked_fill(~used[:, :, None], _UNUSED_SCORE).softmax(1) * used[:, :, None]
        values = lookup(tokens, token_values.flatten(0, 1)) + lookup(ages, age_values)
        heads = values.unflatten(2, (self.heads, -1))
        return torch.einsum("nth,nthw->nhw", weights, heads).flatten(1)

    def describe(self) -> dict[str, Any]:
        """What this encoder can be rebuilt from, as JSON values."""
        return {
            "encoder": "attention",
            "players": self.num_players,
            "actions": self.num_actions,
            "length": self.length,
            "heads": self.heads,
            "outputs": self.outputs,
        }


def weight_shapes(
    num_players: int, num_actions: int, length: int, heads: int = HEADS, outputs: int = OUTPUTS
) -> dict[str, tuple[int, ...]]:
    """The parameters of a ``HistoryEncoder``, in their order."""
    return {
        "token_scores": (num_players, num_actions + 1, heads),
        "age_scores": (length, heads),
        "token_values": (num_players, num_actions + 1, outputs),
        "age_values": (length, outputs),
    }


class HistoryLayer:
    """A ``HistoryEncoder`` on flat vectors of weights, in the order of its parameters.

    Args:
        encoder: gives the shapes.
        weights: (K,) float32.
        gradient: (K,) in any precision; a backward pass fills it.

    Both are used where they lie: change them in place.
    """

    def __init__(self, encoder: HistoryEncoder, weights: torch.Tensor, gradient: torch.Tensor) -> None:
        self.outputs = encoder.outputs
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
        outputs, attention = _encoded(histories, rows, self._weights)
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


def check_histories(histories: object, rows: int) -> NDArray[np.int8]:
    """A copy of ``histories``, int8 (rows, T, 2). Raises ``ValueError`` for anything else."""
    given = np.asarray(histories)
    if given.dtype != np.int8 or given.ndim != 3 or (len(given), given.shape[2]) != (rows, 2):
        raise ValueError(
            f"histories {given.dtype} of shape {given.shape}: expected int8 of shape ({rows}, T, 2), the "
            "histories of the seats to move, as make_vec(..., history=True) and history_observation give them"
        )
    return given.copy()


def _encoded(
    histories: NDArray[np.int8], rows: NDArray[np.int64], weights: list[NDArray[np.float32]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Outputs (n, D) for ``rows`` of ``histories``, and the weights (n, T, H) of their rows."""
    token_scores, _, token_values, _ = weights
    num_players, num_tokens, heads = token_scores.shape
    outputs = np.empty((len(rows), token_values.shape[2]), np.float32)
    attention = np.empty((len(rows), histories.shape[1], heads), np.float32)
    if not encode(histories, rows, *weights, outputs, attention):
        raise ValueError(
            f"the histories hold what no history of {num_players} players and {num_tokens - 1} actions does, or not "
            f"the rows that are asked for: expected rows (relative seat, action), and (-2, -2) behind them"
        )
    return outputs, attention
