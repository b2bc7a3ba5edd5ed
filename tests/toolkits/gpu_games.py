"""Plays games on a GPU, or in Numba's simulator of one, beside the same games on the CPU, and compares them.

In the simulator it needs a process of its own, in which nothing is compiled:
NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1 python -m tests.toolkits.gpu_games games petrify_v0
"""

from __future__ import annotations

import copy
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import catbox_agents
import catbox_env.games
from catbox_agents.device import DeviceHeuristic, DeviceInputs
from catbox_agents.learners.gymnasium import LearnerVectorEnv
from catbox_agents.networks.inputs import NetworkInputs

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 5, "reward": "margin"}),
    ("cat_in_the_box_v0", {"num_players": 2, "rounds": 2, "reward": "win"}),
    ("cat_te_v0", {}),
    ("petrify_v0", {}),
]
ARRAYS = (
    "observation",
    "action_mask",
    "current_player",
    "rewards",
    "terminated",
    "round_ended",
    "history",
    "state",
)


def assert_same(device: Any, host: Any) -> None:
    for name in ARRAYS:
        found, expected = getattr(device, name).cpu().numpy(), getattr(host, name)
        assert found.dtype == expected.dtype, name
        assert np.array_equal(found, expected), name
    ended = host.terminated
    assert np.array_equal(device.win_shares.cpu().numpy()[ended], host.win_shares[ended])
    for name, expected in host.info.items():
        assert np.array_equal(device.info[name].cpu().numpy(), expected), name


def legal_actions(host: Any, random: np.random.Generator) -> np.ndarray:
    return (random.random(host.action_mask.shape) * host.action_mask).argmax(axis=1)


def both(game_id: str, num_envs: int, **options: Any) -> tuple[Any, Any]:
    device, host = (
        catbox_env.make_vec(game_id, num_envs, seed=3, history=True, state=True, device=where, **options)
        for where in ("cuda", "cpu")
    )
    return device, host


def play_the_same(game_id: str, options: dict[str, Any], num_envs: int, num_steps: int) -> None:
    """Random play, chosen actions, illegal ones, single rows, games that end, and copies from and to the CPU."""
    random = np.random.default_rng(0)
    device, host = both(game_id, num_envs, **options)
    assert_same(device, host)
    device.step_random(num_steps // 2, seed=3)
    host.step_random(num_steps // 2, seed=3)
    assert_same(device, host)
    for _ in range(num_steps // 2):
        actions = legal_actions(host, random)
        device.step(actions)
        host.step(actions)
    assert_same(device, host)
    device.check()

    wrong = legal_actions(host, random)
    wrong[1] = host.game.num_actions
    device.step(wrong)
    device.step(legal_actions(host, random))  # moves nothing either
    with pytest.raises(ValueError, match="illegal actions in 1 of") as expected:
        host.step(wrong)
    with pytest.raises(ValueError, match="illegal actions in 1 of") as found:
        device.check()
    assert str(found.value) == str(expected.value)
    actions = legal_actions(host, random)
    device.step(actions)
    host.step(actions)
    assert_same(device, host)
    for lost in (device.reset, lambda: device.set_states(host)):  # what would deal away the fault raises it
        device.step(np.full(num_envs, -1))
        device.deal()
        with pytest.raises(ValueError, match=f"illegal actions in {num_envs} of"):
            lost()
    with pytest.raises(TypeError, match="to_host"):
        copy.deepcopy(device)

    assert_same(device, device.to_host())
    device, host = both(game_id, num_envs, auto_deal=False, **options)
    for step in range(2 * host.game.max_game_length):  # a game pauses in every step
        running = host.current_player >= 0
        moving = running & (np.arange(num_envs) != step % num_envs)
        rows, actions = np.flatnonzero(moving), legal_actions(host, random)
        device.step(actions, rows=torch.from_numpy(moving).to(device.device))
        host.step(actions[rows], rows)
        if step % 10 == 0:
            assert_same(device, host)
    device.check()
    assert_same(device, host)
    with pytest.raises(ValueError, match="are over; expected running ones"):
        both(game_id, num_envs, **options)[0].set_states(host)
    device.set_states(host)
    host.deal(np.arange(num_envs))
    device.deal()
    assert_same(device, host)

    first = device.deal(number=4) or device.to_host()
    device.deal()
    if game_id != "nim_v0":  # whose deals are alike
        assert (device.observation.cpu().numpy() != first.observation).any()
    device.deal(number=4)
    assert_same(device, first)


def compute_the_same(game_id: str, options: dict[str, Any], num_envs: int, num_steps: int) -> None:
    """The inputs of networks, and the actions of the heuristic: on a GPU its points may round differently."""
    device = catbox_env.make_vec(game_id, num_envs, seed=3, device="cuda", **options)
    inputs = NetworkInputs(device.game, use_features=True, use_action_features=True)
    on_device, agent = DeviceInputs(inputs, device), catbox_agents.make("heuristic", device.game, 0)
    heuristic: Any = DeviceHeuristic(agent, device)  # type: ignore[arg-type]
    different = 0
    for _ in range(num_steps):
        on_device.write()
        actions = heuristic.act(torch.ones(num_envs, dtype=torch.bool, device=device.device)).clone()
        seen, masks = device.observation.cpu().numpy(), device.action_mask.cpu().numpy()
        expected = inputs.compute(seen, masks)
        assert np.array_equal(on_device.vectors.cpu().numpy(), expected[0])
        assert np.array_equal(on_device.action_features.cpu().numpy(), expected[1])
        different += int((agent.act_batch(seen, masks) != actions.cpu().numpy()).sum())
        device.step(actions)
    device.check()
    assert different <= num_envs * num_steps / 500


def learn_the_same(game_id: str, options: dict[str, Any], num_envs: int, num_steps: int) -> None:
    """The vector environment of Gymnasium, among heuristics, as long as these choose as on the CPU."""
    device: Any = LearnerVectorEnv(num_envs, game_id, "heuristic", 1, device="cuda", **options)
    host = LearnerVectorEnv(num_envs, game_id, "heuristic", 1, constant_info=True, **options)
    random = np.random.default_rng(0)
    (seen, infos), (expected, expected_infos) = device.reset(seed=5), host.reset(seed=5)
    episodes = 0
    for _ in range(num_steps):
        masks = expected_infos["action_mask"]
        assert np.array_equal(seen.cpu().numpy(), expected)
        assert np.array_equal(infos["action_mask"].cpu().numpy(), masks)
        actions = (random.random(masks.shape) * masks).argmax(1)
        seen, rewards, ended, truncated, infos = device.step(torch.from_numpy(actions))
        expected, expected_rewards, expected_ended, _, expected_infos = host.step(actions)
        assert rewards.cpu().numpy() == pytest.approx(expected_rewards)
        assert np.array_equal(ended.cpu().numpy(), expected_ended)
        assert not truncated.any()
        for name in host.games.vec.info:
            for row in np.flatnonzero(expected_ended):
                assert int(infos[name][row]) == expected_infos["final_info"][name][row]
        episodes += int(ended.sum())
    assert episodes > 0
    device.step(torch.full((num_envs,), -1))
    _, rewards, ended, _, infos = device.step(torch.from_numpy(actions))
    assert not rewards.any()
    assert not ended.any()
    assert not infos["round_ended"].any()
    for seed in (None, 5):
        with pytest.raises(ValueError, match="illegal actions in"):
            device.reset(seed=seed)
        device.step(torch.full((num_envs,), -1))
    with pytest.raises(ValueError, match="illegal actions in"):
        device.check()
    assert np.array_equal(device.reset(seed=5)[0].cpu().numpy(), host.reset(seed=5)[0])


def register_nim(folder: Path) -> None:
    """Make the game of the page docs/new_game.md, ``nim_v0``, in ``folder``."""
    page = (Path(__file__).parents[2] / "docs" / "new_game.md").read_text(encoding="utf-8")
    for name, code in re.findall(r"^```python (catbox_env/\S+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        path = folder / Path(name).name
        path.write_text(code, encoding="utf-8")
    (folder / "__init__.py").touch()
    catbox_env.games.__path__.append(str(folder.parent))
    catbox_env.GAMES["nim_v0"] = "catbox_env.games.nim.game:Nim"


WAYS = {"games": play_the_same, "computed": compute_the_same, "learner": learn_the_same}

if __name__ == "__main__":
    way, game_id, *given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "nim").mkdir()
        register_nim(Path(folder) / "nim")
        WAYS[way](game_id, json.loads(given[0]) if given else {}, num_envs=3, num_steps=20)
