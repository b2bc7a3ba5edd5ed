"""For the tests of agents: policies with random weights, and their files; episodes of Gymnasium environments."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import catbox_env
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.numpy_network import NumpyMLP
from catbox_env.core.game import Game


def network_for(game: Game, seed: int = 0) -> MLP:
    network = MLP(NetworkInputs(game), 0, (16, 8), "tanh")
    return network.initialise(torch.Generator().manual_seed(seed), last_gain=1.0)


def plain_network(inputs: int, outputs: int) -> NumpyMLP:
    """A network with a hidden layer of four, for whatever reads ``inputs`` numbers."""
    shapes = {"layers.0.weight": (4, inputs), "layers.0.bias": (4,), "layers.1.weight": (outputs, 4)}
    arrays = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    arrays |= {"input_scale": np.ones(inputs, np.float32), "layers.1.bias": np.ones(outputs, np.float32)}
    return NumpyMLP(arrays, {"inputs": inputs, "hidden": [4], "outputs": outputs, "activation": "relu"})


def checkpoint(folder: Path, game_id: str, seed: int, **options: object) -> str:
    """The path of a policy with random weights."""
    game = catbox_env.make_game(game_id, **options)
    path = folder / f"{seed}.safetensors"
    save_checkpoint(path, network_for(game, seed), game)
    return str(path)


def lowest(masks: np.ndarray) -> Any:
    """The lowest legal action of each of ``masks`` (..., A)."""
    return masks.argmax(-1)


def random_legal(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """A random legal action for each of ``masks`` (N, A); 0 where none is legal."""
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def episode(
    env: Any, seed: int | None = None, choose: Callable[[np.ndarray], Any] = lowest
) -> Iterator[tuple[Any, float, dict[str, Any]]]:
    """Observation, reward and info of the reset and of every step of an episode of a Gymnasium environment."""
    seen, info = env.reset(seed=seed)
    yield seen, 0.0, info
    over = False
    while not over:
        seen, reward, over, truncated, info = env.step(int(choose(info["action_mask"])))
        assert not truncated
        yield seen, reward, info
