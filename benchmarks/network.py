"""A network for measurements: two layers of 256, the observation alone, random weights."""

from __future__ import annotations

from pathlib import Path

import torch

from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_env import Game

HIDDEN = (256, 256)


def network_file(game: Game, folder: Path) -> str:
    """The checkpoint of such a network for ``game``, in ``folder``: a spec of its agent."""
    network = MLP.for_policy(NetworkInputs(game), HIDDEN)
    network.initialise(torch.Generator().manual_seed(0), last_gain=0.01)
    path = folder / "policy.safetensors"
    save_checkpoint(path, network, game)
    return str(path)
