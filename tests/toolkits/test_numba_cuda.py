"""Games on a GPU are those on the CPU: compiled for an H100 (sm_90) and simulated, and on a GPU if there is one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from numba import cuda, typeof
from numba.cuda import dispatcher

import catbox_agents
import catbox_agents.device
from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import make_game
from catbox_env.adapters import device, device_kernels
from tests.toolkits.gpu_games import GAMES, WAYS, register_nim
from tests.toolkits.running import run_in_the_simulator
from tests.train.test_device_rollout import test_the_simulator as test_the_simulator_trains  # noqa: F401

PLAYED = [
    ("games", "nim_v0", {}),
    *(("games", *game) for game in GAMES),
    *(("computed", *game) for game in [GAMES[0], *GAMES[2:]]),
    *(("learner", *game) for game in (GAMES[0], GAMES[3])),
]
KERNELS = {"deal", "split_each", "check", "step", "draw", "view", "fill", "choose_all"}


@pytest.mark.parametrize(("game_id", "options"), [GAMES[0], *GAMES[2:]])
def test_all_kernels_compile(game_id: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = {}

    def compile_it(kernel: Any, count: int, where: Any, arguments: Sequence[Any]) -> None:
        text, _ = cuda.compile_ptx(kernel.py_func, tuple(map(typeof, arguments)), cc=(9, 0))
        compiled[kernel.py_func.__name__] = text

    # Device functions are compiled for "the current device" too.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
    for module in (device, device_kernels):  # tensors in the memory of the machine
        monkeypatch.setattr(module, "SIMULATED", True)
    monkeypatch.setattr(device, "launch", compile_it)
    monkeypatch.setattr(catbox_agents.device, "launch", compile_it)
    game = make_game(game_id, **options)
    vec = device.DeviceVec(game, 4, seed=0, history=True, state=True)
    vec.deal(number=1)
    vec.step_random(1)
    inputs = NetworkInputs(game, use_features=True, use_action_features=True)
    catbox_agents.device.DeviceInputs(inputs, vec).write()
    heuristic: Any = catbox_agents.make("heuristic", game, 0)
    catbox_agents.device.DeviceHeuristic(heuristic, vec).act(torch.ones(4, dtype=torch.bool))
    assert set(compiled) == KERNELS
    assert all(".target sm_90" in text for text in compiled.values())


@pytest.mark.parametrize(("way", "game_id", "options"), PLAYED)
def test_the_simulator_plays_the_same(way: str, game_id: str, options: dict[str, Any]) -> None:
    run_in_the_simulator("tests.toolkits.gpu_games", way, game_id, json.dumps(options))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize(("way", "game_id", "options"), PLAYED)
def test_a_gpu_plays_the_same(way: str, game_id: str, options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "nim").mkdir()
    register_nim(tmp_path / "nim")
    WAYS[way](game_id, options, num_envs=1000, num_steps=200)
