"""PPO with its networks on a device of torch: numbers that are not finite, memory that runs out, no compiler."""

from __future__ import annotations

import pytest
import torch

from catbox_train import devices
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo import on_device
from catbox_train.algorithms.ppo.algorithm import accelerator
from catbox_train.algorithms.ppo.on_device import device_bytes
from catbox_train.config import TrainConfig
from tests.train.device_runs import collect, ppo_with
from tests.train.ppo_runs import small


@pytest.mark.parametrize(
    ("where", "number", "said"),
    [
        ("actor", torch.nan, "a logit of the policy is not finite"),
        ("actor", torch.inf, "a logit of the policy is not finite"),
        ("actor", 1e9, "a logit of the policy is larger than"),
        ("critic", torch.nan, "the gradient of the critic is not finite"),
        ("moment", torch.nan, "not finite"),
    ],
)
def test_numbers_that_are_not_finite_are_named(
    device: torch.device, where: str, number: float, said: str
) -> None:
    with ppo_with(small()) as algorithm:
        collect(algorithm)
        if where == "moment":
            algorithm.optimizer.state["exp_avg_sq"][0] = number
        else:
            algorithm.weights.vector[algorithm.weights.parts[where]][-1] = number
        with pytest.raises(DivergedError, match=said):
            algorithm.learn(1e-3, 0.1)


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
        ppo_with(config),
    ):
        pass
    monkeypatch.setattr(on_device, "free_memory", lambda device: needed)
    with ppo_with(config) as algorithm:
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
        ppo_with(small(compile=True)),
    ):
        pass
