"""A short run that several modules compare with, a way to leave out its picture, and the devices for networks."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.runs import report
from catbox_train.runs.loop import train
from tests.train.ppo_runs import BRIEF, quiet, small


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped."""
    run = tmp_path_factory.mktemp("finished") / "run"
    train(small(**BRIEF), run, quiet())
    return run


@pytest.fixture
def no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learning curves take most of the time of a small run, and are tested elsewhere."""
    monkeypatch.setattr(report, "draw_learning_curves", lambda rows, path: None)


@pytest.fixture(params=["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """The networks of every PPO of the test are there, whatever its configuration says."""
    where = torch.device(request.param)
    monkeypatch.setattr(ppo, "accelerator", lambda config: where)
    return where
