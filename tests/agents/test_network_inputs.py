"""Networks that take features: what they are given, how the action head scores actions, and what a file records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.torch
import torch

import catbox_agents
from catbox_agents.networks.action_head import action_logits, sample_legal, score_gradient
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.numpy_network import NumpyMLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Vec, make_game, make_vec
from catbox_env.core.game import Game

GAMES = ("cat_in_the_box_v0", "cat_te_v0", "petrify_v0")
USES = [(game_id, True, True) for game_id in GAMES] + [
    (GAMES[0], features, action_features) for features, action_features in ((True, False), (False, True))
]


def network_of(game: Game, features: bool = True, action_features: bool = True, gain: float = 1.0) -> MLP:
    network = MLP(NetworkInputs(game, features, action_features), 1, (16, 8), "tanh")
    return network.initialise(torch.Generator().manual_seed(5), last_gain=gain)


def played(game: Game, num_envs: int = 64, steps: int = 20) -> Vec:
    vec = make_vec(game.id, num_envs, seed=3, **game.options)
    vec.step_random(steps, seed=4)
    return vec


@pytest.mark.parametrize(("game_id", "features", "action_features"), USES)
def test_inputs_are_the_observation_and_then_the_features(
    game_id: str, features: bool, action_features: bool
) -> None:
    game = make_game(game_id)
    vec, inputs = played(game), NetworkInputs(make_game(game_id), features, action_features)
    vectors, of_actions = inputs.compute(vec.observation, vec.action_mask)
    position, actions = catbox_agents.features.features_of(game).compute(vec.observation, vec.action_mask)
    expected = [vec.observation, position] if features else [vec.observation]
    assert np.array_equal(vectors, np.concatenate(expected, axis=1))
    assert np.array_equal(of_actions, actions if action_features else actions[:, :, :0])
    low, high = inputs.bounds()
    assert ((vectors >= low) & (vectors <= high)).all()
    assert inputs.scale().shape == (inputs.size,) == low.shape


def test_on_a_gpu_too_the_features_of_ones_own_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    catbox_device = pytest.importorskip("catbox_agents.device")
    launched: list[object] = []
    monkeypatch.setattr(
        "catbox_env.adapters.device_kernels.SIMULATED", True
    )  # tensors in the memory of the machine
    monkeypatch.setattr(catbox_device, "launch", lambda kernel, *_: launched.append(kernel))
    game = make_game(GAMES[0])
    vec = SimpleNamespace(
        game=game,
        num_envs=2,
        device=torch.device("cpu"),
        observation=torch.zeros((2, game.observation_layout.size), dtype=torch.int8),
        action_mask=torch.zeros((2, game.num_actions), dtype=torch.bool),
    )
    inputs = NetworkInputs(game, True, True, "examples.own_features:make_features")
    catbox_device.DeviceInputs(inputs, vec).write()
    assert inputs.features is not None
    assert launched == [catbox_device.features_kernel(inputs.features.write, inputs.features.scratch)]


@pytest.mark.parametrize("game_id", GAMES)
def test_logits_add_the_features_of_an_action_weighted_by_the_position(game_id: str) -> None:
    """By the definition in ``action_head``, number by number; and in the compiled pass the same."""
    game = make_game(game_id)
    vec, network = played(game), network_of(game)
    vectors, features = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    with torch.no_grad():
        outputs = network.outputs(torch.from_numpy(vectors)).numpy()
        given = (torch.from_numpy(array) for array in (outputs, features, vec.action_mask))
        logits = network.logits_of(*given).numpy()
    assert network.action_scale is not None
    scale = network.action_scale.numpy()
    for row in range(0, vec.num_envs, 7):
        for action in np.flatnonzero(vec.action_mask[row]):
            weights = outputs[row, game.num_actions : network.num_outputs] * scale
            expected = outputs[row, action] + float(features[row, action].astype(float) @ weights)
            assert logits[row, action] == pytest.approx(expected, abs=1e-4)
    found, legal = action_logits(outputs, vec.action_mask, features, scale), vec.action_mask
    assert np.allclose(found[legal], logits[legal], atol=1e-4)


def test_the_gradient_of_the_scores_is_that_of_automatic_differentiation() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    vec, network = played(game), network_of(game)
    _, features = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    assert network.action_scale is not None
    num_actions, scale = game.num_actions, network.action_scale
    outputs = torch.randn(vec.num_envs, num_actions + len(scale), generator=torch.Generator().manual_seed(1))
    pull = torch.randn(vec.num_envs, num_actions, generator=torch.Generator().manual_seed(2))
    pull *= torch.from_numpy(vec.action_mask)
    outputs.requires_grad_()
    weights = outputs[:, num_actions:] * scale
    logits = outputs[:, :num_actions] + torch.einsum(
        "nak,nk->na", torch.from_numpy(features).float(), weights
    )
    (logits * pull).sum().backward()
    gradient = np.concatenate([pull.numpy(), np.full((vec.num_envs, len(scale)), np.nan, np.float32)], axis=1)
    score_gradient(gradient, vec.action_mask, features, scale.numpy())
    assert outputs.grad is not None
    assert np.allclose(gradient, outputs.grad.numpy(), atol=1e-4)


@pytest.mark.parametrize("compiled", [action_logits, score_gradient])
def test_arrays_that_do_not_fit_the_head_are_refused(compiled: Callable[..., object]) -> None:
    masks, features = np.ones((4, 3), bool), np.ones((4, 3, 2), np.int8)
    scale, outputs = np.ones(2, np.float32), np.zeros((4, 5), np.float32)
    compiled(outputs.copy(), masks, features, scale)
    for wrong in (
        (outputs[:, :4].copy(), masks, features, scale),
        (outputs[:3].copy(), masks, features, scale),
        (np.zeros(4, np.float32), masks, features, scale),
        (outputs.copy(), masks[0], features, scale),
        (outputs.copy(), masks, features[:, :, :1].copy(), scale),
        (outputs.copy(), masks, features[:3].copy(), scale),
        (outputs.copy(), masks, features, scale[:1].copy()),
    ):
        with pytest.raises(ValueError, match="expected"):
            compiled(*wrong)


def test_arrays_that_do_not_fit_the_sampler_are_refused() -> None:
    logits, masks, uniforms = np.zeros((4, 5), np.float32), np.ones((4, 3), bool), np.zeros(4)
    sample_legal(logits, masks, uniforms)
    for wrong in (
        (logits[:3], masks, uniforms),
        (logits[:, :2], masks, uniforms),
        (logits[0], masks, uniforms),
        (logits, masks[:3], uniforms),
        (logits, masks[0], uniforms),
        (logits, masks, uniforms[:3]),
        (logits, masks, uniforms[:, None]),
    ):
        with pytest.raises(ValueError, match="expected"):
            sample_legal(*wrong)


def test_logits_with_values_behind_them_are_the_same_in_torch_alone() -> None:
    """The way of a GPU, and its gradient; values are left out."""
    game = make_game("cat_in_the_box_v0", num_players=3)
    vec, inputs = played(game), NetworkInputs(game, True, True)
    network = MLP(inputs, 1, (8,)).initialise(torch.Generator().manual_seed(1), 1.0)
    vectors, features = map(torch.from_numpy, inputs.compute(vec.observation, vec.action_mask))
    masks, found = torch.from_numpy(vec.action_mask), []
    for logits_of in (network.logits_of, network._logits_on_gpu):
        outputs = network.outputs(vectors).detach().requires_grad_()
        logits = logits_of(outputs, features, masks).where(masks, 0.0)
        (logits**2).sum().backward()
        assert outputs.grad is not None
        found.append((logits.detach(), outputs.grad))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-4)
    assert (found[0][1][:, -1] == 0).all()
    with pytest.raises(ValueError, match="as the masks are"):
        network.logits_of(outputs, features[:3], masks)


@pytest.mark.parametrize(("game_id", "features", "action_features"), USES)
def test_a_checkpoint_records_what_its_network_takes_and_plays_the_same(
    tmp_path: Path, game_id: str, features: bool, action_features: bool
) -> None:
    game = make_game(game_id)
    vec, network = played(game), network_of(game, features, action_features)
    save_checkpoint(tmp_path / "policy.safetensors", network, game)
    loaded = load_checkpoint(tmp_path / "policy.safetensors", game).network
    assert loaded.describe() == network.describe()
    assert ("features" in network.describe()) == features
    agent = catbox_agents.make(tmp_path / "policy.safetensors", game)
    before = PolicyAgent(network, game).act_batch(vec.observation, vec.action_mask)
    assert np.array_equal(agent.act_batch(vec.observation, vec.action_mask), before)
    assert vec.action_mask[np.arange(vec.num_envs), before].all()
    one = vec.observation[0].copy(), vec.action_mask[0].copy()
    for array in one:
        array.setflags(write=False)
    assert agent.act(*one) == before[0]


@pytest.mark.parametrize("part", ["features", "action_features"])
def test_a_network_from_before_a_feature_takes_it_with_a_weight_of_zero(part: str, tmp_path: Path) -> None:
    """A network with weights of zero for ``slack``, and the file of one that does not know ``slack``."""
    game = make_game("cat_in_the_box_v0", num_players=3)
    network, inputs = network_of(game), NetworkInputs(game, True, True)
    arrays, described = network.arrays(), network.describe()
    layout = inputs.layout if part == "features" else inputs.action_layout
    assert layout is not None
    first = game.observation_layout.size if part == "features" else game.num_actions
    slack = first + layout["slack"].offset
    if part == "features":
        shorter = {"layers.0.weight": 1, "input_scale": 0}
        arrays["layers.0.weight"][:, slack] = 0
    else:
        shorter = {"layers.2.weight": 0, "layers.2.bias": 0}
        arrays["layers.2.weight"][slack] = arrays["layers.2.bias"][slack] = 0
    older = dict(arrays)
    for name, axis in shorter.items():
        older[name] = np.delete(arrays[name], slack, axis)
    if part == "action_features":
        older["action_scale"] = np.delete(arrays["action_scale"], slack - first)
    known = {
        **described,
        part: {name: size for name, size in described[part].items() if name != "slack"},
        "inputs": described["inputs"] - (part == "features"),
        "outputs": described["outputs"] - (part == "action_features"),
    }
    save_checkpoint(tmp_path / "policy.safetensors", NumpyMLP(older, known), game)
    loaded = load_checkpoint(tmp_path / "policy.safetensors", game).network
    assert loaded.describe() == described
    np.testing.assert_equal(loaded.arrays(), arrays)
    network.set_arrays(loaded.arrays())  # as a run that starts from it does
    vec = played(game)
    agent = PolicyAgent.load(tmp_path / "policy.safetensors", game)
    expected = PolicyAgent(network, game).policy_batch(vec.observation, vec.action_mask)
    assert np.array_equal(agent.policy_batch(vec.observation, vec.action_mask), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": {"unseen": 5}}, "its network takes the features .* trained with another version"),
        ({"features": {"unseen": -1}}, "is damaged"),
        ({"action_features": {"rank": 3}}, "do not fit its header"),
    ],
)
def test_a_file_that_names_other_features_is_refused(tmp_path: Path, change: dict, message: str) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    file = tmp_path / "policy.safetensors"
    save_checkpoint(file, network_of(game), game)
    with safetensors.safe_open(file, "pt") as content:
        header = json.loads(content.metadata()["catbox"])
        arrays = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    header["network"] |= change
    safetensors.torch.save_file(arrays, file, metadata={"catbox": json.dumps(header)})
    with pytest.raises(ValueError, match=message):
        load_checkpoint(file, game)
    with pytest.raises(ValueError, match=message):
        PolicyAgent.load(file, game)
