"""The measurements of training run; how fast it is they say elsewhere."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import torch

from benchmarks import earlier, gpu, scaling
from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.config import TrainConfig


@pytest.fixture(autouse=True)
def no_change_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (gpu, scaling):
        monkeypatch.setattr(module, "keep_freed_memory", lambda: None)


@pytest.mark.slow
def test_without_the_earlier_commit_training_is_measured_with_and_without_features(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(earlier, "COMMIT", "0" * 40)
    metrics = earlier.measure(quick=True)
    assert [metric.unit for metric in metrics] == ["/s", "/s", "x"]
    assert all(metric.value > 0 for metric in metrics)
    assert f"commit {'0' * 40} is not measured: " in capsys.readouterr().err


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A commit of another repository, whose code has been changed since."""

    def git(*arguments: str) -> str:
        settings = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com")
        command = ["git", "-C", str(tmp_path), *settings, *arguments]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()

    if shutil.which("git") is None:
        pytest.skip("there is no git")
    (tmp_path / "train").mkdir()
    module = tmp_path / "train" / "speed_of_training.py"
    module.write_text("speed = 100\n")
    git("init", "--quiet")
    git("add", "train")
    git("commit", "--quiet", "--no-gpg-sign", "--message", "slow")
    module.write_text("speed = {'alone': 160, 'features': 140}[__import__('sys').argv[-1]]\n")
    monkeypatch.setattr(earlier, "ROOT", tmp_path)
    return git("rev-parse", "HEAD")


def test_training_is_compared_with_the_code_of_the_earlier_commit(
    monkeypatch: pytest.MonkeyPatch, commit: str
) -> None:
    program = "import sys, speed_of_training\nfor _ in sys.stdin: print(speed_of_training.speed, flush=True)"
    for name, value in (("COMMIT", commit), ("EARLIER", program), ("NOW", program)):
        monkeypatch.setattr(earlier, name, value)
    metrics = earlier.measure(quick=False)
    assert [(metric.value, metric.target, metric.met) for metric in metrics] == [
        (100, None, None),
        (160, None, None),
        (140, None, None),
        (1.6, 1.5, True),
        (1.4, 1.5, False),
        (0.875, 0.75, True),
    ]


@pytest.mark.faults
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C reaches all processes of a console")
def test_ctrl_c_ends_a_measurement_and_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    """Also where it reaches the first process alone. The measurement is in the middle of it: its git never ends."""
    begun, git, temporary = tmp_path / "begun", tmp_path / "git", tmp_path / "temporary"
    git.write_text(f"#!/bin/sh\necho > {shlex.quote(str(begun))}\nexec sleep 600\n")
    git.chmod(0o755)
    temporary.mkdir()
    os.mkfifo(begun)
    signal_of_git = os.open(begun, os.O_RDONLY | os.O_NONBLOCK)
    measuring = psutil.Popen(
        [sys.executable, "-m", "benchmarks", "earlier"],
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(temporary)},
        cwd=earlier.ROOT,
        stdout=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        assert select.select([signal_of_git], [], [], 120)[0]
        everyone = [measuring, *measuring.children(recursive=True)]
        assert len(everyone) == 3
        assert len(list(temporary.iterdir())) == 2
        measuring.send_signal(signal.SIGINT)
        assert psutil.wait_procs(everyone, timeout=30)[1] == []
        assert list(temporary.iterdir()) == []
    finally:
        os.close(signal_of_git)
        with suppress(ProcessLookupError):  # nobody is left
            os.killpg(measuring.pid, signal.SIGKILL)
        measuring.wait()


def test_where_there_is_no_gpu_nothing_is_measured_on_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.measure(quick=True) == []
    assert "no CUDA device" in capsys.readouterr().err


@pytest.mark.slow
def test_the_gpu_is_measured_beside_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the CPU in the place of the GPU, and no compiler."""
    accelerated: list[bool] = []

    def settings(device: str, size: gpu.Size, compile: bool = False) -> TrainConfig:
        return in_place("cpu", size, compile).replace(seed=2 if device == "cuda" else 1, workers=2)

    def accelerator(config: TrainConfig) -> torch.device | None:
        accelerated.append(config.seed == 2)
        return torch.device("cpu") if config.seed == 2 else None

    def no_compiler(device: torch.device) -> None:
        raise ValueError("compile = true: there is no compiler")

    in_place = gpu.settings
    monkeypatch.setattr(gpu, "settings", settings)
    monkeypatch.setattr(gpu, "check_compiler", no_compiler)
    monkeypatch.setattr(ppo, "accelerator", accelerator)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    metrics = gpu.measure(quick=True)
    assert list(dict.fromkeys(accelerated)) == [True, False]
    assert [metric.unit for metric in metrics] == ["/s", "/s", "x"]
    assert all(metric.value > 0 for metric in metrics)
    assert "there is no compiler" in capsys.readouterr().err
