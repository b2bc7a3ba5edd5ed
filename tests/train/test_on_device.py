"""PPO with its networks on a device of torch: the CPU, and a GPU where there is one. (What an update makes of a batch
there is in `test_ppo_update`.)"""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from catbox_train import devices
from catbox_train.algorithm import TrainingState
from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.algorithms.ppo import on_device
from catbox_train.algorithms.ppo.algorithm import accelerator
from catbox_train.algorithms.ppo.on_device import device_bytes
from catbox_train.config import TrainConfig
from tests.train.ppo_runs import small, trainer_of

OPPONENTS = {"opponents_in_training": {"random": 0.4, "past": 0.3}, "past_every": 1}


def updated(algorithm: ppo.PPO, count: int) -> TrainingState:
    for _ in range(count):
        algorithm.update(0.1)
    return copy.deepcopy(algorithm.state())


def test_a_resumed_run_goes_on_bit_for_bit(device: torch.device) -> None:
    config = small(**OPPONENTS, privileged_critic=True)
    with trainer_of(config) as algorithm:
        middle = updated(algorithm, 2)
        end = updated(algorithm, 2)
    with trainer_of(config) as algorithm:
        algorithm.restore(middle, 2)
        resumed = updated(algorithm, 2)
    np.testing.assert_equal(resumed.arrays, end.arrays)
    assert resumed.values == end.values


def test_a_checkpoint_moves_between_the_cpu_and_a_device(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the CPU to the device and back: the same arrays and values, and the same weights to begin with."""
    config = small(**OPPONENTS)
    state, done = None, 0
    for where in (None, device, None):
        monkeypatch.setattr(ppo, "accelerator", lambda config, where=where: where)
        with trainer_of(config) as algorithm:
            assert (algorithm.on_device is None) == (where is None)
            if state:
                algorithm.restore(state, done)
                assert np.array_equal(algorithm.weights.vector.numpy(), state.arrays["weights"])
            after = updated(algorithm, 2)
        if state:
            shapes = [{k: (a.dtype, a.shape) for k, a in s.arrays.items()} for s in (after, state)]
            assert shapes[0] == shapes[1]
            assert after.values.keys() == state.values.keys()
            assert not np.array_equal(after.arrays["weights"], state.arrays["weights"])
        state, done = after, done + 2


# What is refused.


def test_a_run_that_does_not_fit_on_the_device_is_refused_with_what_to_change(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small()
    needed = device_bytes(config, config.make_game())
    monkeypatch.setattr(on_device, "free_memory", lambda device: needed - 1)
    with (
        pytest.raises(
            ValueError, match=r"not enough memory on .* free, .* batch_size = 512.*make one of them smaller"
        ),
        trainer_of(config),
    ):
        pass
    monkeypatch.setattr(on_device, "free_memory", lambda device: needed)
    with trainer_of(config) as algorithm:
        assert algorithm.on_device is not None


def test_only_other_devices_than_the_cpu_are_accelerators() -> None:
    assert accelerator(TrainConfig(device="cpu")) is None
    assert accelerator(TrainConfig(device="cuda:1")) == torch.device("cuda", 1)
    assert accelerator(TrainConfig(device="mps")) == torch.device("mps")


def test_compile_without_a_compiler_is_refused_before_training(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(function: object) -> object:
        raise RuntimeError("No working C++ compiler found\nand much more")

    monkeypatch.setattr(devices.torch, "compile", broken)
    with (
        pytest.raises(
            ValueError, match=r"compile = true: .* here \(No working C\+\+ compiler found\); install"
        ),
        trainer_of(small(compile=True)),
    ):
        pass


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of torch's compiler
def test_compiled_learning_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ppo, "accelerator", lambda config: torch.device("cpu"))
    ended = []
    for compiled in (False, True):
        with trainer_of(small(compile=compiled)) as algorithm:
            for _ in range(3):
                algorithm.update(0)
            ended.append(algorithm.weights.vector.clone())
    torch.testing.assert_close(*ended, atol=1e-5, rtol=1e-4)
