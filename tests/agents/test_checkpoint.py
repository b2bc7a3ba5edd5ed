"""Policy checkpoints: what was written plays unchanged, and anything else is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import catbox_agents
from catbox_agents.networks.checkpoint import FORMAT, load_checkpoint, save_checkpoint
from catbox_agents.networks.inputs import input_scale
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import make_game, make_vec
from catbox_env.core.game import Game
from catbox_env.core.layout import Layout, Part
from tests.agents.policies import network_for, plain_network


def game_for(**options: object) -> Game:
    return make_game("cat_in_the_box_v0", **{"num_players": 3, **options})


@pytest.fixture
def game() -> Game:
    return game_for()


@pytest.fixture
def saved(tmp_path: Path, game: Game) -> Path:
    path = tmp_path / "policy.safetensors"
    save_checkpoint(path, network_for(game), game, {"decisions": 5})
    return path


def positions(game: Game, count: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of games under way."""
    vec = make_vec(game.id, count, seed=4, **game.options)
    vec.step_random(17, seed=1)
    return vec.observation.copy(), vec.action_mask.copy()


def test_a_loaded_policy_has_the_same_logits(saved: Path, game: Game) -> None:
    observations, _ = positions(game)
    checkpoint = load_checkpoint(saved, game)
    with torch.no_grad():
        expected = network_for(game).outputs(torch.from_numpy(observations)).numpy()
    assert np.allclose(checkpoint.network.outputs(observations), expected, atol=1e-5)
    assert (checkpoint.game_id, checkpoint.options) == (game.id, game.options)
    assert checkpoint.training == {"decisions": 5}


def test_the_agent_takes_the_legal_action_with_the_highest_logit(saved: Path, game: Game) -> None:
    observations, masks = positions(game)
    agent = catbox_agents.make(str(saved), game)
    with torch.no_grad():
        logits = network_for(game).outputs(torch.from_numpy(observations)).numpy()
    actions = agent.act_batch(observations, masks)
    for row, action in enumerate(actions):
        legal = np.flatnonzero(masks[row])
        assert action == legal[logits[row, legal].argmax()]
        assert agent.act(observations[row], masks[row].astype(np.int8)) == action


def test_a_sampling_agent_draws_from_the_distribution(saved: Path, game: Game) -> None:
    """Frequencies of 20,000 draws against the softmax over the legal actions (chi-squared, 0.1 % level)."""
    observations, masks = positions(game, 1)
    count = 20_000
    agent = PolicyAgent.load(saved, game, seed=3, greedy=False)
    drawn = agent.act_batch(np.repeat(observations, count, axis=0), np.repeat(masks, count, axis=0))
    with torch.no_grad():
        logits = network_for(game).outputs(torch.from_numpy(observations)).numpy()[0]
    legal = np.flatnonzero(masks[0])
    expected = np.exp(logits[legal] - logits[legal].max())
    expected *= count / expected.sum()
    observed = np.bincount(drawn, minlength=game.num_actions)
    assert observed.sum() == observed[legal].sum()
    degrees = len(legal) - 1
    assert degrees >= 2
    assert ((observed[legal] - expected) ** 2 / expected).sum() < degrees + 5 * np.sqrt(2 * degrees) + 5


def test_a_policy_of_action_values_is_the_best_action_alone(tmp_path: Path, game: Game) -> None:
    observations, masks = positions(game)
    policy = PolicyAgent(network_for(game), game).policy_batch(observations, masks)
    PolicyAgent(network_for(game), game, outputs="values").save(tmp_path)
    agent = PolicyAgent.load(tmp_path, game, seed=3, greedy=False)
    of_values = agent.policy_batch(observations, masks)
    assert np.array_equal(of_values, policy == policy.max(axis=1, keepdims=True))
    assert np.array_equal(agent.act_batch(observations, masks), policy.argmax(axis=1))
    assert not agent.samples_actions


def test_a_checkpoint_is_found_by_file_by_folder_and_by_run(tmp_path: Path, saved: Path, game: Game) -> None:
    """In a run folder, the complete checkpoint with the largest number is used."""
    run = tmp_path / "run"
    for name, seed in (("00000009", 1), ("00000100", 2), (".00000200.writing", 3), ("notes", 4)):
        (run / "checkpoints" / name).mkdir(parents=True)
        save_checkpoint(run / "checkpoints" / name / "policy.safetensors", network_for(game, seed), game)
    assert load_checkpoint(run).path == run / "checkpoints" / "00000100" / "policy.safetensors"
    assert load_checkpoint(tmp_path).path == saved
    for path in (run, run / "checkpoints" / "00000100"):
        weights = load_checkpoint(path).network.arrays()
        assert all(np.array_equal(weights[k], v) for k, v in network_for(game, 2).arrays().items())


@pytest.mark.parametrize("options", [{"num_players": 4}, {"bids": (1, 3, 4)}, {"rounds": 2}])
def test_other_rules_are_refused_by_name(saved: Path, options: dict) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=rf"was trained for .* with .*{name}=.*asked to play with .*{name}="):
        load_checkpoint(saved, game_for(**options))


def test_the_reward_and_the_number_of_rounds_may_differ_if_the_observation_does_not(tmp_path: Path) -> None:
    path = tmp_path / "match.safetensors"
    trained = game_for(rounds=2)
    save_checkpoint(path, network_for(trained), trained)
    played = game_for(rounds=3, reward="win")
    agent = catbox_agents.make(str(path), played)
    observations, masks = positions(played)
    assert masks[np.arange(len(masks)), agent.act_batch(observations, masks)].all()
    with pytest.raises(ValueError, match=r"rounds=2.*rounds=1"):
        load_checkpoint(path, game_for(rounds=1))


def test_another_game_is_refused(saved: Path, game: Game) -> None:
    other = type("Other", (type(game),), {"id": "other_v0"})(rules=game.rules)
    with pytest.raises(
        ValueError, match="trained for the game 'cat_in_the_box_v0', asked to play 'other_v0'"
    ):
        load_checkpoint(saved, other)


def rewrite(saved: Path, arrays: dict[str, torch.Tensor], **changes: object) -> None:
    """Write the file of ``saved`` with these arrays and another header."""
    game = game_for()
    network = network_for(game).describe() | changes.pop("network", {})
    header = {"format": FORMAT, "game": game.id, "options": game.options, "training": {}, "network": network}
    save_file(arrays, saved, metadata={"catbox": json.dumps(header | changes)})


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"num_players": 9}},
        {"game": ["cat"]},
        {"training": None},
        {"outputs": "votes"},
        {"network": {"activation": "gelu"}},
        {"network": {"hidden": [16, 9]}},
        # Sizes come from the arrays: nothing as large as this is made.
        {"network": {"inputs": 10**9}},
        {"network": {"outputs": 10**9}},
        {"network": {"hidden": [8] * 200_000}},
    ],
    ids=lambda change: str(change)[:40],
)
def test_a_damaged_header_is_refused_with_file_and_remedy(saved: Path, game: Game, change: dict) -> None:
    rewrite(saved, load_file(saved), **change)
    with pytest.raises(
        ValueError, match=r"policy\.safetensors is damaged.*use another checkpoint"
    ) as refused:
        load_checkpoint(saved, game)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("metadata", [None, {"catbox": "[]"}, {"catbox": "[" * 200_000}, {"catbox": "{"}])
def test_a_file_of_something_else_is_refused(saved: Path, metadata: dict | None) -> None:
    save_file(load_file(saved), saved, metadata=metadata)
    with pytest.raises(ValueError, match=r"policy\.safetensors (is damaged|has format None).*use another"):
        load_checkpoint(saved)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_neither_written_nor_read(
    saved: Path, game: Game, number: float
) -> None:
    network = network_for(game)
    network.linear_layers()[1].weight.data[0, 0] = number
    before = saved.read_bytes()
    with pytest.raises(ValueError, match=r"was not written: layers\.1\.weight.*not finite"):
        save_checkpoint(saved, network, game)
    assert saved.read_bytes() == before
    with safe_open(saved, framework="pt") as content:
        metadata = content.metadata()
    save_file(network.state_dict(), saved, metadata=metadata)
    with pytest.raises(ValueError, match=r"policy\.safetensors is damaged.*layers\.1\.weight.*not finite"):
        load_checkpoint(saved, game)


def test_a_network_of_another_size_than_the_game_is_refused(saved: Path, game: Game) -> None:
    size = game.observation_layout.size
    for inputs, outputs in ((size + 1, game.num_actions), (size, game.num_actions + 1)):
        network = plain_network(inputs, outputs)
        save_checkpoint(saved, network, game)
        with pytest.raises(
            ValueError, match=rf"of {inputs} inputs and {outputs} outputs.*another checkpoint"
        ):
            load_checkpoint(saved, game)


def test_arrays_of_other_names_types_and_shapes_are_refused(saved: Path, game: Game) -> None:
    arrays = load_file(saved)
    first, bias = arrays["layers.0.weight"], arrays["layers.1.bias"]
    for change in (
        {"more": torch.zeros(1)},
        {"layers.0.weight": first.T.contiguous()},
        {"layers.0.weight": first.double()},
        {"layers.1.bias": bias[:-1].clone()},
        {"input_scale": torch.ones(first.shape[1], 1)},
    ):
        rewrite(saved, {**arrays, **change})
        with pytest.raises(ValueError, match=r"policy\.safetensors is damaged.*use another"):
            load_checkpoint(saved, game)
    for name in arrays:
        rewrite(saved, {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(ValueError, match=r"policy\.safetensors is damaged.*use another"):
            load_checkpoint(saved, game)
    rewrite(saved, arrays)
    assert load_checkpoint(saved, game).outputs == "logits", "if the header does not say"
    assert load_checkpoint(saved, game).network.describe() == network_for(game).describe()


def test_a_missing_checkpoint_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist: give a policy\.safetensors"):
        load_checkpoint(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="holds no policy checkpoint"):
        load_checkpoint(tmp_path)
    (tmp_path / "checkpoints" / "00000007").mkdir(parents=True)
    with pytest.raises(
        FileNotFoundError,
        match=r"00000007 holds no policy\.safetensors: use another .* algorithm of your own",
    ):
        load_checkpoint(tmp_path)


def test_inputs_are_scaled_by_powers_of_two() -> None:
    """One-hot parts stay as they are; larger numbers shrink by about the root of their range."""
    layout = Layout(
        [Part("flag", (2,), "", 0, 1), Part("count", (1,), "", 0, 5), Part("total", (1,), "", -128, 127)]
    )
    assert input_scale(layout).tolist() == [1, 1, 0.5, 1 / 16]
