"""Actor and critic."""

from __future__ import annotations

import torch

from catbox_agents.networks.history_modules import HistoryEncoder
from catbox_agents.networks.inputs import input_scale
from catbox_agents.networks.mlp import MLP
from catbox_env import Game
from catbox_train.algorithms.ppo.options import PPOOptions
from catbox_train.self_play.weights import (
    Actor,
    Networks,
    SharedWeights,
    network_inputs,
    num_weights,
    size_with_inputs,
)


class ActorCritic(Actor):
    """Two networks that share nothing: ``actor`` has the inputs of a policy, ``critic`` too, or the state alone."""

    def __init__(self, game: Game, options: PPOOptions, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        super().__init__(game, options, generator)
        inputs = network_inputs(game, options)
        if options.privileged_critic:
            self.critic = MLP(input_scale(game.state_layout), options.hidden, 1, options.activation)
        else:
            history = HistoryEncoder(inputs.history_sizes) if inputs.history_sizes else None
            self.critic = MLP(inputs.scale(), options.hidden, 1, options.activation, history=history)
        self.critic.initialise(generator, last_gain=1.0)


class ActorCriticNetworks(Networks):
    """What worker ``number`` computes with.

    Attributes beside those of the actor: ``critic``, layers on the shared weights; ``states``, its inputs (those of the
    actor unless the critic is privileged or has an encoder of histories of its own).
    """

    def __init__(self, weights: SharedWeights, privileged_critic: bool, number: int) -> None:
        super().__init__(weights, number)
        self.critic = self.layers("critic")
        self.states = self.observations
        if privileged_critic or self.critic.history:
            self.states = self.inputs("critic", self.critic)


def critic_size(game: Game, options: PPOOptions) -> int:
    """How many weights the critic has."""
    if options.privileged_critic:
        return num_weights(game.state_layout.size, *options.hidden, 1)
    return size_with_inputs(network_inputs(game, options), options, 1)
