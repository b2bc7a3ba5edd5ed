"""Every CUDA kernel compiles for an H100 (sm_90), on a machine without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from numba import cuda, typeof
from numba.cuda import dispatcher

import catbox_agents
import catbox_agents.device
from catbox_agents.features import NetworkInputs
from catbox_env import make_game
from catbox_env.adapters import device

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 5}),
    ("cat_te_v0", {"num_players": 4}),
    ("petrify_v0", {}),
]
KERNELS = {"deal", "split_each", "check", "step", "draw", "view", "fill", "choose_all"}


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_all_kernels_compile(game_id: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = {}

    def compile_it(kernel: Any, count: int, where: Any, arguments: Sequence[Any]) -> None:
        text, _ = cuda.compile_ptx(kernel.py_func, tuple(map(typeof, arguments)), cc=(9, 0))
        compiled[kernel.py_func.__name__] = text

    # Device functions are compiled for "the current device" too.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
    monkeypatch.setattr(device, "SIMULATED", True)  # tensors in the memory of the machine
    monkeypatch.setattr(device, "launch", compile_it)
    monkeypatch.setattr(catbox_agents.device, "launch", compile_it)
    game = make_game(game_id, **options)
    vec = device.DeviceVec(game, 4, seed=0, history=True, state=True)
    vec.deal(number=1)
    vec.step_random(1)
    inputs = NetworkInputs(game, features=True, action_features=True)
    out = torch.zeros((4, inputs.size), dtype=torch.int8)
    action_out = torch.zeros((4, game.num_actions, inputs.action_size), dtype=torch.int8)
    catbox_agents.device.DeviceInputs(inputs, vec).write(out, action_out)
    heuristic: Any = catbox_agents.make("heuristic", game, 0)
    catbox_agents.device.DeviceHeuristic(heuristic, vec).act(torch.ones(4, dtype=torch.bool))
    assert set(compiled) == KERNELS
    assert all(".target sm_90" in text for text in compiled.values())
