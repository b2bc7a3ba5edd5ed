"""The network in torch, for training: fully connected layers from an observation to one output for each action."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.networks.history_modules import HistoryEncoder
from catbox_agents.networks.inputs import NetworkInputs, input_scale, part_sizes
from catbox_agents.networks.numpy_network import check_hidden_layers

_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class MLP(nn.Module):
    """Fully connected layers from an int8 vector to float32 outputs: the actor, and in training the critic.

    ``scale`` (I,) multiplies the inputs; ``hidden`` are the widths of the hidden layers. ``Layers`` computes the same
    faster, for training, and ``PolicyNetwork`` for playing.

    With an action head (see ``action_head``) the last outputs are weights of the features of actions, which
    ``action_scale`` (K,) multiplies. ``features`` and ``action_features`` name the features of the game that the
    network takes beside the observation, with their sizes. ``history``, if given, makes numbers of the history of the
    seat, which the layers take behind the other inputs.
    """

    input_scale: torch.Tensor
    action_scale: torch.Tensor | None
    history: HistoryEncoder | None

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
        history: HistoryEncoder | None = None,
    ) -> None:
        super().__init__()
        check_hidden_layers(hidden, activation)
        self.activation = activation
        self.features, self.action_features = dict(features or {}), dict(action_features or {})
        self.register_buffer("input_scale", torch.as_tensor(scale))
        self.register_buffer("action_scale", None if action_scale is None else torch.from_numpy(action_scale))
        sizes = [len(scale) + (history.sizes.outputs if history else 0), *hidden, num_outputs]
        self.layers = nn.ModuleList(
            nn.utils.skip_init(nn.Linear, inputs, outputs) for inputs, outputs in pairwise(sizes)
        )
        self.history = history  # after the layers: this is the order of the parameters

    @classmethod
    def for_policy(cls, inputs: NetworkInputs, hidden: Sequence[int], activation: str = "relu") -> MLP:
        """A policy that takes ``inputs``, its weights not yet set."""
        return cls(
            inputs.scale(),
            hidden,
            inputs.game.num_actions + inputs.action_size,
            activation,
            action_scale=input_scale(inputs.action_layout) if inputs.action_layout else None,
            features=part_sizes(inputs.layout),
            action_features=part_sizes(inputs.action_layout),
            history=HistoryEncoder(inputs.history_sizes) if inputs.history_sizes else None,
        )

    def initialise(self, generator: torch.Generator, last_gain: float) -> MLP:
        """Draw orthogonal weights (Saxe et al. 2014, https://arxiv.org/abs/1312.6120) and zero biases, and the weights
        of the encoder of histories; returns self."""
        layers = self.linear_layers()
        for layer in layers:
            gain = last_gain if layer is layers[-1] else math.sqrt(2)
            nn.init.orthogonal_(layer.weight, gain, generator=generator)
            nn.init.zeros_(layer.bias)
        if self.history:
            self.history.initialise(generator)
        return self

    def linear_layers(self) -> list[nn.Linear]:
        """The layers from the inputs to the outputs."""
        return cast(list[nn.Linear], list(self.layers))

    def sizes(self) -> list[int]:
        """The number of inputs of the layers, the widths of the hidden layers, the number of outputs."""
        layers = self.linear_layers()
        return [layers[0].in_features, *(layer.out_features for layer in layers)]

    def forward(
        self,
        vectors: torch.Tensor,
        precision: torch.dtype = torch.float32,
        histories: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Outputs (n, num_outputs) float32 for ``vectors`` (n, I) int8; ``precision`` is that of the hidden layers.

        ``histories`` (n, T, 2) int8 are read by a network with an encoder of histories, and needed there.
        """
        *hidden, last = self.linear_layers()
        x = (vectors * self.input_scale).to(precision)
        if self.history:
            if histories is None:
                raise ValueError("this network takes histories: give them beside the vectors")
            x = torch.cat([x, self.history(histories).to(precision)], 1)
        for layer in hidden:
            sums = nn.functional.linear(x, layer.weight.to(precision), layer.bias.to(precision))
            x = _ACTIVATIONS[self.activation](sums)
        return cast(torch.Tensor, last(x.float()))

    def logits(
        self,
        vectors: torch.Tensor,
        action_features: torch.Tensor,
        precision: torch.dtype = torch.float32,
        histories: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits (n, A) float32 of a policy for its inputs ``vectors`` (n, I) and ``action_features`` (n, A, K), int8.

        The other arguments as in ``forward``.
        """
        outputs = self(vectors, precision, histories)
        if self.action_scale is None:
            return cast(torch.Tensor, outputs)
        logits, weights = outputs.split(
            [outputs.shape[1] - len(self.action_scale), len(self.action_scale)], 1
        )
        return logits + torch.einsum("nak,nk->na", action_features.float(), weights * self.action_scale)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Copies of its weights and factors in float32, by the names of ``checkpoint``."""
        return {
            name: tensor.detach().float().cpu().numpy().copy() for name, tensor in self.state_dict().items()
        }

    def set_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Take what ``arrays`` of an equal network returned."""
        self.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})

    def describe(self) -> dict[str, Any]:
        """What this network can be rebuilt from, as JSON values."""
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
        if self.history:
            described["history"] = self.history.sizes.describe()
        return described
