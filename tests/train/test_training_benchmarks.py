"""The measurements of training run; how fast it is they say elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from benchmarks import gpu, scaling
from benchmarks.training import training_config
from catbox_train.config import TrainConfig


@pytest.fixture(autouse=True)
def no_change_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (gpu, scaling):
        monkeypatch.setattr(module, "keep_freed_memory", lambda: None)


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "ratios"), [(1, []), (3, ["2 workers / 1 worker"])])
def test_scaling_goes_up_to_the_physical_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, ratios: list[str]
) -> None:
    monkeypatch.setattr(scaling, "physical_cores", lambda: cores)
    metrics = scaling.measure(quick=True)
    assert all(metric.value > 0 for metric in metrics)
    assert [metric.name for metric in metrics if metric.unit == "x"] == ratios
    assert len(metrics) == 1 + 2 * len(ratios)


def test_where_there_is_no_gpu_nothing_is_measured_on_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "gpu_name", lambda: None)
    assert gpu.measure(quick=True) == []
    assert "no CUDA device" in capsys.readouterr().err


@pytest.mark.slow
def test_the_gpu_is_measured_beside_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the CPU in the place of the GPU, and no compiler."""
    asked: list[str] = []

    def in_place(device: str, **settings: Any) -> TrainConfig:
        asked.append(device)
        return training_config("cpu", **settings, workers=2)

    def no_compiler(device: torch.device) -> None:
        raise ValueError("compile = true: there is no compiler")

    monkeypatch.setattr(gpu, "training_config", in_place)
    monkeypatch.setattr(gpu, "check_compiler", no_compiler)
    monkeypatch.setattr(gpu, "gpu_name", lambda: "a GPU")
    metrics = gpu.measure(quick=True)
    assert asked == ["cuda", "cpu"]
    assert [metric.unit for metric in metrics] == ["/s", "/s", "x"]
    assert all(metric.value > 0 for metric in metrics)
    assert "a GPU, 2 workers" in metrics[0].name
    assert "there is no compiler" in capsys.readouterr().err
