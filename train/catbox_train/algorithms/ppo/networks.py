"""Actor and critic, and the one flat vector that holds the weights of both for every worker.

Each worker computes with ``Networks``: layers on the shared weights, or on a copy of them in bfloat16, and a gradient
of its own. The gradients of all workers are the rows of one matrix, and are added up in one pass.
"""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.layers import Layers
from catbox_agents.networks.mlp import MLP, input_scale
from catbox_env import Game
from catbox_env.core.compilation import cached_njit
from catbox_train.algorithms.ppo.inputs import Inputs
from catbox_train.algorithms.ppo.options import PPOOptions


def network_inputs(game: Game, options: PPOOptions) -> NetworkInputs:
    """What the policy is given."""
    return NetworkInputs(game, options.features, options.action_features)


class ActorCritic(nn.Module):
    """Two networks that share nothing: ``actor`` has the inputs of a policy, ``critic`` too, or the state."""

    def __init__(self, game: Game, options: PPOOptions, seed: int) -> None:
        super().__init__()
        inputs = network_inputs(game, options)
        scale = input_scale(game.state_layout) if options.privileged_critic else inputs.scale()
        self.actor = inputs.network(options.hidden, options.activation)
        self.critic = MLP(scale, options.hidden, 1, options.activation)
        generator = torch.Generator().manual_seed(seed)
        self.actor.initialise(generator, last_gain=0.01)  # the first policy is all but uniform
        self.critic.initialise(generator, last_gain=1.0)


class SharedWeights:
    """The weights of an ``ActorCritic`` in one flat vector, and their gradient.

    Attributes: ``vector`` (K,) float32, the actor's weights and then the critic's; ``rounded`` (K,), the same in
    ``precision``, that of the hidden layers; ``gradient`` (K,) float32; ``shares`` (workers, K), the gradient of each
    worker's share of a minibatch, in ``precision``; ``actor``, ``critic``: the slices of the two; ``networks``: the
    pair whose weights are views of ``vector``.
    """

    def __init__(self, networks: ActorCritic, precision: str, workers: int) -> None:
        parameters = list(networks.parameters())  # in the order of registration: the actor first
        actor_size = sum(parameter.numel() for parameter in networks.actor.parameters())
        self.vector = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
        self.actor, self.critic = slice(0, actor_size), slice(actor_size, len(self.vector))
        self.precision = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        self.rounded = self.vector.to(self.precision)  # the vector itself in float32
        self.gradient = torch.zeros_like(self.vector)
        self.shares = torch.zeros((workers, len(self.vector)), dtype=self.precision)
        self.networks = networks
        start = 0
        for parameter in parameters:
            stop = start + parameter.numel()
            parameter.data = self.vector[start:stop].view_as(parameter)
            start = stop

    def refresh(self, part: slice = slice(None)) -> None:
        """Let ``part`` of ``rounded`` follow ``vector``, which was changed."""
        if self.rounded is not self.vector:
            self.rounded[part].copy_(self.vector[part])

    def add_up_shares(self, part: slice) -> None:
        """Let ``part`` of ``gradient`` be the sum of the workers' shares, in their order."""
        if self.precision == torch.bfloat16:  # NumPy has none: the compiled code reads its bits
            _add_up_bfloat16(self.shares.view(torch.uint16).numpy()[:, part], self.gradient.numpy()[part])
        else:
            _add_up_float32(self.shares.numpy()[:, part], self.gradient.numpy()[part])

    def actor_to_play(self) -> MLP:
        """A copy of the actor: what checkpoints hold and matches are played with."""
        return copy.deepcopy(self.networks.actor).requires_grad_(False)


class Networks:
    """What worker ``number`` computes with.

    Attributes: ``actor`` and ``critic``, layers on the shared weights; ``gradient`` (K,), what a backward pass through
    both fills; ``observations`` and ``states``, the inputs of the two (the same unless the critic is privileged);
    ``action_scale`` (K,) float32, factors of the features of actions, empty without an action head.
    """

    def __init__(self, weights: SharedWeights, privileged_critic: bool, number: int) -> None:
        action_scale = weights.networks.actor.action_scale
        self.action_scale = np.zeros(0, np.float32) if action_scale is None else action_scale.numpy()
        self.gradient = weights.shares[number]
        self.actor, self.critic = (
            Layers(
                network.sizes(),
                network.activation,
                weights.rounded[part].detach().requires_grad_(),
                weights.vector[part],
                self.gradient[part],
            )
            for network, part in (
                (weights.networks.actor, weights.actor),
                (weights.networks.critic, weights.critic),
            )
        )
        self.observations = Inputs(weights.networks.actor.input_scale, weights.precision)
        self.states = self.observations
        if privileged_critic:
            self.states = Inputs(weights.networks.critic.input_scale, weights.precision)


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


def weight_bytes(game: Game, options: PPOOptions, workers: int) -> int:
    """Bytes of all copies of the weights: themselves, their gradient, Adam's two moments and the one that they begin
    as, and the gradient of each worker."""
    critic = game.state_layout.size if options.privileged_critic else network_inputs(game, options).size
    critic_size = _num_weights(critic, *options.hidden, 1)
    return (5 + workers) * (actor_size(game, options) + critic_size) * torch.float32.itemsize


def actor_size(game: Game, options: PPOOptions) -> int:
    """How many weights the actor has."""
    inputs = network_inputs(game, options)
    return _num_weights(inputs.size, *options.hidden, game.num_actions + inputs.action_size)


def _num_weights(*layers: int) -> int:
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(layers))
