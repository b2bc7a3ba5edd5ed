"""The compiled layer of ``numpy_network``. It never reads or writes out of bounds.

Observations are mostly zeros, and ReLU makes half of the hidden units zero: the weights of zeros are skipped. Rows of
inputs are processed in pairs, so that weights are read once for both, and all rows use a block of weights while it is
in the cache. Each sum is taken in the order of the inputs, whatever the other rows, and in one thread: the outputs for
a position depend neither on the other positions of a batch nor on the number of threads and processes.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import cached_njit, njit

#: Inputs whose weights are added in one pass over the outputs.
_AT_ONCE = 8
#: Weights that all rows use before the next ones are read: they stay in the nearer caches.
_WEIGHTS_AT_ONCE = 1 << 16


@njit
def _list_used(
    first: np.ndarray, second: np.ndarray, start: int, stop: int, places: np.ndarray, values: np.ndarray
) -> int:
    """Fill the front of ``places`` (I + 8,) with the indices from ``start`` to ``stop`` where ``first`` or ``second``
    (I,) is not 0, and that of ``values`` (2, I + 8) with the numbers there; returns how many there are. Pads them to a
    multiple of 8 with zeros of index 0."""
    count = 0
    for i in range(start, stop):
        places[count] = i  # count <= i
        values[0, count] = first[i]
        values[1, count] = second[i]
        count += (first[i] != 0) | (second[i] != 0)
    for i in range(count, count + _AT_ONCE):
        places[i] = 0
        values[0, i] = values[1, i] = 0.0
    return count


@njit(fastmath={"contract"})  # fused multiply-add
def _add_products(
    weights: np.ndarray,
    places: np.ndarray,
    values: np.ndarray,
    start: int,
    first: np.ndarray,
    second: np.ndarray,
) -> None:
    """Add ``weights`` (I, H) of 8 ``places`` from ``start`` on, times ``values``, to ``first`` and ``second`` (H,)."""
    a, b, c, d = places[start], places[start + 1], places[start + 2], places[start + 3]
    e, f, g, h = places[start + 4], places[start + 5], places[start + 6], places[start + 7]
    x, y = values[0, start : start + _AT_ONCE], values[1, start : start + _AT_ONCE]
    x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    y0, y1, y2, y3, y4, y5, y6, y7 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]
    for k in range(len(first)):
        s, t, u, v = weights[a, k], weights[b, k], weights[c, k], weights[d, k]
        w, z, p, q = weights[e, k], weights[f, k], weights[g, k], weights[h, k]
        first[k] = first[k] + x0 * s + x1 * t + x2 * u + x3 * v + x4 * w + x5 * z + x6 * p + x7 * q
        second[k] = second[k] + y0 * s + y1 * t + y2 * u + y3 * v + y4 * w + y5 * z + y6 * p + y7 * q


def _add_matrix_product(inputs: np.ndarray, weights: np.ndarray, outputs: np.ndarray, relu: bool) -> bool:
    """``add_layer`` without compilation: the same except for the rounding of the sums."""
    if weights.shape[0] != inputs.shape[1] or outputs.shape != (len(inputs), weights.shape[1]):
        return False
    for row, output in zip(inputs, outputs, strict=True):  # one by one, so that no row depends on the others
        output += row.astype(np.float32) @ weights
    if relu:
        np.maximum(outputs, 0.0, out=outputs)
    return True


@cached_njit(nogil=True, plain=_add_matrix_product)
def add_layer(inputs: np.ndarray, weights: np.ndarray, outputs: np.ndarray, relu: bool) -> bool:
    """Add the product of ``inputs`` (n, I) and ``weights`` (I, H) float32 to ``outputs`` (n, H) float32; then, if
    ``relu``, set negative numbers to 0 and keep NaN. Returns False, with nothing changed, for other shapes."""
    num_rows, num_inputs = inputs.shape
    width = weights.shape[1]
    if weights.shape[0] != num_inputs or outputs.shape != (num_rows, width):
        return False
    places = np.empty(num_inputs + _AT_ONCE, np.uint64)  # unsigned: no checks for negative indices
    values = np.empty((2, num_inputs + _AT_ONCE), np.float32)
    spare = np.zeros(width, np.float32)  # pairs with the last row if their number is odd
    block = num_inputs if num_rows <= 2 else max(_AT_ONCE, _WEIGHTS_AT_ONCE // max(width, 1))
    for begin in range(0, num_inputs, max(block, 1)):
        stop = min(begin + block, num_inputs)
        for i in range(0, num_rows, 2):
            other = min(i + 1, num_rows - 1)
            first, second = outputs[i], outputs[other] if other > i else spare
            count = _list_used(inputs[i], inputs[other], begin, stop, places, values)
            for start in range(0, count, _AT_ONCE):
                _add_products(weights, places, values, start, first, second)
    if relu:
        for i in range(num_rows):
            output = outputs[i]
            for k in range(width):
                output[k] = np.float32(0.0) if output[k] < 0 else output[k]
    return True
