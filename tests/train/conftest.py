"""A short run that several modules compare with, and a way to leave out its picture."""

from __future__ import annotations

from pathlib import Path

import pytest

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
