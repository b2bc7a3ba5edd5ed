"""The network in torch, for training: fully connected layers from an observation to one output for each action."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.features import NetworkInputs, input_scale, part_sizes
from catbox_agents.networks.action_head import ILLEGAL, action_logits, learning_logits, score_gradient
from catbox_agents.networks.action_head import sample_legal as sample_on_cpu
from catbox_agents.networks.numpy_network import check_hidden_layers

_ILLEGAL = float(ILLEGAL)  # a NumPy number would break a compiled graph
_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class _ActionScores(torch.autograd.Function):
    """The action head on a CPU, compiled: it skips illegal actions, which are most of them."""

    @staticmethod
    def forward(ctx: Any, outputs: torch.Tensor, masks: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
        ctx.arrays = [tensor.numpy() for tensor in (masks, *given)]
        ctx.width = outputs.shape[1]
        return torch.from_numpy(learning_logits(outputs.detach().numpy(), *ctx.arrays))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (of_logits,), (masks, *_) = gradients, ctx.arrays
        gradient = torch.zeros((len(masks), ctx.width))
        gradient[:, : masks.shape[1]] = of_logits
        score_gradient(gradient.numpy(), *ctx.arrays)
        return gradient, None, None, None


def sample_legal(
    logits: torch.Tensor, masks: torch.Tensor, uniforms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """`action_head.sample_legal` for tensors on any device.

    Takes ``logits`` (n, A) float32, ``masks`` (n, A) bool, and ``uniforms`` (n,) in [0, 1). Returns the actions (n,)
    int64 and their log-probabilities (n,) float32.
    """
    if masks.device.type == "cpu":
        actions, log_probs = sample_on_cpu(logits.numpy(), masks.numpy(), uniforms.numpy())
        return torch.from_numpy(actions), torch.from_numpy(log_probs)
    return _sample_on_gpu(logits, masks, uniforms)


def _sample_on_gpu(
    logits: torch.Tensor, masks: torch.Tensor, uniforms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    logs = logits.masked_fill(~masks, _ILLEGAL).log_softmax(1)
    sums = logs.exp().cumsum(1)
    # Rounding may lift the sum at an illegal action, or keep all sums below the threshold: then the last action counts.
    reached = (sums > (uniforms * sums[:, -1])[:, None]) & masks
    last = masks.shape[1] - 1 - masks.flip(1).int().argmax(1)
    actions = torch.where(reached.any(1), reached.int().argmax(1), last)
    return actions, logs.gather(1, actions[:, None])[:, 0]


class MLP(nn.Module):
    """Fully connected layers from an int8 vector to float32 outputs: the policy, and in training also values.

    ``scale`` (I,) multiplies the inputs; ``hidden`` are the widths of the hidden layers. ``PolicyNetwork``
    computes the same without torch, for playing.

    With an action head (see ``action_head``) the last outputs are weights of the features of actions, which
    ``action_scale`` (K,) multiplies. ``features`` and ``action_features`` name the features of the game that the
    network takes beside the observation, with their sizes.

    The last ``num_values`` outputs are values, for training only: `arrays` and `describe` leave them out.
    """

    input_scale: torch.Tensor
    action_scale: torch.Tensor | None

    def __init__(
        self,
        scale: NDArray[np.float32] | torch.Tensor,
        hidden: Sequence[int],
        num_outputs: int,
        activation: str = "relu",
        *,
        action_scale: NDArray[np.float32] | None = None,
        features: Mapping[str, int] | None = None,
        action_features: Mapping[str, int] | None = None,
        num_values: int = 0,
    ) -> None:
        super().__init__()
        check_hidden_layers(hidden, activation)
        self.activation = activation
        self.features, self.action_features = dict(features or {}), dict(action_features or {})
        self.register_buffer("input_scale", torch.as_tensor(scale))
        self.register_buffer("action_scale", None if action_scale is None else torch.from_numpy(action_scale))
        self.num_values = num_values
        sizes = [len(scale), *hidden, num_outputs + num_values]
        self.layers = nn.ModuleList(
            nn.utils.skip_init(nn.Linear, inputs, outputs, device=torch.get_default_device())
            for inputs, outputs in pairwise(sizes)
        )
        self._frozen: torch.Tensor | None = None

    @classmethod
    def for_policy(
        cls, inputs: NetworkInputs, hidden: Sequence[int], activation: str = "relu", num_values: int = 0
    ) -> MLP:
        """A policy that takes ``inputs``, with its weights not yet set."""
        return cls(
            inputs.scale(),
            hidden,
            inputs.game.num_actions + inputs.action_size,
            activation,
            action_scale=input_scale(inputs.action_layout) if inputs.action_layout else None,
            features=part_sizes(inputs.layout),
            action_features=part_sizes(inputs.action_layout),
            num_values=num_values,
        )

    def initialise(self, generator: torch.Generator, last_gain: float) -> MLP:
        """Draw orthogonal weights (Saxe et al. 2014, https://arxiv.org/abs/1312.6120) and zero biases; returns self.
        ``last_gain`` is that of all outputs but values."""
        layers = self.linear_layers()
        for layer in layers:
            gain = last_gain if layer is layers[-1] else math.sqrt(2)
            nn.init.orthogonal_(layer.weight, gain, generator=generator)
            nn.init.zeros_(layer.bias)
        if self.num_values:
            nn.init.orthogonal_(layers[-1].weight[-self.num_values :], generator=generator)
        return self

    def linear_layers(self) -> list[nn.Linear]:
        """The layers from the inputs to the outputs."""
        return cast(list[nn.Linear], list(self.layers))

    def sizes(self) -> list[int]:
        """The number of inputs of the layers, the widths of the hidden layers, the number of outputs but values."""
        layers = self.linear_layers()
        return [layers[0].in_features, *(layer.out_features for layer in layers[:-1]), self._num_outputs()]

    def _num_outputs(self) -> int:
        return self.linear_layers()[-1].out_features - self.num_values

    def forward(self, vectors: torch.Tensor, *, precision: torch.dtype = torch.float32) -> torch.Tensor:
        """Outputs (n, num_outputs + num_values) float32 for ``vectors`` (n, I) int8, computed in ``precision``."""
        first, *others = self.linear_layers()
        activation = _ACTIVATIONS[self.activation]
        x = nn.functional.linear(vectors.to(precision), self._first(precision), first.bias.to(precision))
        for layer in others:
            x = nn.functional.linear(activation(x), layer.weight.to(precision), layer.bias.to(precision))
        return x.float()

    def _first(self, precision: torch.dtype) -> torch.Tensor:
        """The weights (H, I) of the inputs times their factors.

        The factors are powers of two, so multiplying the weights by them instead of the inputs is exact.
        """
        if self._frozen is not None:
            return self._frozen
        return (self.linear_layers()[0].weight * self.input_scale).to(precision)

    def frozen(self, precision: torch.dtype) -> MLP:
        """A copy that computes the same in ``precision``, faster: for playing, not for training."""
        twin = copy.deepcopy(self).requires_grad_(False)
        twin._frozen = self._first(precision).detach()
        twin.layers.to(precision)
        return twin

    def logits_of(
        self, outputs: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        """Logits (n, A) float32 of a policy with the ``outputs`` of ``forward`` and ``action_features`` (n, A, K) int8;
        ``ILLEGAL`` where ``masks`` (n, A) bool forbid the action: its probability is exactly 0."""
        if self.action_scale is None:
            return outputs[:, : masks.shape[1]].masked_fill(~masks, _ILLEGAL)
        if outputs.device.type == "cpu":
            return cast(torch.Tensor, _ActionScores.apply(outputs, masks, action_features, self.action_scale))
        return self._logits_on_gpu(outputs, action_features, masks)

    def action_logits(
        self, outputs: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        """`logits_of` where ``masks`` are, for playing: on a CPU, ``outputs`` are changed in place, and the logits of
        illegal actions mean nothing."""
        outputs = outputs.to(masks.device)
        if self.action_scale is None:
            return outputs[:, : masks.shape[1]]
        if masks.device.type != "cpu":
            return self.logits_of(outputs, action_features, masks)
        arrays = (tensor.numpy() for tensor in (outputs, masks, action_features, self.action_scale.cpu()))
        return torch.from_numpy(action_logits(*arrays))

    def _logits_on_gpu(
        self, outputs: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        assert self.action_scale is not None
        logits, weights, _ = outputs.split([masks.shape[1], len(self.action_scale), self.num_values], 1)
        scores = torch.einsum("nak,nk->na", action_features.float(), weights * self.action_scale)
        return (logits + scores).masked_fill(~masks, _ILLEGAL)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Copies of its weights and factors in float32, named as in ``checkpoint``."""
        return {name: tensor.float().cpu().numpy().copy() for name, tensor in self._played().items()}

    @torch.no_grad()
    def set_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Load what ``arrays`` of a network of the same shape returned."""
        for name, tensor in self._played().items():
            tensor.copy_(torch.from_numpy(arrays[name]))

    def _played(self) -> dict[str, torch.Tensor]:
        """Its weights and factors by name, without those of values."""
        tensors = {name: tensor.detach() for name, tensor in self.state_dict().items()}
        for part in ("weight", "bias"):
            name = f"layers.{len(self.layers) - 1}.{part}"
            tensors[name] = tensors[name][: self._num_outputs()]
        return tensors

    def describe(self) -> dict[str, Any]:
        """JSON values from which this network can be rebuilt."""
        _, *hidden, outputs = self.sizes()
        described = {
            "inputs": len(self.input_scale),
            "hidden": hidden,
            "outputs": outputs,
            "activation": self.activation,
        }
        if self.features:
            described["features"] = self.features
        if self.action_features:
            described["action_features"] = self.action_features
        return described
