"""Games on a GPU are those on the CPU, bit for bit: on a GPU if there is one, and in Numba's simulator.

The simulator needs another Python process, in which nothing is compiled: this file is also its script.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_env

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
    wrong[1] = host.action_mask[1].argmin()
    device.step(wrong)
    device.step(legal_actions(host, random))  # moves nothing either
    with pytest.raises(ValueError, match="illegal actions in 1 of") as expected:
        host.step(wrong)
    with pytest.raises(ValueError, match="illegal actions in 1 of") as found:
        device.check()
    assert str(found.value) == str(expected.value)
    assert_same(device, host)

    assert_same(device, device.to_host())
    device, host = both(game_id, num_envs, auto_deal=False, **options)
    import torch

    for step in range(host.game.max_game_length):
        running = host.current_player >= 0
        moving = running & (np.arange(num_envs) != step % num_envs)
        rows, actions = np.flatnonzero(moving), legal_actions(host, random)
        device.step(actions, rows=torch.from_numpy(moving).to(device.device))
        host.step(actions[rows], rows)
        if step % 10 == 0:
            assert_same(device, host)
    device.check()
    assert_same(device, host)
    device.set_states(host)
    host.deal(np.arange(num_envs))
    device.deal()
    assert_same(device, host)

    first = device.deal(number=4) or device.to_host()
    device.deal()
    assert (device.observation.cpu().numpy() != first.observation).any()
    device.deal(number=4)
    assert_same(device, first)


def _has_gpu() -> bool:
    try:
        catbox_env.make_vec("petrify_v0", 1, device="cuda")
    except ValueError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_the_simulator_plays_the_same_games(game_id: str, options: dict[str, Any]) -> None:
    pytest.importorskip("numba_cuda", reason="the extra gpu is not installed")
    result = subprocess.run(
        [sys.executable, "-m", __spec__.name, game_id, repr(options)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not _has_gpu(), reason="no GPU here")
@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_a_gpu_plays_the_same_games(game_id: str, options: dict[str, Any]) -> None:
    play_the_same(game_id, options, num_envs=1000, num_steps=200)


@pytest.mark.skipif(_has_gpu(), reason="there is a GPU here")
def test_a_machine_without_a_gpu_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"device='cuda': games on a GPU need .*catbox-env\[gpu\]"):
        catbox_env.make_vec("petrify_v0", 4, device="cuda")


@pytest.mark.parametrize(("device", "threads"), [("gpu", 1), ("cuda:x", 1), (0, 1), ("cuda", 2)])
def test_a_wrong_device_is_refused(device: Any, threads: int) -> None:
    with pytest.raises(
        ValueError, match=r"expected 'cpu', 'cuda' or 'cuda:N'|threads are for games on the CPU"
    ):
        catbox_env.make_vec("petrify_v0", 4, device=device, num_threads=threads)


if __name__ == "__main__":
    play_the_same(sys.argv[1], eval(sys.argv[2]), num_envs=3, num_steps=20)
