"""Policies with random weights, and their files, for the tests of checkpoints and of agents."""

from pathlib import Path

import torch

import catbox_env
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_env.core.game import Game


def network_for(game: Game, seed: int = 0) -> MLP:
    network = MLP.for_policy(NetworkInputs(game), (16, 8), "tanh")
    return network.initialise(torch.Generator().manual_seed(seed), last_gain=1.0)


def checkpoint(folder: Path, game_id: str, seed: int, **options: object) -> str:
    """The path of a policy with random weights."""
    game = catbox_env.make_game(game_id, **options)
    path = folder / f"{seed}.safetensors"
    save_checkpoint(path, network_for(game, seed), game)
    return str(path)
