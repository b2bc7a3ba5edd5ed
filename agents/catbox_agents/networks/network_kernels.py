"""The compiled layer of ``network``. It reads and writes nothing out of bounds.

Observations are mostly zeros, and ReLU makes half of the numbers in between zeros. So the rows of the weights that
belong to a zero are left out; a matrix product of a library would take all of them. Each row of inputs is summed up in
the same order whatever stands beside it, in one thread: the outputs for a position depend neither on the size of the
batch nor on the number of threads or processes.
"""

from __future__ import annotations

import numba
import numpy as np

from catbox_env.core.compilation import cached_njit

#: Rows of weights that are added in one pass over the outputs.
_AT_ONCE = 8


@numba.njit
def _list_nonzero(numbers: np.ndarray, places: np.ndarray, values: np.ndarray) -> int:
    """Fill the front of ``places`` and ``values`` (n + 8,) with the ``numbers`` (n,) that are not 0; how many there are.

    Up to a multiple of 8 the place 0 with the value 0 follows.
    """
    count = 0
    for i in range(len(numbers)):
        places[count] = i  # count <= i
        values[count] = np.float32(numbers[i])
        count += numbers[i] != 0
    for i in range(count, count + _AT_ONCE):
        places[i], values[i] = 0, 0.0
    return count


@numba.njit(fastmath={"contract"})  # a product and a sum are one instruction
def _add_rows(weights: np.ndarray, places: np.ndarray, values: np.ndarray, output: np.ndarray) -> None:
    """Add the 8 rows ``places`` of ``weights`` (I, H), times ``values``, to ``output`` (H,)."""
    a, b, c, d = weights[places[0]], weights[places[1]], weights[places[2]], weights[places[3]]
    e, f, g, h = weights[places[4]], weights[places[5]], weights[places[6]], weights[places[7]]
    u, v, w, x = values[0], values[1], values[2], values[3]
    y, z, p, q = values[4], values[5], values[6], values[7]
    for k in range(len(output)):
        output[k] += (
            u * a[k] + v * b[k] + w * c[k] + x * d[k] + y * e[k] + z * f[k] + p * g[k] + q * h[k]
        )


@cached_njit(nogil=True)
def add_layer(inputs: np.ndarray, weights: np.ndarray, outputs: np.ndarray, relu: bool) -> bool:
    """Add the product of ``inputs`` (n, I) and ``weights`` (I, H) float32 to ``outputs`` (n, H) float32; then, if
    ``relu``, negative numbers become 0, and a NaN stays one. False, and nothing changed, for other shapes."""
    num_inputs, width = weights.shape
    if inputs.shape[1] != num_inputs or outputs.shape != (len(inputs), width):
        return False
    places = np.empty(num_inputs + _AT_ONCE, np.int64)
    values = np.empty(num_inputs + _AT_ONCE, np.float32)
    for i in range(len(inputs)):
        output = outputs[i]
        for k in range(0, _list_nonzero(inputs[i], places, values), _AT_ONCE):
            _add_rows(weights, places[k : k + _AT_ONCE], values[k : k + _AT_ONCE], output)
        if relu:
            for k in range(width):
                output[k] = np.float32(0.0) if output[k] < 0 else output[k]
    return True
