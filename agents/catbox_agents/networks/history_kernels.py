"""The compiled forward pass of ``history``, on NumPy arrays. It never reads out of bounds."""

from __future__ import annotations

import math

import numpy as np

from catbox_env.core.compilation import cached_njit, njit

#: Smaller sums of weights are recomputed with full precision.
_SMALLEST_SUM = 1e-20
#: So that sums are vectorized.
_FAST = {"reassoc", "contract"}


@njit
def _length(history: np.ndarray) -> int:
    """The number of rows of ``history`` (T, 2) before it ends."""
    length = 0
    while length < len(history) and history[length, 0] >= 0:
        length += 1
    return length


@njit
def _known(history: np.ndarray, length: int, num_players: int, num_actions: int) -> bool:
    """Whether the first ``length`` rows are possible in a game of this size."""
    for t in range(length):
        seat, action = history[t, 0], history[t, 1]
        if seat < 0 or seat >= num_players or action < -1 or action >= num_actions:
            return False
    return True


@njit
def _exponentials(scores: np.ndarray) -> np.ndarray:
    """The exponentials of ``scores`` (n, H), each head's divided by its largest: the same softmax without overflow."""
    found = np.empty_like(scores)
    for head in range(scores.shape[1]):
        largest = scores[:, head].max()
        for k in range(len(scores)):
            found[k, head] = np.float32(math.exp(scores[k, head] - largest))
    return found


@njit(fastmath=_FAST)
def _encode_one(
    history: np.ndarray,
    length: int,
    of_token: np.ndarray,
    of_age: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    output: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Fill ``output`` (D,) for a valid history, each head's part times its ``sums`` (H,).

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
            sums[head] += weight
            for k in range(head * width, (head + 1) * width):
                output[k] += weight * (token_values[seat, place, k] + age_values[age, k])


@njit
def _encode_one_exactly(
    history: np.ndarray,
    length: int,
    token_scores: np.ndarray,
    age_scores: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    output: np.ndarray,
    sums: np.ndarray,
) -> None:
    """The same from the scores, with each weight divided by the largest of the history."""
    heads, oldest = len(sums), len(age_scores) - 1
    width = len(output) // heads
    output[:] = 0.0
    sums[:] = 0.0
    for head in range(heads):
        largest = np.float32(-np.inf)
        for t in range(length):
            seat, place, age = history[t, 0], history[t, 1] + 1, min(length - 1 - t, oldest)
            largest = max(largest, token_scores[seat, place, head] + age_scores[age, head])
        for t in range(length):
            seat, place, age = history[t, 0], history[t, 1] + 1, min(length - 1 - t, oldest)
            weight = np.float32(math.exp(token_scores[seat, place, head] + age_scores[age, head] - largest))
            sums[head] += weight
            for k in range(head * width, (head + 1) * width):
                output[k] += weight * (token_values[seat, place, k] + age_values[age, k])


@cached_njit(nogil=True)
def valid_histories(histories: np.ndarray, num_players: int, num_actions: int, unused: int) -> bool:
    """Whether each of ``histories`` (n, T, 2) is possible in a game: rows of seats and actions, then ``unused``."""
    for history in histories:
        length = _length(history)
        if not _known(history, length, num_players, num_actions):
            return False
        for t in range(length, len(history)):
            if history[t, 0] != unused or history[t, 1] != unused:
                return False
    return True


@njit
def _fit(
    histories: np.ndarray,
    token_scores: np.ndarray,
    age_scores: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    outputs: np.ndarray,
) -> bool:
    """Whether the shapes of the encoder, its histories and its outputs match."""
    num_players, num_tokens, heads = token_scores.shape
    num_ages = len(age_scores)
    if min(num_players, num_tokens, heads, num_ages) == 0:
        return False
    size = token_values.shape[2] // heads * heads
    return (
        token_values.shape == (num_players, num_tokens, size)
        and age_scores.shape == (num_ages, heads)
        and age_values.shape == (num_ages, size)
        and outputs.shape == (len(histories), size)
        and histories.shape[2] == 2
    )


@cached_njit(nogil=True)
def encode(
    histories: np.ndarray,
    token_scores: np.ndarray,
    age_scores: np.ndarray,
    token_values: np.ndarray,
    age_values: np.ndarray,
    outputs: np.ndarray,
) -> bool:
    """Fill ``outputs`` (n, D) for ``histories`` (n, T, 2).

    Returns False, with undefined ``outputs``, for a seat or an action that is not in the tables, and for arrays whose
    shapes do not match.
    """
    if not _fit(histories, token_scores, age_scores, token_values, age_values, outputs):
        return False
    num_players, num_tokens, heads = token_scores.shape
    width = token_values.shape[2] // heads
    of_token = _exponentials(token_scores.reshape(num_players * num_tokens, heads))
    of_age = _exponentials(age_scores)
    sums = np.empty(heads, np.float32)
    for i, history in enumerate(histories):
        length = _length(history)
        if not _known(history, length, num_players, num_tokens - 1):
            return False
        if length == 0:
            outputs[i] = 0.0
            continue
        output = outputs[i]
        _encode_one(history, length, of_token, of_age, token_values, age_values, output, sums)
        if not sums.min() > _SMALLEST_SUM:  # scores far below the largest of their table
            _encode_one_exactly(
                history, length, token_scores, age_scores, token_values, age_values, output, sums
            )
        for head in range(heads):
            factor = np.divide(np.float32(1.0), sums[head])
            for k in range(head * width, (head + 1) * width):
                output[k] *= factor
    return True
