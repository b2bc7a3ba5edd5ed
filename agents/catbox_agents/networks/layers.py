"""The layers of an ``MLP`` on weights that lie in one flat vector: forward and backward in few operations.

Training calls these many times on small batches, from threads that share one interpreter lock. There, what counts
beside the matrix products is the number of operations: so nothing is converted or copied here that need not be, and
the derivative is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch

#: Activation -> what it does to a tensor in place, and its gradient from that of its output and the output.
_ACTIVATIONS: dict[str, tuple[Callable[..., Any], Callable[..., torch.Tensor]]] = {
    "relu": (torch.relu_, lambda gradient, output: torch.ops.aten.threshold_backward(gradient, output, 0)),
    "tanh": (torch.tanh_, torch.ops.aten.tanh_backward),
}


class Layers:
    """Fully connected layers on flat vectors of weights, in the order of ``MLP.parameters()``.

    Args:
        sizes: the number of inputs, the widths of the hidden layers, the number of outputs.
        activation: of the hidden layers, ``"relu"`` or ``"tanh"``.
        weights: (K,) in the precision of the hidden layers, with ``requires_grad``.
        last_weights: (K,) float32, the same numbers; the last layer is computed from these. bfloat16 has about three
            digits, too few for a logit or a value.
        gradient: (K,) in the precision of the hidden layers; a backward pass fills it.

    All three are used where they lie and never copied: change them in place.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str,
        weights: torch.Tensor,
        last_weights: torch.Tensor,
        gradient: torch.Tensor,
    ) -> None:
        self._weights = weights
        self._activate, self._derivative = _ACTIVATIONS[activation]
        self._views = _views(weights.detach(), sizes)
        self._last = _views(last_weights.detach(), sizes)[-1]
        self._gradients = _views(gradient, sizes)

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        """Outputs (n, num_outputs) float32 of ``inputs`` (n, I), scaled and in the precision of the hidden layers.

        Differentiable, in ``inputs`` too. A backward pass fills ``gradient`` (and leaves ``weights.grad`` as it is), so
        there is one backward pass at most before the gradient is read.
        """
        outputs: torch.Tensor = _Function.apply(inputs, self._weights, self)
        return outputs

    def activations(self, inputs: torch.Tensor) -> list[torch.Tensor]:
        """``inputs``, and the output (n, H) of each hidden layer. No gradient is recorded."""
        found = [inputs]
        for weight, bias in self._views[:-1]:
            found.append(self._activate(torch.addmm(bias, found[-1], weight.t())))
        return found

    def outputs(self, inputs: torch.Tensor) -> torch.Tensor:
        """What a call gives, for ``inputs`` that nothing is differentiated by, under ``torch.no_grad()``."""
        return self._outputs(self.activations(inputs)[-1])

    def _outputs(self, hidden: torch.Tensor) -> torch.Tensor:
        weight, bias = self._last
        return torch.addmm(bias, hidden.float(), weight.t())

    def _backward(
        self, activations: Sequence[torch.Tensor], gradient: torch.Tensor, of_inputs: bool
    ) -> torch.Tensor | None:
        """Fill the gradient of the weights from that of the outputs; that of the inputs, if wanted."""
        gradient = gradient.to(activations[0].dtype)
        for layer in reversed(range(len(activations))):
            of_weight, of_bias = self._gradients[layer]
            torch.mm(gradient.t(), activations[layer], out=of_weight)
            torch.sum(gradient, 0, out=of_bias)
            if layer or of_inputs:
                gradient = torch.mm(gradient, self._views[layer][0])
            if layer:
                gradient = self._derivative(gradient, activations[layer])
        return gradient if of_inputs else None


class _Function(torch.autograd.Function):
    """The outputs of ``Layers`` as one node of the graph. The weights are an argument so that there is a graph."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weights: torch.Tensor, layers: Layers) -> torch.Tensor:
        activations = layers.activations(inputs)
        ctx.save_for_backward(*activations)
        ctx.layers = layers
        return layers._outputs(activations[-1])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, None, None]:
        return ctx.layers._backward(ctx.saved_tensors, gradient, ctx.needs_input_grad[0]), None, None


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
