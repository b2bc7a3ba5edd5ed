"""Actor and critic, and the one flat vector that holds the weights of both for every worker.

Each worker thread has networks of its own whose weights are views of the shared vector, and whose gradients are
views of a vector of the worker's own. So a step of the optimizer is seen by every worker at once, and adding up
the workers' gradients is one addition.
"""

from __future__ import annotations

import copy
from itertools import pairwise

import torch
from torch import nn

from catbox_agents.networks.mlp import MLP, input_scale
from catbox_env import Game
from catbox_train.algorithms.ppo.options import PPOOptions


class ActorCritic(nn.Module):
    """Two networks that share nothing: ``actor`` sees the observation, ``critic`` too, or the state if privileged."""

    def __init__(self, game: Game, options: PPOOptions, seed: int) -> None:
        super().__init__()
        precision = {"float32": torch.float32, "bfloat16": torch.bfloat16}[options.precision]
        seen_by_critic = game.state_layout if options.privileged_critic else game.observation_layout
        sizes = (options.hidden, game.num_actions, options.activation, precision)
        self.actor = MLP(input_scale(game.observation_layout), *sizes)
        self.critic = MLP(input_scale(seen_by_critic), options.hidden, 1, options.activation, precision)
        generator = torch.Generator().manual_seed(seed)
        self.actor.initialise(generator, last_gain=0.01)  # the first policy is all but uniform
        self.critic.initialise(generator, last_gain=1.0)

    def forward(
        self, observations: torch.Tensor, states: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (n, A) and values (n,), float32, for observations (n, O) and, if privileged, states (n, S), int8."""
        seen_by_actor = observations.to(self.actor.precision)
        seen_by_critic = seen_by_actor if states is None else states
        return self.actor(seen_by_actor), self.critic(seen_by_critic)[:, 0]


class SharedWeights:
    """The weights of an ``ActorCritic`` in one flat vector.

    Attributes: ``vector`` (K,) float32, the actor's weights and then the critic's, with ``grad`` allocated;
    ``actor``, ``critic``: the slices of the two; ``networks``: the pair whose weights are views of ``vector``.
    """

    def __init__(self, networks: ActorCritic) -> None:
        parameters = list(networks.parameters())  # in the order of registration: the actor first
        actor_size = sum(parameter.numel() for parameter in networks.actor.parameters())
        self.vector = nn.Parameter(torch.cat([parameter.detach().reshape(-1) for parameter in parameters]))
        self.vector.grad = torch.zeros_like(self.vector)
        self.actor, self.critic = slice(0, actor_size), slice(actor_size, len(self.vector))
        self.networks = networks
        self.replica(networks)

    def replica(self, networks: ActorCritic | None = None) -> tuple[ActorCritic, torch.Tensor]:
        """Networks on the shared weights (a new pair unless given), and their flat gradient (K,), zero."""
        if networks is None:
            networks = copy.deepcopy(self.networks)
        gradient, weights = torch.zeros_like(self.vector), self.vector.detach()
        start = 0
        for parameter in networks.parameters():
            stop = start + parameter.numel()
            parameter.data = weights[start:stop].view_as(parameter)
            parameter.grad = gradient[start:stop].view_as(parameter)
            start = stop
        return networks, gradient

    def actor_to_play(self) -> MLP:
        """A copy of the actor that computes in float32: what checkpoints hold and matches are played with."""
        actor = copy.deepcopy(self.networks.actor).requires_grad_(False)
        actor.precision = torch.float32
        return actor


def weight_bytes(game: Game, options: PPOOptions, workers: int) -> int:
    """Bytes of all copies of the weights: themselves, their gradient, Adam's two moments and the one that they begin
    as, and the gradient of each worker."""
    layout = game.state_layout if options.privileged_critic else game.observation_layout
    critic_size = _num_weights(layout.size, *options.hidden, 1)
    return (5 + workers) * (actor_size(game, options) + critic_size) * torch.float32.itemsize


def actor_size(game: Game, options: PPOOptions) -> int:
    """How many weights the actor has."""
    return _num_weights(game.observation_layout.size, *options.hidden, game.num_actions)


def _num_weights(*layers: int) -> int:
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(layers))
