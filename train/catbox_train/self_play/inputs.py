"""What the networks take: rows of a buffer of int8 vectors, scaled, in the precision of the hidden layers."""

from __future__ import annotations

import numpy as np
import torch

from catbox_agents.networks.history_modules import HistoryLayer
from catbox_env.core.compilation import cached_njit


class Inputs:
    """A buffer for the inputs of one network, used again in every call.

    ``scale`` (I,) float32 multiplies the vectors; see ``input_scale``. ``precision`` is float32 or bfloat16.
    ``history``, if given, makes D inputs behind those of the vectors from histories.
    """

    def __init__(
        self, scale: torch.Tensor, precision: torch.dtype, history: HistoryLayer | None = None
    ) -> None:
        self._history = history
        self._scale = scale.numpy()
        self._precision = precision
        self._allocate(0)

    def take(
        self, vectors: np.ndarray, rows: np.ndarray, histories: np.ndarray | None = None
    ) -> torch.Tensor:
        """Inputs (n, I + D) for ``rows`` (n,) int64 of ``vectors`` (M, I) int8; they hold until the next call.

        ``histories`` (M, T, 2) int8 are read, and needed, only where D inputs are made of them. Raises ``IndexError``
        for a row that is not there, ``ValueError`` for vectors of another length and for histories of another game.
        """
        if vectors.shape[1:] != self._scale.shape:
            raise ValueError(f"vectors of shape {vectors.shape}: expected (M, {len(self._scale)})")
        if len(rows) > len(self._buffer):
            self._allocate(len(rows))
        fill = _fill_float32 if self._precision == torch.float32 else _fill_bfloat16
        if not fill(vectors, rows, self._scale, self._numbers):
            raise IndexError(f"rows from {rows.min()} to {rows.max()}: expected 0 to {len(vectors) - 1}")
        taken = self._buffer[: len(rows)]
        if self._history:
            if histories is None:
                raise ValueError("these inputs are made of histories too: give them beside the vectors")
            taken[:, len(self._scale) :] = self._history(histories, rows)
        return taken

    def _allocate(self, num_rows: int) -> None:
        width = len(self._scale) + (self._history.outputs if self._history else 0)
        self._buffer = torch.empty((num_rows, width), dtype=self._precision)
        # NumPy has no bfloat16: the compiled code writes its bits.
        as_numpy = self._buffer if self._precision == torch.float32 else self._buffer.view(torch.uint16)
        self._numbers = as_numpy.numpy()


@cached_njit(nogil=True)
def _fill_float32(vectors: np.ndarray, rows: np.ndarray, scale: np.ndarray, out: np.ndarray) -> bool:
    """``out[i] = vectors[rows[i]] * scale``, float32; False, and nothing more written, at a row that is not there."""
    width = len(scale)
    if vectors.shape[1] != width or out.shape[1] < width or len(rows) > len(out):
        return False
    for i in range(len(rows)):
        row = rows[i]
        if row < 0 or row >= len(vectors):
            return False
        for column in range(width):
            out[i, column] = np.float32(vectors[row, column]) * scale[column]
    return True


@cached_njit(nogil=True)
def _fill_bfloat16(vectors: np.ndarray, rows: np.ndarray, scale: np.ndarray, out: np.ndarray) -> bool:
    """The same, ``out`` uint16 the bits of bfloat16: the upper half of those of float32.

    Nothing is lost: an int8 has no more digits than bfloat16 keeps, and the factors are powers of two.
    """
    width = len(scale)
    if vectors.shape[1] != width or out.shape[1] < width or len(rows) > len(out):
        return False
    scaled = np.empty(width, np.float32)
    bits = scaled.view(np.uint32)
    for i in range(len(rows)):
        row = rows[i]
        if row < 0 or row >= len(vectors):
            return False
        for column in range(width):
            scaled[column] = np.float32(vectors[row, column]) * scale[column]
        for column in range(width):
            out[i, column] = np.uint16(bits[column] >> np.uint32(16))
    return True
