"""Actor and critic."""

from __future__ import annotations

import torch

from catbox_agents.networks.mlp import MLP, input_scale
from catbox_env import Game
from catbox_train.algorithms.ppo.options import PPOOptions
from catbox_train.self_play.inputs import Inputs
from catbox_train.self_play.weights import Actor, Networks, SharedWeights, network_inputs, num_weights


class ActorCritic(Actor):
    """Two networks that share nothing: ``actor`` has the inputs of a policy, ``critic`` too, or the state."""

    def __init__(self, game: Game, options: PPOOptions, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        super().__init__(game, options, generator)
        inputs = network_inputs(game, options)
        scale = input_scale(game.state_layout) if options.privileged_critic else inputs.scale()
        self.critic = MLP(scale, options.hidden, 1, options.activation)
        self.critic.initialise(generator, last_gain=1.0)


class ActorCriticNetworks(Networks):
    """What worker ``number`` computes with.

    Attributes beside those of the actor: ``critic``, layers on the shared weights; ``states``, its inputs (those of the
    actor unless the critic is privileged).
    """

    def __init__(self, weights: SharedWeights, privileged_critic: bool, number: int) -> None:
        super().__init__(weights, number)
        self.critic = self.layers("critic")
        self.states = self.observations
        if privileged_critic:
            critic = weights.networks.critic
            assert isinstance(critic, MLP)
            self.states = Inputs(critic.input_scale, weights.precision)


def critic_size(game: Game, options: PPOOptions) -> int:
    """How many weights the critic has."""
    inputs = game.state_layout.size if options.privileged_critic else network_inputs(game, options).size
    return num_weights(inputs, *options.hidden, 1)
