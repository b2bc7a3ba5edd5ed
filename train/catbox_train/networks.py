"""The network of a run: how it is made, what it starts from, and the memory that a run of it needs."""

from __future__ import annotations

import torch

from catbox_agents.agent import other_returns
from catbox_agents.networks.checkpoint import VALUES
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.network import Network, build_network
from catbox_agents.networks.numpy_network import CRITIC
from catbox_agents.specs import load_policy
from catbox_env import Game
from catbox_env.core.checks import check_integer
from catbox_train.self_play_config import (
    MLP_NETWORK,
    PAST,
    SelfPlayConfig,
    check_config,
    mean_decisions,
    why_on_cpu,
)

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def network_inputs(config: SelfPlayConfig, game: Game) -> NetworkInputs:
    """What the network of a run reads."""
    check_config(config)
    return NetworkInputs(game, bool(config.features), config.action_features, config.features_source)


def make_network(config: SelfPlayConfig, game: Game, num_values: int = 0) -> Network:
    """The network of a run, with weights drawn by its seed, or those of ``start_from``.

    Raises ``ValueError`` for a class that is no network, and for a ``start_from`` that is missing, damaged, of another
    network or game, or not a policy.
    """
    inputs = network_inputs(config, game)
    num_values = check_integer("num_values", num_values, 0)
    if config.network == MLP_NETWORK:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            network: Network = MLP(inputs, num_values, config.hidden, config.activation)
    else:
        network = build_network(config.network, inputs, num_values, config.network_options, config.seed)
    network.precision = PRECISIONS.get(config.precision, torch.float32)
    start_from(network, config.start_from, game)
    return network


def start_from(network: Network, path: str, game: Game) -> None:
    """Give ``network`` the weights of the policy at ``path``, a checkpoint or ``zoo:NAME``; do nothing if it is empty.

    Raises ``ValueError`` for a file that is missing, damaged, of another network or game, or not a policy.
    """
    if not path:
        return
    try:
        checkpoint = load_policy(path, game)
    except (OSError, ValueError) as error:
        raise ValueError(f"start_from: {error}") from error
    if checkpoint.outputs == VALUES:
        raise ValueError(
            f"start_from = {path!r} holds a network that outputs values of actions, as dmc trains it, not the "
            "logits of a policy: start from a policy, such as one of ppo, or from none"
        )
    there, wanted = checkpoint.network.describe(), network.describe()
    if there != wanted:
        raise ValueError(
            f"start_from = {path!r} holds the network {there}, but the settings require {wanted}: set network, hidden, "
            "activation, features and action_features as they were when it was trained; a network of your own also "
            "needs an algorithm with as many values"
        )
    arrays = checkpoint.network.arrays()
    if other_returns(checkpoint.options, game):  # its critic counts something else
        arrays = {name: array for name, array in arrays.items() if name not in CRITIC}
    network.set_arrays(arrays)


def memory_needed(config: SelfPlayConfig, game: Game, num_values: int = 0) -> int:
    """Bytes of the decisions of an update, with room to grow, of the weights with their gradient and moments, and of
    the earlier policies, in each process; on the GPU, if the games are played there."""
    inputs = network_inputs(config, game)
    assert config.games_per_update != "auto", "use config.resolved(game)"
    assert config.workers != "auto", "use config.resolved(game)"
    row = inputs.size + game.num_actions * (1 + inputs.action_size) + 80
    if why_on_cpu(config, game):
        decisions = 2 * round(config.games_per_update * mean_decisions(game) / config.workers)
    else:  # of all steps; the step at hand needs as much as about five
        decisions = -(-config.games_per_update // config.workers) * (game.max_game_length + 5)
    if config.network == MLP_NETWORK:
        with torch.device("meta"):  # a network without memory
            network: Network = MLP(inputs, num_values, config.hidden, config.activation)
    else:
        network = build_network(config.network, inputs, num_values, config.network_options)
    weights = sum(parameter.numel() for parameter in network.parameters())
    past = config.past_policies if PAST in config.opponents else 0
    return decisions * row + 4 * weights * (5 + past)
