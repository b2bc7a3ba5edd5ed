"""The networks of a self-play algorithm: their inputs, initial weights, and all weights as one vector."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.specs import policy_path
from catbox_env import Game
from catbox_train.self_play.options import SelfPlayOptions

#: The algorithm whose networks output values, not the logits of a policy.
DMC = "dmc"


def flattened(networks: nn.ModuleDict) -> tuple[nn.Parameter, dict[str, slice]]:
    """One vector (K,) of which all parameters of ``networks`` become views, as their gradients of its ``grad``; and the
    slice of each network."""
    parameters = list(networks.parameters())
    vector = nn.Parameter(parameters_to_vector(parameters).detach().clone())
    vector.grad = torch.zeros_like(vector)
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = vector.detach()[start:stop].view_as(parameter)
        parameter.grad = vector.grad[start:stop].view_as(parameter)
        start = stop
    parts, start = {}, 0
    for name, network in networks.items():
        stop = start + sum(parameter.numel() for parameter in network.parameters())
        parts[name], start = slice(start, stop), stop
    return vector, parts


def network_inputs(game: Game, options: SelfPlayOptions) -> NetworkInputs:
    """The inputs of the network that plays."""
    return NetworkInputs(game, options.features, options.action_features, options.history)


def start_from(actor: MLP, path: str, game: Game) -> None:
    """Give ``actor`` the weights of the policy at ``path``, a checkpoint or ``zoo:NAME``; do nothing if it is empty.

    Raises ``ValueError`` for a file that is missing, damaged, of another network or game, or not a policy.
    """
    if not path:
        return
    try:
        checkpoint = load_checkpoint(policy_path(path, game) or path, game)
    except (OSError, ValueError) as error:
        raise ValueError(f"start_from: {error}") from error
    if checkpoint.training.get("algorithm") == DMC:
        raise ValueError(
            f"start_from = {path!r} was trained by {DMC}: its network outputs values of actions, not probabilities; "
            "start from a policy, such as one of ppo, or from none"
        )
    there, wanted = checkpoint.network.describe(), actor.describe()
    if there != wanted:
        raise ValueError(
            f"start_from = {path!r} holds the network {there}, but the settings require {wanted}: set hidden, "
            "activation, features, action_features and history as they were when it was trained"
        )
    actor.set_arrays(checkpoint.network.arrays())
