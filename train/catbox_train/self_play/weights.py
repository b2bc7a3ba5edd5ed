"""The one flat vector that holds the weights of all networks for every worker.

Each worker computes with ``Networks``: layers on the shared weights, or on a copy of them in bfloat16, and a gradient
of its own. The gradients of all workers are the rows of one matrix, and are added up in one pass.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from torch import nn

from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_agents.networks.history import OUTPUTS as HISTORY_OUTPUTS
from catbox_agents.networks.history_modules import HistoryLayer
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.layers import Layers
from catbox_agents.networks.mlp import MLP
from catbox_agents.specs import policy_path
from catbox_env import Game
from catbox_env.core.compilation import cached_njit
from catbox_train.network_options import NetworkOptions
from catbox_train.self_play.adam import Adam
from catbox_train.self_play.inputs import Inputs

#: The algorithm whose networks give values, which are no logits of a policy.
DMC = "dmc"
#: Takes a shape and a dtype, and gives a tensor of zeros: ``torch.zeros``, or one in memory that processes share.
Allocate = Callable[..., torch.Tensor]


def network_inputs(game: Game, options: NetworkOptions) -> NetworkInputs:
    """What the network that plays is given."""
    return NetworkInputs(game, options.features, options.action_features, options.history)


#: Numbers of two bytes in 64 bytes.
_ALIGNED = 32


class Actor(nn.Module):
    """The network that plays, ``actor``. An algorithm that learns with more networks adds them in a subclass."""

    def __init__(self, game: Game, options: NetworkOptions, generator: torch.Generator) -> None:
        super().__init__()
        self.actor = MLP.for_policy(network_inputs(game, options), options.hidden, options.activation)
        self.actor.initialise(generator, last_gain=0.01)  # at first no action is much better than another

    def start_from(self, path: str, game: Game) -> None:
        """Take the policy of the checkpoint at ``path``, or of the agent of the zoo that it names; none if it is empty.

        Raises ``ValueError`` where it is not there, damaged, of another network or game, or no policy.
        """
        if not path:
            return
        try:
            checkpoint = load_checkpoint(policy_path(path, game) or path, game)
        except (OSError, ValueError) as error:
            raise ValueError(f"start_from: {error}") from error
        if checkpoint.training.get("algorithm") == DMC:
            raise ValueError(
                f"start_from = {path!r} was trained by {DMC}: its network gives values of actions, no "
                "probabilities; start from a policy, such as one of ppo, or from none"
            )
        there, wanted = checkpoint.network.describe(), self.actor.describe()
        if there != wanted:
            raise ValueError(
                f"start_from = {path!r} holds the network {there}, and the settings ask for {wanted}: set hidden, "
                "activation, features, action_features and history as they were when it was trained"
            )
        self.actor.set_arrays(checkpoint.network.arrays())


class SharedWeights:
    """The weights of all ``networks`` in one flat vector, and what all workers share beside them.

    Attributes: ``vector`` (K,) float32, the weights of one network after the other, the actor first; ``rounded`` (K,),
    the same in ``precision``, that of the hidden layers; ``gradient`` (K,) float32; ``shares`` (workers, K), the
    gradient of each worker's share of a minibatch, in ``precision`` (with ``only`` one row, that worker's);
    ``squares`` (workers, networks) float64, the sums of squares of each worker's part of each network's gradient;
    ``parts``, the name of each network and its slice; ``networks``: those whose weights are views of ``vector``;
    ``optimizer``, which moves ``vector``; ``past`` (P, L) float32, room for the weights of P earlier policies.

    Args:
        allocate: makes each of these tensors.
        begin: whether ``vector`` takes the weights that ``networks`` have, or keeps what is in its memory.
        only: the one worker that computes in this memory, where each has a memory of its own; None: all do.
    """

    def __init__(
        self,
        networks: Actor,
        precision: str,
        workers: int,
        past: int = 0,
        allocate: Allocate = torch.zeros,
        begin: bool = True,
        only: int | None = None,
    ) -> None:
        self.only = only
        parameters = list(networks.parameters())  # in the order of registration: the actor first
        length = sum(parameter.numel() for parameter in parameters)
        self.vector = allocate((length,), dtype=torch.float32)
        if begin:
            torch.cat([parameter.detach().reshape(-1) for parameter in parameters], out=self.vector)
        self.parts: dict[str, slice] = {}
        start = 0
        for name, network in networks.named_children():
            stop = start + sum(parameter.numel() for parameter in network.parameters())
            self.parts[name] = slice(start, stop)
            start = stop
        self.precision = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        self.rounded = self.vector  # itself in float32
        if self.precision != torch.float32:
            self.rounded = allocate((length,), dtype=self.precision)
            if begin:
                self.refresh()
        self.gradient = allocate((length,), dtype=torch.float32)
        # Matrix products round by where their result lies: each share begins at a multiple of 64 bytes, in any memory.
        width = -(-length // _ALIGNED) * _ALIGNED
        self.shares = allocate((workers if only is None else 1, width), dtype=self.precision)[:, :length]
        self.squares = allocate((workers, len(self.parts)), dtype=torch.float64).numpy()
        self.past = allocate((past, self.parts["actor"].stop), dtype=torch.float32).numpy()
        self.optimizer = Adam(length, allocate)
        self.networks = networks
        start = 0
        for parameter in parameters:
            stop = start + parameter.numel()
            parameter.data = self.vector[start:stop].view_as(parameter)
            start = stop

    def share_of(self, number: int) -> torch.Tensor:
        """The gradient (K,) of the share of worker ``number``."""
        return self.shares[number if self.only is None else 0]

    def kept(self) -> dict[str, torch.Tensor]:
        """What outlives an update, by name."""
        moments = self.optimizer.state
        return {
            "vector": self.vector,
            "exp_avg": moments["exp_avg"],
            "exp_avg_sq": moments["exp_avg_sq"],
            "step": moments["step"],
            "past": torch.from_numpy(self.past),
        }

    def refresh(self, part: slice = slice(None)) -> None:
        """Let ``part`` of ``rounded`` follow ``vector``, which was changed."""
        if self.rounded is not self.vector:
            self.rounded[part].copy_(self.vector[part])

    def add_up_shares(self, part: slice) -> None:
        """Let ``part`` of ``gradient`` be the sum of the workers' shares, in their order."""
        add_up(self.shares[:, part], self.gradient[part])

    def actor_to_play(self) -> MLP:
        """A copy of the actor: what checkpoints hold and matches are played with."""
        return copy.deepcopy(self.networks.actor).requires_grad_(False)


class Networks:
    """What worker ``number`` computes with.

    Attributes: ``number``; ``weights``; ``actor``, layers on the shared weights; ``gradient`` (K,), what backward
    passes through all networks fill; ``observations``, the actor's inputs; ``action_scale`` (K,) float32, factors of
    the features of actions, empty without an action head.
    """

    def __init__(self, weights: SharedWeights, number: int) -> None:
        self.number, self.weights = number, weights
        action_scale = weights.networks.actor.action_scale
        self.action_scale = np.zeros(0, np.float32) if action_scale is None else action_scale.numpy()
        self.gradient = weights.share_of(number)
        self.actor = self.layers("actor")
        self.observations = self.inputs("actor", self.actor)

    def layers(self, name: str) -> Layers:
        """The layers of the network ``name``."""
        weights, part = self.weights, self.weights.parts[name]
        network = cast(MLP, getattr(weights.networks, name))
        own = slice(part.start, part.start + num_weights(*network.sizes()))
        history, of_history = None, slice(own.stop, part.stop)
        if network.history:
            history = HistoryLayer(network.history, weights.vector[of_history], self.gradient[of_history])
        return Layers(
            network.sizes(),
            network.activation,
            weights.rounded[own],
            weights.vector[own],
            self.gradient[own],
            history,
        )

    def inputs(self, name: str, layers: Layers) -> Inputs:
        """What the ``layers`` of the network ``name`` take."""
        network = cast(MLP, getattr(self.weights.networks, name))
        return Inputs(network.input_scale, self.weights.precision, layers.history)


def add_up(shares: torch.Tensor, total: torch.Tensor) -> None:
    """Let ``total`` (K,) float32 be the sum of the rows of ``shares`` (workers, K), float32 or bfloat16."""
    if shares.dtype == torch.bfloat16:  # NumPy has none: the compiled code reads its bits
        _add_up_bfloat16(shares.view(torch.uint16).numpy(), total.numpy())
    else:
        _add_up_float32(shares.numpy(), total.numpy())


@cached_njit(nogil=True)
def _add_up_float32(shares: np.ndarray, total: np.ndarray) -> None:
    """``total`` (K,) float32 = the sum of the rows of ``shares`` (workers, K) float32."""
    length = min(len(total), shares.shape[1])
    for worker in range(len(shares)):
        share = shares[worker]
        for i in range(length):
            total[i] = total[i] + share[i] if worker else share[i]


@cached_njit(nogil=True)
def _add_up_bfloat16(shares: np.ndarray, total: np.ndarray) -> None:
    """The same, ``shares`` uint16 the bits of bfloat16: the upper half of those of float32."""
    block = 1024  # stays in the nearest cache
    bits = np.empty(block, np.uint32)
    numbers = bits.view(np.float32)
    length = min(len(total), shares.shape[1])
    for start in range(0, length, block):
        out = total[start : min(start + block, length)]
        out[:] = 0.0
        for worker in range(len(shares)):
            share = shares[worker, start : start + len(out)]
            for i in range(len(out)):
                bits[i] = np.uint32(share[i]) << np.uint32(16)
            for i in range(len(out)):
                out[i] += numbers[i]


def actor_size(game: Game, options: NetworkOptions) -> int:
    """How many weights the network that plays has."""
    inputs = network_inputs(game, options)
    return size_with_inputs(inputs, options, game.num_actions + inputs.action_size)


def size_with_inputs(inputs: NetworkInputs, options: NetworkOptions, outputs: int) -> int:
    """How many weights a network with the inputs of a policy and so many ``outputs`` has."""
    made = HISTORY_OUTPUTS if inputs.history_length else 0
    return num_weights(inputs.size + made, *options.hidden, outputs) + inputs.num_history_weights()


def num_weights(*layers: int) -> int:
    """The weights of fully connected layers, the numbers of inputs and outputs of which are ``layers``."""
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(layers))


def weight_bytes(size: int, workers: int) -> int:
    """Bytes of all copies of ``size`` weights: themselves, their gradient, Adam's two moments and the one that they
    begin as, and the gradient of each worker."""
    return (5 + workers) * size * torch.float32.itemsize
