"""Finished runs that tests share, runs without their picture, and devices."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from filelock import FileLock

from catbox_train.config import TrainConfig
from catbox_train.runs import report
from catbox_train.runs.loop import train
from tests.train.ppo_runs import BRIEF, quiet, small


@pytest.fixture(scope="session")
def finished_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[TrainConfig], Path]:
    """Call it for a run of these settings that was never stopped, made once for all processes of the tests.

    The folder is shared: copy it before you change it.
    """
    folder = tmp_path_factory.getbasetemp()
    if hasattr(
        request.config, "workerinput"
    ):  # a worker of pytest-xdist has a folder of its own in the shared one
        folder = folder.parent

    def made(config: TrainConfig) -> Path:
        run = folder / "finished" / hashlib.sha256(config.to_yaml().encode()).hexdigest()[:16]
        run.parent.mkdir(exist_ok=True)
        with FileLock(f"{run}.lock"), pytest.MonkeyPatch.context() as patch:
            patch.setattr(report, "draw_learning_curves", lambda *_: None)
            if not (run / "results.json").exists():
                shutil.rmtree(run, ignore_errors=True)
                train(config, run, quiet())
        return run

    return made


@pytest.fixture(scope="session")
def brief_run(finished_run: Callable[[TrainConfig], Path]) -> Path:
    """The finished run of ``BRIEF``, to be compared with and copied."""
    return finished_run(small(**BRIEF))


@pytest.fixture(autouse=True)
def _no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learning curves take most of the time of a small run; one test draws them."""
    monkeypatch.setattr(report, "draw_learning_curves", lambda *_: None)


DEVICES = ["cpu", *(["cuda:0"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Where networks can learn here."""
    name: str = request.param
    return name
