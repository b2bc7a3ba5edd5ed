"""New interpreters import what the one that starts them would."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from catbox_agents.system import ray_cluster


def test_a_cluster_is_asked_without_the_modules_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, library = tmp_path / "here", tmp_path / "library"
    here.mkdir()
    library.mkdir()
    for name in ("ray", "types", "random"):
        (here / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(3)\n")
    (library / "ray.py").write_text("import random, types\ndef init(**given):\n    pass\n")
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])  # no text: imports pass over it
    ray_cluster._check_answers("10.0.0.1:6379")
    assert not (here / "ran").exists()
