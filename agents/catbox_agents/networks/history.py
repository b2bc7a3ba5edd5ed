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
weights for training on the CPU, compiled, with a derivative written by hand.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_env.core.compilation import cached_njit

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
        _add_gradient(*self._last, gradient.float().numpy(), *self._weights[2:], *self._gradients)
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
    if not _encode(histories, rows, *weights, outputs, attention):
        raise ValueError(
            f"the histories hold what no history of {num_players} players and {num_tokens - 1} actions does, or not "
            f"the rows that are asked for: expected rows (relative seat, action), and (-2, -2) behind them"
        )
    return outputs, attention


@numba.njit
def _length(history: np.ndarray) -> int:
    """How many rows ``history`` (T, 2) has before it ends."""
    length = 0
    while length < len(history) and history[length, 0] >= 0:
        length += 1
    return length


@numba.njit
def _known(history: np.ndarray, length: int, num_players: int, num_actions: int) -> bool:
    """Whether the first ``length`` rows are those of a game of this size."""
    for t in range(length):
        seat, action = history[t, 0], history[t, 1]
        if seat < 0 or seat >= num_players or action < -1 or action >= num_actions:
            return False
    return True


#: Smaller sums of weights are computed anew, with all digits.
_SMALLEST_SUM = 1e-20
#: So that sums are taken in parts side by side.
_FAST = {"reassoc", "contract"}


@numba.njit
def _exponentials(scores: np.ndarray) -> np.ndarray:
    """The exponentials of ``scores`` (n, H), each head's divided by its largest: the same softmax, and no overflow."""
    found = np.empty_like(scores)
    for head in range(scores.shape[1]):
        largest = scores[:, head].max()
        for k in range(len(scores)):
            found[k, head] = np.float32(math.exp(scores[k, head] - largest))
    return found


@numba.njit(fastmath=_FAST)
def _encode_one(
    history: np.ndarray,
    length: int,
    of_token: np.ndarray,
    of_age: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    output: np.ndarray,
    attention: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Fill ``output`` (D,) and ``attention`` (T, H) of a history that is known, both times ``sums`` (H,).

    ``of_token`` and ``of_age`` are the exponentials of the scores.
    """
    heads, oldest, num_tokens = len(sums), len(of_age) - 1, token_values.shape[1]
    width = len(output) // heads
    output[:] = 0.0
    sums[:] = 0.0
    for t in range(length):
        seat, place, age = history[t, 0], history[t, 1] + 1, min(length - 1 - t, oldest)
        for head in range(heads):
            weight = of_token[seat * num_tokens + place, head] * of_age[age, head]
            attention[t, head] = weight
            sums[head] += weight
            for k in range(head * width, (head + 1) * width):
                output[k] += weight * (token_values[seat, place, k] + age_values[age, k])


@numba.njit
def _encode_one_exactly(
    history: np.ndarray,
    length: int,
    token_scores: np.ndarray,
    age_scores: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    output: np.ndarray,
    attention: np.ndarray,
    sums: np.ndarray,
) -> None:
    """The same from the scores, each weight divided by the largest of the history."""
    heads, oldest = len(sums), len(age_scores) - 1
    width = len(output) // heads
    output[:] = 0.0
    sums[:] = 0.0
    for head in range(heads):
        largest = np.float32(-np.inf)
        for t in range(length):
            seat, place, age = history[t, 0], history[t, 1] + 1, min(length - 1 - t, oldest)
            attention[t, head] = token_scores[seat, place, head] + age_scores[age, head]
            largest = max(largest, attention[t, head])
        for t in range(length):
            seat, place, age = history[t, 0], history[t, 1] + 1, min(length - 1 - t, oldest)
            weight = np.float32(math.exp(attention[t, head] - largest))
            attention[t, head] = weight
            sums[head] += weight
            for k in range(head * width, (head + 1) * width):
                output[k] += weight * (token_values[seat, place, k] + age_values[age, k])


@numba.njit(fastmath=_FAST)
def _add_gradient_of_one(
    history: np.ndarray,
    length: int,
    output: np.ndarray,
    attention: np.ndarray,
    gradient: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    of_token_scores: np.ndarray,
    of_age_scores: np.ndarray,
    of_token_values: np.ndarray,
    of_age_values: np.ndarray,
    pulled: np.ndarray,
) -> None:
    """Add to the gradients by the weights, from ``gradient`` (D,) by ``output`` (D,); ``pulled`` (D,) is scratch."""
    heads, oldest = of_age_scores.shape[1], len(of_age_scores) - 1
    width = len(output) // heads
    for t in range(length):
        seat, place, age = history[t, 0], history[t, 1] + 1, min(length - 1 - t, oldest)
        # Long loops over one array each: compiled code need not find out whether arrays overlap.
        for head in range(heads):
            for k in range(head * width, (head + 1) * width):
                pulled[k] = attention[t, head] * gradient[k]
        of_token, of_values = of_token_values[seat, place], token_values[seat, place]
        for k in range(len(pulled)):
            of_token[k] += pulled[k]
        of_age, age_value = of_age_values[age], age_values[age]
        for k in range(len(pulled)):
            of_age[k] += pulled[k]
        for k in range(len(pulled)):
            pulled[k] *= of_values[k] + age_value[k] - output[k]
        for head in range(heads):
            pull = np.float32(0.0)
            for k in range(head * width, (head + 1) * width):
                pull += pulled[k]
            of_token_scores[seat, place, head] += pull
            of_age_scores[age, head] += pull


@cached_njit(nogil=True)
def sound_histories(histories: np.ndarray, num_players: int, num_actions: int, unused: int) -> bool:
    """Whether each of ``histories`` (n, T, 2) may be one of a game: rows of seats and actions, then ``unused``."""
    for history in histories:
        length = _length(history)
        if not _known(history, length, num_players, num_actions):
            return False
        for t in range(length, len(history)):
            if history[t, 0] != unused or history[t, 1] != unused:
                return False
    return True


@cached_njit(nogil=True)
def _encode(
    histories: np.ndarray,
    rows: np.ndarray,
    token_scores: np.ndarray,
    age_scores: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    outputs: np.ndarray,
    attention: np.ndarray,
) -> bool:
    """Fill ``outputs`` (n, D) and ``attention`` (n, T, H) for ``rows`` (n,) of ``histories`` (M, T, 2).

    False, and what it fills is of no use, for a row that is not there, a seat or an action that is not in the tables,
    and arrays that do not fit each other.
    """
    num_players, num_tokens, heads = token_scores.shape
    num_ages, width = len(age_scores), token_values.shape[2] // heads
    if (
        token_values.shape != (num_players, num_tokens, heads * width)
        or age_scores.shape != (num_ages, heads)
        or age_values.shape != (num_ages, heads * width)
        or outputs.shape != (len(rows), heads * width)
        or attention.shape != (len(rows), histories.shape[1], heads)
        or histories.shape[2] != 2
        or num_ages == 0
    ):
        return False
    of_token = _exponentials(token_scores.reshape(num_players * num_tokens, heads))
    of_age = _exponentials(age_scores)
    sums = np.empty(heads, np.float32)
    for i in range(len(rows)):
        if rows[i] < 0 or rows[i] >= len(histories):
            return False
        history = histories[rows[i]]
        length = _length(history)
        if not _known(history, length, num_players, num_tokens - 1):
            return False
        if length == 0:
            outputs[i] = 0.0
            continue
        output, of_rows = outputs[i], attention[i]
        _encode_one(history, length, of_token, of_age, token_values, age_values, output, of_rows, sums)
        if not sums.min() > _SMALLEST_SUM:  # scores far under the largest of their table
            _encode_one_exactly(
                history, length, token_scores, age_scores, token_values, age_values, output, of_rows, sums
            )
        for head in range(heads):
            factor = np.divide(np.float32(1.0), sums[head])
            for t in range(length):
                of_rows[t, head] *= factor
            for k in range(head * width, (head + 1) * width):
                output[k] *= factor
    return True


@cached_njit(nogil=True)
def _add_gradient(
    histories: np.ndarray,
    rows: np.ndarray,
    outputs: np.ndarray,
    attention: np.ndarray,
    gradient: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    of_token_scores: np.ndarray,
    of_age_scores: np.ndarray,
    of_token_values: np.ndarray,
    of_age_values: np.ndarray,
) -> bool:
    """Add to the gradients by the weights, from ``gradient`` (n, D) by the outputs; ``outputs`` and ``attention`` are
    those that ``_encode`` filled. False as there."""
    num_players, num_tokens, heads = of_token_scores.shape
    num_ages, width = len(of_age_scores), token_values.shape[2] // heads
    if (
        token_values.shape != (num_players, num_tokens, heads * width)
        or of_token_values.shape != token_values.shape
        or of_age_scores.shape != (num_ages, heads)
        or age_values.shape != (num_ages, heads * width)
        or of_age_values.shape != age_values.shape
        or outputs.shape != (len(rows), heads * width)
        or gradient.shape != outputs.shape
        or attention.shape != (len(rows), histories.shape[1], heads)
        or histories.shape[2] != 2
        or num_ages == 0
    ):
        return False
    pulled = np.empty(heads * width, np.float32)
    for i in range(len(rows)):
        if rows[i] < 0 or rows[i] >= len(histories):
            return False
        history = histories[rows[i]]
        length = _length(history)
        if not _known(history, length, num_players, num_tokens - 1):
            return False
        _add_gradient_of_one(
            history,
            length,
            outputs[i],
            attention[i],
            gradient[i],
            token_values,
            age_values,
            of_token_scores,
            of_age_scores,
            of_token_values,
            of_age_values,
            pulled,
        )
    return True
