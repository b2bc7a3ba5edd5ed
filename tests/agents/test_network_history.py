"""Networks that take the history of a seat: what the encoder computes, its gradient, and where such networks play."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from catbox_agents.networks.history import (
    HEADS,
    OUTPUTS,
    HistorySizes,
    check_histories,
    encode_histories,
)
from catbox_agents.networks.history_kernels import valid_histories
from catbox_agents.networks.history_modules import HistoryEncoder
from catbox_agents.networks.inputs import NetworkInputs

import catbox_agents
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Vec, make_game, make_vec
from catbox_env.core.game import Game
from catbox_env.core.kernels import UNUSED

PLAYERS, ACTIONS, LENGTH = 3, 7, 12


def encoder(length: int = LENGTH) -> HistoryEncoder:
    sizes = HistorySizes(PLAYERS, ACTIONS, length, heads=2, outputs=6)
    return HistoryEncoder(sizes).initialise(torch.Generator().manual_seed(1))


def compiled(module: HistoryEncoder, given: np.ndarray) -> np.ndarray:
    """The outputs for all of ``given`` without torch."""
    weights = [parameter.detach().numpy() for parameter in module.parameters()]
    return encode_histories(given, weights)


def histories(count: int = 40, rows: int = LENGTH) -> np.ndarray:
    """Some of every length, the first of them empty."""
    rng = np.random.default_rng(2)
    made = np.full((count, rows, 2), UNUSED, np.int8)
    for k in range(count):
        length = k % (rows + 1)
        made[k, :length, 0] = rng.integers(0, PLAYERS, length)
        made[k, :length, 1] = rng.integers(-1, ACTIONS, length)
    return made


def by_definition(module: HistoryEncoder, history: np.ndarray) -> np.ndarray:
    """What the docstring of ``history`` says, number by number."""
    token_scores, age_scores, token_values, age_values = (
        p.detach().double().numpy() for p in module.parameters()
    )
    sizes = module.sizes
    played = [(int(seat), int(action)) for seat, action in history if seat >= 0]
    if not played:
        return np.zeros(sizes.outputs)
    ages = [min(age, sizes.length - 1) for age in range(len(played) - 1, -1, -1)]
    scores = np.array(
        [token_scores[s, a + 1] + age_scores[age] for (s, a), age in zip(played, ages, strict=True)]
    )
    values = np.array(
        [token_values[s, a + 1] + age_values[age] for (s, a), age in zip(played, ages, strict=True)]
    )
    weights = np.exp(scores - scores.max(axis=0))
    weights /= weights.sum(axis=0)
    width = sizes.outputs // sizes.heads
    return np.concatenate(
        [weights[:, h] @ values[:, h * width : (h + 1) * width] for h in range(sizes.heads)]
    )


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().reshape(-1) for parameter in module.parameters()])


def network_of(game: Game) -> MLP:
    inputs = NetworkInputs(game, features=True, action_features=True, history=True)
    return MLP.for_policy(inputs, (16, 8), "tanh").initialise(torch.Generator().manual_seed(5), last_gain=3.0)


def played(game: Game, num_envs: int = 64, steps: int = 11) -> Vec:
    vec = make_vec(game.id, num_envs, seed=3, history=True, **game.options)
    vec.step_random(steps, seed=4)
    return vec


# What the encoder computes.


@pytest.mark.parametrize("length", [LENGTH, 4], ids=["ages for every row", "older rows count as the oldest"])
def test_outputs_follow_the_definition_in_torch_and_compiled(length: int) -> None:
    module, given = encoder(length), histories()
    expected = np.array([by_definition(module, history) for history in given])
    assert np.allclose(compiled(module, given), expected, atol=1e-5)
    assert np.allclose(module(torch.from_numpy(given)).detach().numpy(), expected, atol=1e-5)
    assert not expected[0].any()


def test_large_scores_are_no_trouble() -> None:
    """Also where those of a history are all far under the largest of the tables."""
    module, given, size = encoder(), histories(), 300.0
    with torch.no_grad():
        module.get_parameter("token_scores").mul_(size)
        module.get_parameter("token_scores")[0, 0] = 4 * size
    expected = np.array([by_definition(module, history) for history in given])
    assert np.allclose(compiled(module, given), expected, atol=1e-4)
    assert np.allclose(module(torch.from_numpy(given)).detach().numpy(), expected, atol=1e-4)


def test_the_order_of_rows_matters_and_what_follows_the_end_does_not() -> None:
    module, given = encoder(), histories()[8:9]
    swapped, behind = given.copy(), given.copy()
    swapped[0, [2, 5]] = swapped[0, [5, 2]]
    behind[0, 9:] = [1, 3]
    longer = np.concatenate([given, np.full((1, 5, 2), UNUSED, np.int8)], axis=1)
    for encoded in (compiled, lambda module, rows: module(torch.from_numpy(rows)).detach().numpy()):
        plain, other, same, more = (encoded(module, rows) for rows in (given, swapped, behind, longer))
        assert not np.allclose(plain, other, atol=1e-3)
        assert np.allclose(plain, same)
        assert np.allclose(plain, more)


# Bad input.


@pytest.mark.parametrize("wrong", [(PLAYERS, 0), (0, ACTIONS), (0, -2)])
def test_a_history_of_another_game_is_refused_and_not_read(wrong: tuple[int, int]) -> None:
    module, given = encoder(), histories()
    given[20, 1] = wrong
    with pytest.raises(ValueError, match="not of a game with 3 players and 7 actions"):
        compiled(module, given)
    assert not valid_histories(given, PLAYERS, ACTIONS, UNUSED)
    assert valid_histories(histories(), PLAYERS, ACTIONS, UNUSED)


def test_what_follows_the_end_of_a_history_is_nothing() -> None:
    with pytest.raises(ValueError, match="a multiple of the heads"):
        HistorySizes(PLAYERS, ACTIONS, LENGTH, heads=4, outputs=6)
    given = histories()
    given[5, -1] = [0, UNUSED]  # behind the end
    assert not valid_histories(given, PLAYERS, ACTIONS, UNUSED)


@pytest.mark.parametrize("given", [None, np.zeros((3, 5, 2), np.int8), np.zeros((2, 5, 2))])
def test_what_is_no_array_of_histories_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"expected int8 of shape \(2, T, 2\)"):
        check_histories(given, 2)


# The files.


def test_a_checkpoint_records_the_encoder_and_plays_the_same(tmp_path: Path) -> None:
    game = make_game("cat_te_v0")
    vec, network = played(game, steps=5), network_of(game)
    save_checkpoint(tmp_path / "policy.safetensors", network, game)
    loaded = load_checkpoint(tmp_path / "policy.safetensors", game).network
    assert loaded.describe() == network.describe()
    assert network.describe()["history"] == {
        "encoder": "attention",
        "players": game.num_players,
        "actions": game.num_actions,
        "length": game.max_game_length,
        "heads": HEADS,
        "outputs": OUTPUTS,
    }
    agent = catbox_agents.make(tmp_path, game)
    assert agent.needs_history
    before = PolicyAgent(network, game).act_batch(vec.observation, vec.action_mask, vec.history)
    assert np.array_equal(agent.act_batch(vec.observation, vec.action_mask, vec.history), before)
    one = vec.observation[3].copy(), vec.action_mask[3].copy(), vec.history[3].copy()
    for array in one:
        array.setflags(write=False)
    assert agent.act(*one) == before[3]


def test_a_policy_of_short_matches_plays_longer_ones(tmp_path: Path) -> None:
    two, six = (make_game("cat_in_the_box_v0", num_players=3, rounds=rounds) for rounds in (2, 6))
    save_checkpoint(tmp_path / "policy.safetensors", network_of(two), two)
    result = catbox_agents.evaluate(six, [str(tmp_path), "random"], num_deals=10, seed=1)
    assert result.deals == 10


def edited(file: Path, header: Callable[[dict], object], arrays: Callable[[dict], object]) -> None:
    with safetensors.safe_open(file, "pt") as content:
        values = json.loads(content.metadata()["catbox"])
        tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    header(values["network"])
    arrays(tensors)
    safetensors.torch.save_file(tensors, file, metadata={"catbox": json.dumps(values)})


def nothing(_: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        (lambda network: network.pop("history"), nothing),
        (lambda network: network["history"].update(encoder="gru"), nothing),
        (lambda network: network["history"].update(length=3), nothing),
        (nothing, lambda tensors: tensors.pop("history.age_values")),
        (nothing, lambda tensors: tensors.update({"history.token_scores": torch.zeros(3)})),
        (nothing, lambda tensors: tensors["history.age_values"].fill_(np.nan)),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, header: Callable, arrays: Callable) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    file = tmp_path / "policy.safetensors"
    save_checkpoint(file, network_of(game), game)
    load_checkpoint(file, game)
    edited(file, header, arrays)
    with pytest.raises(ValueError, match="is damaged"):
        load_checkpoint(file, game)


def test_an_encoder_for_another_table_is_refused(tmp_path: Path) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    file = tmp_path / "policy.safetensors"
    save_checkpoint(file, network_of(game), game)
    shapes = HistorySizes(4, game.num_actions, game.max_game_length).shapes()
    edited(
        file,
        lambda network: network["history"].update(players=4),
        lambda tensors: tensors.update({f"history.{k}": torch.zeros(shape) for k, shape in shapes.items()}),
    )
    with pytest.raises(ValueError, match=r"histories of 4 players and 35 actions, but .* has 3 and 35"):
        load_checkpoint(file, game)


# Where such agents play.


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a policy for three players."""
    game = make_game("cat_in_the_box_v0", num_players=3)
    file = tmp_path_factory.mktemp("policy") / "policy.safetensors"
    save_checkpoint(file, network_of(game), game)
    return str(file)


def test_where_no_history_is_kept_it_says_what_is_missing(policy: str) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    agent, vec = catbox_agents.make(policy, game), make_vec(game.id, 4, seed=1, num_players=3)
    with pytest.raises(ValueError, match=r"takes the history of the seat .* make_vec\(..., history=True\)"):
        agent.act_batch(vec.observation, vec.action_mask)
    with pytest.raises(ValueError, match="takes the history of the seat"):
        agent.act(vec.observation[0], vec.action_mask[0])
    with pytest.raises(ValueError, match="needs its history"):
        catbox_agents.play_out(vec, [policy, "random", "random"])
    with pytest.raises(ValueError, match="needs its history, which a sampled world does not have"):
        catbox_agents.RolloutSearch(game, policy)
    wrong = np.zeros((4, 5, 2), np.int8)
    wrong[:, :, 0] = 3
    with pytest.raises(ValueError, match="not of a game with 3 players"):
        agent.act_batch(vec.observation, vec.action_mask, wrong)
    with pytest.raises(ValueError, match="give them with the vectors"):
        network_of(game)(torch.zeros(4, NetworkInputs(game, True, True, True).size, dtype=torch.int8))
