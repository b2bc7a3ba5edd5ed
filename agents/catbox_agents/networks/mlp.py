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

from catbox_agents.networks.action_head import ILLEGAL, action_logits, score_gradient
from catbox_agents.networks.action_head import sample_legal as sample_on_cpu
from catbox_agents.networks.inputs import NetworkInputs, input_scale
from catbox_agents.networks.network import Network
from catbox_agents.networks.numpy_network import CRITIC, NumpyMLP, check_hidden_layers

_ILLEGAL = float(ILLEGAL)  # a NumPy number would break a compiled graph
_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class _ActionScores(torch.autograd.Function):
    """The action head on a CPU, compiled: it skips illegal actions, which are most of them."""

    @staticmethod
    def forward(ctx: Any, outputs: torch.Tensor, masks: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
        ctx.arrays = [tensor.numpy() for tensor in (masks, *given)]
        ctx.width = outputs.shape[1]
        return torch.from_numpy(action_logits(outputs.detach().numpy(), *ctx.arrays))

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


class MLP(Network):
    """Fully connected layers: an output for each action, and the values.

    ``hidden`` are the widths of the hidden layers. If the inputs have features of actions, further outputs are the
    weights of these features (see ``action_head``). ``NumpyMLP`` computes the same without torch, for playing.

    `arrays` hold a single value as the critic of the policy (`CRITIC`), and leave out several.
    """

    input_scale: torch.Tensor
    action_scale: torch.Tensor | None

    def __init__(
        self,
        inputs: NetworkInputs,
        num_values: int = 0,
        hidden: Sequence[int] = (256, 256),
        activation: str = "relu",
    ) -> None:
        check_hidden_layers(hidden, activation)
        super().__init__(inputs, num_values, hidden=list(hidden), activation=activation)
        self.activation, action_layout = activation, inputs.action_layout
        self.register_buffer("input_scale", torch.as_tensor(inputs.scale()))
        action_scale = torch.as_tensor(input_scale(action_layout)) if action_layout else None
        self.register_buffer("action_scale", action_scale)
        self.num_outputs = inputs.game.num_actions + inputs.action_size
        sizes = [inputs.size, *hidden, self.num_outputs + num_values]
        self.layers = nn.ModuleList(
            nn.utils.skip_init(nn.Linear, before, after, device=torch.get_default_device())
            for before, after in pairwise(sizes)
        )
        self._first_weights: torch.Tensor | None = None
        self.initialise()

    def initialise(self, generator: torch.Generator | None = None, last_gain: float = 0.01) -> MLP:
        """Draw orthogonal weights (Saxe et al. 2014, https://arxiv.org/abs/1312.6120) and zero biases; returns self.

        ``last_gain`` is that of all outputs but values: at first no action is much better than another.
        """
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

    def forward(
        self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """See `Network`."""
        outputs = self.outputs(vectors)
        return self.logits_of(outputs, action_features, masks), outputs[:, self.num_outputs :]

    def outputs(self, vectors: torch.Tensor) -> torch.Tensor:
        """Those of the last layer (n, num_outputs + num_values) float32."""
        first, *others = self.linear_layers()
        activation = _ACTIVATIONS[self.activation]
        precision = self.precision
        x = nn.functional.linear(vectors.to(precision), self._first(), first.bias.to(precision))
        for layer in others:
            x = nn.functional.linear(activation(x), layer.weight.to(precision), layer.bias.to(precision))
        return x.float()

    def _first(self) -> torch.Tensor:
        """The weights (H, I) of the inputs times their factors.

        The factors are powers of two, so multiplying the weights by them instead of the inputs is exact.
        """
        if self._first_weights is not None:
            return self._first_weights
        return (self.linear_layers()[0].weight * self.input_scale).to(self.precision)

    def for_inference(self) -> MLP:
        """A copy with its weights in `precision`."""
        twin = copy.copy(self)  # nothing of this one changes: the copy gets layers of its own
        twin._modules = {"layers": copy.deepcopy(self.layers).requires_grad_(False).to(self.precision)}
        twin._first_weights = self._first().detach()
        return twin

    def logits_of(
        self, outputs: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        """Logits (n, A) of the ``outputs`` of the last layer."""
        if self.action_scale is None:
            return outputs[:, : masks.shape[1]].masked_fill(~masks, _ILLEGAL)
        given = outputs, masks, action_features, self.action_scale
        if outputs.device.type != "cpu":
            return self._logits_on_gpu(outputs, action_features, masks)
        if outputs.requires_grad:
            return cast(torch.Tensor, _ActionScores.apply(*given))
        return torch.from_numpy(action_logits(*(tensor.numpy() for tensor in given)))

    def _logits_on_gpu(
        self, outputs: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        assert self.action_scale is not None
        logits, weights, _ = outputs.split([masks.shape[1], len(self.action_scale), self.num_values], 1)
        scores = torch.einsum("nak,nk->na", action_features.float(), weights * self.action_scale)
        return (logits + scores).masked_fill(~masks, _ILLEGAL)

    def playing_network(self) -> NumpyMLP:
        """What plays as this network does now, without torch."""
        return NumpyMLP(self.arrays(), self.describe())

    def policy_tensors(self) -> dict[str, torch.Tensor]:
        """The weights and factors by name; those of a single value as `CRITIC`, others not."""
        tensors = super().policy_tensors()
        for part, critic in zip(("weight", "bias"), CRITIC, strict=True):
            name = f"layers.{len(self.layers) - 1}.{part}"
            if self.num_values == 1:
                tensors[critic] = tensors[name][self.num_outputs :]
            tensors[name] = tensors[name][: self.num_outputs]
        return tensors

    def set_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """See `Network`. A critic is left out, or stays as it is, if only one of the two networks has one."""
        own = self.policy_tensors()
        kept = {name: array for name, array in arrays.items() if name in own or name not in CRITIC}
        if not kept.keys() & {*CRITIC}:
            kept |= {name: own[name].cpu().numpy() for name in CRITIC if name in own}
        super().set_arrays(kept)

    def describe(self) -> dict[str, Any]:
        """JSON values from which this network can be rebuilt."""
        return {
            "inputs": self.inputs.size,
            "hidden": list(self.options["hidden"]),
            "outputs": self.num_outputs,
            "activation": self.activation,
            **self.inputs.describe(),
        }
