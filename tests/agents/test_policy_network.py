"""The network that plays: the same outputs as torch, for any batch, and nothing but NumPy and compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_agents.networks.action_head import ILLEGAL, action_logits
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.layer_kernels import add_layer
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.network import TorchPlayingNetwork
from catbox_agents.networks.numpy_network import NumpyMLP
from catbox_agents.networks.policy_agent import PolicyAgent, playing
from catbox_env import Game, Vec, make_game, make_vec
from tests.agents.policies import plain_network


def game_of_three() -> Game:
    return make_game("cat_in_the_box_v0", num_players=3)


def network_of(game: Game, activation: str = "relu") -> MLP:
    network = MLP(NetworkInputs(game, True, True), 1, (33, 12), activation)
    network.initialise(torch.Generator().manual_seed(5), last_gain=1.0)
    with torch.no_grad():
        for layer in network.linear_layers():
            layer.bias.normal_(generator=torch.Generator().manual_seed(6))
    return network


def positions(game: Game, count: int) -> Vec:
    vec = make_vec(game.id, count, seed=3, **game.options)
    vec.step_random(13, seed=4)
    return vec


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_logits_are_those_of_torch(activation: str) -> None:
    game = game_of_three()
    vec, network = positions(game, 601), network_of(game, activation)
    vectors, features = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    legal = vec.action_mask
    with torch.no_grad():
        expected, values = (
            each.numpy() for each in network(*map(torch.from_numpy, (vectors, features, legal)))
        )
    made = network.playing_network()
    found = made.logits(vectors, features, legal)
    assert found.dtype == np.float32
    assert np.allclose(found[legal], expected[legal], atol=1e-4)
    for twin in (made, TorchPlayingNetwork(network)):
        assert twin.has_critic
        assert np.allclose(twin.values(vectors, features, legal), values[:, 0], atol=1e-4)
    assert np.ptp(values) > 0.3
    assert np.ptp(expected[legal]) > 1
    assert playing(made) is made
    assert (expected[~legal] == float(ILLEGAL)).all()


def test_the_outputs_for_a_position_do_not_depend_on_the_batch() -> None:
    game = game_of_three()
    vec, network = positions(game, 601), network_of(game).playing_network()
    vectors, _ = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    together = network.outputs(vectors)
    for rows in (slice(0, 1), slice(7, 8), slice(3, 10), slice(255, 600)):
        assert np.array_equal(network.outputs(vectors[rows]), together[rows])
    assert network.outputs(vectors[:0]).shape == (0, network.num_outputs)


def test_it_plays_as_the_network_was_when_the_agent_was_made() -> None:
    game, network = game_of_three(), network_of(game_of_three())
    agent, vec = PolicyAgent(network, game), positions(game, 64)
    before = agent.act_batch(vec.observation, vec.action_mask)
    with torch.no_grad():
        network.linear_layers()[-1].weight.neg_()
    assert np.array_equal(agent.act_batch(vec.observation, vec.action_mask), before)
    assert (PolicyAgent(network, game).act_batch(vec.observation, vec.action_mask) != before).any()


def test_a_layer_refuses_other_shapes_and_keeps_what_is_not_a_number() -> None:
    inputs, weights = np.ones((3, 5), np.float32), np.full((5, 9), -1, np.float32)
    weights[:, 2], weights[:, 3] = 1, np.nan
    outputs = np.ones((3, 9), np.float32)
    for wrong in (
        (inputs[:, :4].copy(), weights, outputs),
        (inputs, weights[:, :8].copy(), outputs),
        (inputs, weights, outputs[:2].copy()),
    ):
        assert not add_layer(*wrong, True)
    assert (outputs == 1).all()
    assert add_layer(inputs, weights, outputs, True)
    expected = np.array([0, 0, 6, np.nan, 0, 0, 0, 0, 0], np.float32)
    assert np.array_equal(outputs, np.tile(expected, (3, 1)), equal_nan=True)


@pytest.mark.parametrize(
    ("num_rows", "num_inputs", "width"), [(0, 9, 3), (1, 0, 4), (5, 1, 1), (7, 40, 9000)]
)
def test_a_layer_is_a_product_of_matrices_of_any_size(num_rows: int, num_inputs: int, width: int) -> None:
    """Wide layers go through their weights in several blocks."""
    rng = np.random.default_rng(1)
    inputs = rng.integers(-1, 2, (num_rows, num_inputs)).astype(np.int8)
    weights, before = (rng.normal(size=(n, width)).astype(np.float32) for n in (num_inputs, num_rows))
    outputs = before.copy()
    assert add_layer(inputs, weights, outputs, False)
    assert np.allclose(outputs, before + inputs.astype(np.float64) @ weights, atol=1e-4)
    alone = before[-1:].copy()
    assert add_layer(inputs[-1:], weights, alone, False)
    assert np.array_equal(alone, outputs[-1:])


def test_what_does_not_fit_is_refused() -> None:
    game, vec = game_of_three(), positions(game_of_three(), 4)
    network = network_of(game).playing_network()
    vectors, features = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    for wrong in (vectors[:, 1:], vectors.astype(np.float32), vectors[0]):
        with pytest.raises(ValueError, match=rf"expected int8 of shape \(n, {network.num_inputs}\)"):
            network.outputs(wrong)
    mask = vec.action_mask
    for action_features in (features[:, :, 1:].copy(), features[:3], np.concatenate([features] * 2)):
        with pytest.raises(ValueError, match=r"action features .*expected .*as the masks are \(4, 35\)"):
            network.logits(vectors, action_features, mask)
    for masks in (mask[:3], mask[:, 1:]):
        with pytest.raises(ValueError, match=r"action features .*expected .*as the masks are"):
            network.logits(vectors, features, masks)
    with pytest.raises(ValueError, match="action features float16: expected int8"):
        network.logits(vectors, features.astype(np.float16), mask)
    with pytest.raises(ValueError, match="masks int64: expected bool"):
        network.logits(vectors, features, mask.astype(np.int64) * 1000)
    other = plain_network(7, game.num_actions)
    with pytest.raises(ValueError, match=rf"a network of 7 inputs and {game.num_actions} outputs, expected"):
        PolicyAgent(other, game)
    arrays, described = network.arrays(), network.describe()
    for name in arrays:
        with pytest.raises(ValueError, match="do not fit"):
            NumpyMLP({key: array for key, array in arrays.items() if key != name}, described)
        with pytest.raises(ValueError, match=rf"{name} .* not finite"):
            NumpyMLP({**arrays, name: arrays[name] * np.float32(np.nan)}, described)
        with pytest.raises(ValueError, match=rf"{name} \(float64\) .* not float32"):
            NumpyMLP({**arrays, name: arrays[name].astype(np.float64)}, described)
    with pytest.raises(ValueError, match="unknown activation 'gelu': choose one of relu, tanh"):
        NumpyMLP(arrays, {**described, "activation": "gelu"})
    with pytest.raises(ValueError, match=r"^action_features = {'a': 0}, expected names and sizes"):
        NumpyMLP(arrays, {**described, "action_features": {"a": 0}})
    large = {
        "layers.0.weight": arrays["layers.0.weight"] * 0 + 3e38,
        "input_scale": arrays["input_scale"] * 0 + 2,
    }
    with pytest.raises(
        ValueError, match=r"layers.0.weight times input_scale holds numbers that are not finite"
    ):
        NumpyMLP({**arrays, **large}, described)


def test_a_mask_of_large_numbers_lets_no_kernel_write_out_of_bounds() -> None:
    game, vec = game_of_three(), positions(game_of_three(), 4)
    vectors, features = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    network = network_of(game).playing_network()
    expected = network.logits(vectors, features, vec.action_mask)
    outputs = network.outputs(vectors)
    for factor in (1000, -1000):
        masks = vec.action_mask.astype(np.int64) * factor
        found = action_logits(outputs, masks, features, network.action_scale)
        np.testing.assert_array_equal(found, expected)


def test_a_file_in_half_precision_is_half_as_large_and_plays_nearly_the_same(tmp_path: Path) -> None:
    game, vec = game_of_three(), positions(game_of_three(), 256)
    network = network_of(game).playing_network()
    for name, half in (("whole", False), ("half", True)):
        save_checkpoint(tmp_path / name, network, game, {"update": 3}, half=half)
    assert (tmp_path / "half").stat().st_size < 0.6 * (tmp_path / "whole").stat().st_size
    loaded = load_checkpoint(tmp_path / "half", game)
    assert loaded.training == {"update": 3}
    for name, array in loaded.network.arrays().items():
        assert array.dtype == np.float32
        assert np.array_equal(array, network.arrays()[name].astype(np.float16).astype(np.float32))
    policies = [
        PolicyAgent.load(tmp_path / name, game).policy_batch(vec.observation, vec.action_mask)
        for name in ("whole", "half")
    ]
    assert np.allclose(*policies, atol=0.01)
    assert not np.array_equal(*policies)


def test_a_weight_that_half_precision_does_not_have_is_refused(tmp_path: Path) -> None:
    game, network = game_of_three(), network_of(game_of_three())
    network.linear_layers()[1].weight.data[0, 0] = -70_000.0
    save_checkpoint(tmp_path / "policy.safetensors", network, game)
    before = (tmp_path / "policy.safetensors").read_bytes()
    with pytest.raises(
        ValueError, match=r"layers\.1\.weight holds 70000, more than float16 has: write float32"
    ):
        save_checkpoint(tmp_path / "policy.safetensors", network, game, half=True)
    assert (tmp_path / "policy.safetensors").read_bytes() == before


WITHOUT = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
"""
TORCH = "torch,safetensors"
EXTRAS = (
    TORCH
    + ",stable_baselines3,sb3_contrib,choix,filelock,matplotlib,psutil,pydantic,rich,scipy,tensorboard,typer,yaml"
)


def run_without(modules: str, program: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program, modules, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PLAY = """
import numpy as np, catbox_agents
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_env import make_game, make_vec
game = make_game("cat_in_the_box_v0", num_players=3)
path = sys.argv[2]
agent = catbox_agents.make(path, game)
vec = make_vec(game.id, 64, seed=3, num_players=3)
vec.step_random(13, seed=4)
print(*agent.act_batch(vec.observation, vec.action_mask))
print(agent.act(vec.observation[0], vec.action_mask[0]))
assert catbox_agents.play_out(vec, [path, path, "random"]).shape == (64, 3)
assert catbox_agents.evaluate(game, [path, f"search:worlds=4,policy={path}"], 10).deals == 10
save_checkpoint(path + ".half", load_checkpoint(path, game).network, game, half=True)
catbox_agents.make(path + ".half", game)
"""

COMMANDS = """
import io
from catbox_app.cli import app
path, folder = sys.argv[2:]
run = lambda *words: app([*words, "-p", "3"], standalone_mode=False)
run("evaluate", path, "random", "--deals", "10")
run("watch", path, path, "random", "--seed", "1")
sys.stdin = io.StringIO("q\\n")
run("play", path, "random", "--seed", "1")
run("arena", path, "random", "--deals", "20", "--processes", "2", "--output", folder)
print("done")
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a policy for three players."""
    path, game = tmp_path_factory.mktemp("policies") / "policy.safetensors", game_of_three()
    save_checkpoint(path, network_of(game), game)
    return path


@pytest.mark.slow
def test_policies_play_without_any_extra_and_as_with_them(policy: Path) -> None:
    game, vec = game_of_three(), positions(game_of_three(), 64)
    first, second = run_without(EXTRAS, PLAY, policy).splitlines()
    expected = PolicyAgent(network_of(game), game).act_batch(vec.observation, vec.action_mask)
    assert first.split() == list(map(str, expected))
    assert second == str(expected[0])


@pytest.mark.slow
def test_commands_play_policies_without_torch(policy: Path, tmp_path: Path) -> None:
    assert run_without(TORCH, COMMANDS, policy, tmp_path / "arena").endswith("done\n")


@pytest.mark.parametrize(("activation", "between"), [("relu", torch.nn.ReLU), ("tanh", torch.nn.Tanh)])
def test_a_network_of_ones_own_becomes_an_agent_for_every_command(
    activation: str, between: type[torch.nn.Module], tmp_path: Path
) -> None:
    game = game_of_three()
    vec = positions(game, 300)
    own = torch.nn.Sequential(
        torch.nn.Linear(game.observation_layout.size, 24), between(), torch.nn.Linear(24, game.num_actions)
    )
    linear = [(layer.weight.detach(), layer.bias.detach()) for layer in (own[0], own[2])]
    catbox_agents.save_policy(tmp_path / "own" / "first", game, linear, activation)
    agent = catbox_agents.make(str(tmp_path / "own" / "first"), game)
    with torch.no_grad():
        logits = own(torch.from_numpy(vec.observation).float()).numpy()
    expected = np.where(vec.action_mask, logits, -np.inf).argmax(axis=1)
    assert np.array_equal(agent.act_batch(vec.observation, vec.action_mask), expected)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], r"weights of shapes \[\]: expected \(out, in\), for one layer or more"),
        ([(np.ones(3), np.ones(3))], r"weights of shapes \[\(3,\)\]: expected \(out, in\)"),
        ([(np.ones((4, 3)), np.ones(3))], "do not fit"),
        ([(np.ones((4, 3)), np.ones(4)), (np.ones((2, 5)), np.ones(2))], "do not fit"),
        ([(np.full((4, 3), np.nan), np.ones(4))], "not finite"),
        (
            [(np.ones((4, 3)), np.ones(4)), (np.ones((5, 4)), np.ones(5))],
            "a network of 3 inputs and 5 outputs, expected",
        ),
    ],
)
def test_layers_that_do_not_fit_are_refused(
    layers: list[tuple[np.ndarray, np.ndarray]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        catbox_agents.save_policy(tmp_path, game_of_three(), layers)
