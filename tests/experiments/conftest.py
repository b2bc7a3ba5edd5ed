"""A workplace with one small study in an empty folder; the pictures of its runs are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from catbox_train.runs import report
from experiments import speeds
from tests.experiments.small_studies import Workplace


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setattr(report, "draw_learning_curves", lambda *_: None)
    monkeypatch.setattr(speeds, "DECISIONS", 1000)
    return Workplace(tmp_path)
