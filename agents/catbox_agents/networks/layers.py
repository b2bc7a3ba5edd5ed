"""The layers of an ``MLP`` on weights that lie in one flat vector: forward and backward in few operations.

Training calls these many times on small batches, from threads that share one interpreter lock. There, what counts
beside the matrix products is the number of operations: so nothing is converted or copied here that need not be, and
the derivative is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from catbox_agents.networks.history_modules import HistoryLayer
from catbox_env.core.compilation import cached_njit

#: Activation -> what it does to a tensor in place, and its gradient from that of its output and the output.
_ACTIVATIONS: dict[str, tuple[Callable[..., Any], Callable[..., torch.Tensor]]] = {
    "relu": (torch.relu_, lambda gradient, output: torch.ops.aten.threshold_backward(gradient, output, 0)),
    "tanh": (torch.tanh_, torch.ops.aten.tanh_backward),
}
#: The bits of -0 and of minus infinity in bfloat16: those of negative numbers lie between. Beyond are NaNs.
_MINUS_ZERO, _MINUS_INFINITY = 0x8000, 0xFF80


class Layers:
    """Fully connected layers on flat vectors of weights, in the order of ``MLP.parameters()``.

    Args:
        sizes: the number of inputs, the widths of the hidden layers, the number of outputs.
        activation: of the hidden layers, ``"relu"`` or ``"tanh"``.
        weights: (K,) in the precision of the hidden layers.
        last_weights: (K,) float32, the same numbers; the last layer is computed from these. bfloat16 has about three
            digits, too few for a logit or a value.
        gradient: (K,) in the precision of the hidden layers; a backward pass fills it.
        history: what made the last of the inputs, if they were made; a backward pass goes on through its last call.

    The vectors are used where they lie and never copied: change them in place. Nothing given may have
    ``requires_grad``: there is no graph, which would cost more than a matrix product does.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str,
        weights: torch.Tensor,
        last_weights: torch.Tensor,
        gradient: torch.Tensor,
        history: HistoryLayer | None = None,
    ) -> None:
        self.history = history
        self._activate, self._derivative = _ACTIVATIONS[activation]
        self._bits = activation == "relu" and weights.dtype == torch.bfloat16
        self._views = _views(weights, sizes)
        self._last = _views(last_weights, sizes)[-1]
        self._gradients = _views(gradient, sizes)

    def activations(self, inputs: torch.Tensor) -> list[torch.Tensor]:
        """``inputs``, and the output (n, H) of each hidden layer."""
        found = [inputs]
        for weight, bias in self._views[:-1]:
            output = torch.addmm(bias, found[-1], weight.t())
            if self._bits:  # several times as fast as torch
                _relu_bits(output.view(-1).view(torch.uint16).numpy())
            else:
                self._activate(output)
            found.append(output)
        return found

    def outputs(self, activations: Sequence[torch.Tensor]) -> torch.Tensor:
        """Outputs (n, num_outputs) float32, from what ``activations`` returned."""
        weight, bias = self._last
        return torch.addmm(bias, activations[-1].float(), weight.t())

    def backward(self, activations: Sequence[torch.Tensor], gradient: torch.Tensor) -> None:
        """Fill the gradient of the weights from that of the outputs (n, num_outputs)."""
        gradient = gradient.to(activations[0].dtype)
        torch.sum(gradient, 0, out=self._gradients[-1][1])
        for layer in reversed(range(len(activations))):
            torch.mm(gradient.t(), activations[layer], out=self._gradients[layer][0])
            if not layer and self.history:
                self.history.backward(torch.mm(gradient, self._views[0][0][:, -self.history.outputs :]))
            if layer:
                gradient = torch.mm(gradient, self._views[layer][0])
                gradient = self._before_activation(
                    gradient, activations[layer], self._gradients[layer - 1][1]
                )

    def _before_activation(
        self, gradient: torch.Tensor, output: torch.Tensor, of_bias: torch.Tensor
    ) -> torch.Tensor:
        """The gradient (n, H) of a layer's sums, from that of their activations ``output``; fills that of its bias."""
        if self._bits:
            sums = np.empty(len(of_bias), np.float32)
            _relu_bits_backward(gradient.view(torch.uint16).numpy(), output.view(torch.uint16).numpy(), sums)
            of_bias.copy_(torch.from_numpy(sums))
            return gradient
        gradient = self._derivative(gradient, output)
        torch.sum(gradient, 0, out=of_bias)
        return gradient


@cached_njit(nogil=True)
def _relu_bits(numbers: np.ndarray) -> None:
    """ReLU in place of ``numbers`` (n,) uint16, the bits of bfloat16. A NaN stays one, as in torch."""
    smallest, largest = np.uint16(_MINUS_ZERO), np.uint16(_MINUS_INFINITY)
    for i in range(len(numbers)):
        negative = (numbers[i] >= smallest) & (numbers[i] <= largest)
        numbers[i] = np.uint16(0) if negative else numbers[i]


@cached_njit(nogil=True)
def _relu_bits_backward(gradients: np.ndarray, outputs: np.ndarray, sums: np.ndarray) -> None:
    """``gradients`` (n, H) become 0 where ``outputs`` (n, H) of ``_relu_bits`` are; both uint16, the bits of bfloat16.

    ``sums`` (H,) float32 are filled with what is left of each column, added up.
    """
    sums[:] = 0.0
    width = min(len(sums), gradients.shape[1], outputs.shape[1])
    bits = np.empty(width, np.uint32)  # of one row in float32
    numbers = bits.view(np.float32)
    for k in range(min(len(gradients), len(outputs))):
        gradient, output = gradients[k, :width], outputs[k, :width]
        for i in range(len(gradient)):
            left = gradient[i] if output[i] != 0 else np.uint16(0)
            gradient[i] = left
            bits[i] = np.uint32(left) << np.uint32(16)
        for i in range(len(numbers)):
            sums[i] += numbers[i]


def _views(vector: torch.Tensor, sizes: Sequence[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Weight (out, in) and bias (out,) of each layer. Raises ``ValueError`` for a vector of another length."""
    needed = sum((inputs + 1) * outputs for inputs, outputs in pairwise(sizes))
    if vector.shape != (needed,):
        raise ValueError(
            f"a vector of shape {tuple(vector.shape)} for layers of the sizes {list(sizes)}: expected ({needed},)"
        )
    found, start = [], 0
    for inputs, outputs in pairwise(sizes):
        middle = start + inputs * outputs
        stop = middle + outputs
        found.append((vector[start:middle].view(outputs, inputs), vector[middle:stop]))
        start = stop
    return found
