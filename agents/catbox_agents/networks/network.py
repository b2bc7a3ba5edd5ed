"""What a network in torch has to be, so that it is trained, saved and played: the base class of `MLP` and your own."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.imports import import_name
from catbox_agents.networks.action_head import ILLEGAL
from catbox_agents.networks.inputs import NetworkInputs, part_sizes
from catbox_agents.networks.numpy_network import PlayingNetwork
from catbox_env import Game

__all__ = ["ILLEGAL", "Network", "TorchPlayingNetwork", "build_playing_network", "check_network"]

#: Rows that `TorchPlayingNetwork` computes at once, which bounds its memory.
_ROWS_AT_ONCE = 4096


class Network(nn.Module, ABC):
    """A policy, and in training also values, of positions.

    A subclass is made as ``Class(inputs, num_values, **options)``, calls ``super().__init__`` with all of them, and
    draws its weights with torch's default generator, which the caller has seeded. ``options`` are JSON values.

    Attributes: ``inputs``, what it reads, see `NetworkInputs`; ``num_values``, how many values it outputs; ``options``;
    ``source``, ``"package.module:Class"``, which makes it; ``precision``, in which its layers may compute.
    """

    def __init__(self, inputs: NetworkInputs, num_values: int = 0, **options: Any) -> None:
        super().__init__()
        self.inputs, self.num_values, self.options = inputs, num_values, options
        self.source = f"{type(self).__module__}:{type(self).__qualname__}"
        self.precision = torch.float32

    @abstractmethod
    def forward(
        self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits (n, A) and the values (n, num_values) of n positions, float32.

        Takes ``vectors`` (n, I) int8, the parts of ``inputs.parts()`` one after the other; ``action_features``
        (n, A, K) int8, zeros for illegal actions; ``masks`` (n, A) bool, the legal actions. The logit of an illegal
        action is `ILLEGAL`, so that its probability is exactly 0. Rows do not depend on one another, and nothing
        depends on random numbers or on buffers that change: no dropout, no batch normalisation.
        """

    def for_inference(self) -> Network:
        """What computes the same until the weights change, perhaps faster: for playing on a CPU."""
        return self

    def playing_network(self) -> PlayingNetwork:
        """What plays as this network does now, on a CPU and without gradients: by default a copy, with torch."""
        return TorchPlayingNetwork(self)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Copies of its weights in float32, by name: what a checkpoint holds."""
        return {name: tensor.float().cpu().numpy().copy() for name, tensor in self.policy_tensors().items()}

    @torch.no_grad()
    def set_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Load what `arrays` of a network of the same shape returned. Raises ``ValueError`` for arrays that do not
        fit."""
        tensors = self.policy_tensors()
        if missing := tensors.keys() ^ arrays.keys():
            raise ValueError(f"its arrays do not fit its network: {', '.join(sorted(missing))}")
        for name, tensor in tensors.items():
            if arrays[name].shape != tuple(tensor.shape):
                raise ValueError(
                    f"{name} of shape {arrays[name].shape}: its network has {tuple(tensor.shape)}"
                )
            tensor.copy_(torch.from_numpy(arrays[name]))

    def policy_tensors(self) -> dict[str, torch.Tensor]:
        """The tensors that playing needs, by name."""
        return {name: tensor.detach() for name, tensor in self.state_dict().items()}

    def describe(self) -> dict[str, Any]:
        """JSON values from which it can be rebuilt, with its arrays."""
        return {
            "class": self.source,
            "options": self.options,
            "num_values": self.num_values,
            "inputs": self.inputs.size,
            "actions": self.inputs.game.num_actions,
            **self.inputs.describe(),
        }


class TorchPlayingNetwork:
    """Plays as ``network`` does now: see `PlayingNetwork`. It has a copy, on the CPU."""

    def __init__(self, network: Network) -> None:
        self.network = copy.deepcopy(network).cpu().requires_grad_(False).eval()
        self.network.precision = torch.float32
        self.feature_sizes = part_sizes(network.inputs.layout)
        self.action_feature_sizes = part_sizes(network.inputs.action_layout)
        self.has_critic = network.num_values == 1

    def logits(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `PlayingNetwork`."""
        return self._both(vectors, action_features, masks)[0]

    def values(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `PlayingNetwork`."""
        return self._both(vectors, action_features, masks)[1][:, 0]

    @torch.no_grad()
    def _both(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        logits = np.empty(masks.shape, np.float32)
        values = np.empty((len(masks), self.network.num_values), np.float32)
        for start in range(0, len(masks), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            batch = (torch.from_numpy(array[rows]) for array in (vectors, action_features, masks))
            for kept, found in zip((logits, values), self.network(*batch), strict=True):
                kept[rows] = found.numpy()
        return logits, values

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights."""
        return self.network.arrays()

    def describe(self) -> dict[str, Any]:
        """JSON values from which the network can be rebuilt."""
        return self.network.describe()


def build_playing_network(
    arrays: Mapping[str, NDArray[np.float32]], described: Mapping[str, Any], game: Game
) -> PlayingNetwork:
    """What plays with the network that `Network.describe` gave as ``described``, for ``game``.

    Imports the module of its class, which runs its code. Raises ``ValueError`` if it cannot be built again.
    """
    options, num_values = described.get("options"), described.get("num_values")
    if not isinstance(options, dict) or not isinstance(num_values, int) or not 0 <= num_values <= 1000:
        raise ValueError(f"its header does not describe a network: {dict(described)!r:.200}")
    use_features, use_action_features = (
        bool(described.get(name)) for name in ("features", "action_features")
    )
    inputs = NetworkInputs(game, use_features, use_action_features, described.get("features_from", ""))
    network = build_network(described["class"], inputs, num_values, options)
    network.set_arrays(arrays)
    return network.playing_network()


def build_network(
    name: str, inputs: NetworkInputs, num_values: int, options: Mapping[str, Any], seed: int = 0
) -> Network:
    """The network of the class ``name``, ``"package.module:Class"``, with weights drawn by ``seed``.

    Raises ``ValueError`` if that is not a `Network`, refuses its options, or does not give what it promises.
    """
    network_class = import_name(name, "network", type)
    if not issubclass(network_class, Network):
        raise ValueError(f"network = {name!r}: expected a subclass of catbox_train.Network")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            network = network_class(inputs, num_values, **options)
            network.source, network.options = name, dict(options)
            check_network(network)
        except Exception as error:  # it is the user's own
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            raise ValueError(f"network = {name!r} with the options {dict(options)}: {kind}{error}") from error
    return network


@torch.no_grad()
def check_network(network: Network) -> None:
    """Raise ``ValueError`` unless ``network`` gives what `Network.forward` promises, for made-up positions."""
    inputs, rows = network.inputs, 3
    num_actions, device = inputs.game.num_actions, next(network.parameters()).device
    masks = torch.arange(num_actions).expand(rows, -1) % 2 == 0
    vectors = torch.zeros((rows, inputs.size), dtype=torch.int8)
    action_features = torch.zeros((rows, num_actions, inputs.action_size), dtype=torch.int8)
    outputs = network(vectors.to(device), action_features.to(device), masks.to(device))
    expected = [(rows, num_actions), (rows, network.num_values)]
    shapes = [tuple(each.shape) if isinstance(each, torch.Tensor) else each for each in outputs]
    if shapes != expected or any(each.dtype != torch.float32 for each in outputs):
        raise ValueError(f"forward gave {shapes}: expected float32 tensors of shapes {expected}")
    logits = cast(torch.Tensor, outputs[0]).cpu()
    if (logits[~masks] != float(ILLEGAL)).any():
        raise ValueError(
            "forward gave logits of illegal actions: expected logits.masked_fill(~masks, float(ILLEGAL))"
        )
    buffers = [buffer.clone() for buffer in network.buffers()]
    again = network(vectors.to(device), action_features.to(device), masks.to(device))
    pairs = [*zip(outputs, again, strict=True), *zip(buffers, network.buffers(), strict=True)]
    if not all(torch.equal(*pair) for pair in pairs):
        raise ValueError(
            "forward gave other numbers for the same positions, or changed a buffer: expected neither dropout nor "
            "batch normalisation, so that the policy that plays is the one that learns and is saved"
        )
