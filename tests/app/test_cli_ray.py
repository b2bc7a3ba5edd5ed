"""What the commands say where Ray is not installed. tests/ray has the rest."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import catbox_agents
import catbox_env
from catbox_app.cli import app


@pytest.fixture(autouse=True)
def _no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def found(name: str, *more: Any) -> Any:
        return None if name == "ray" else find(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", found)


@pytest.mark.parametrize(
    "given",
    [
        ("train", "--workers-on-ray", "2", "--output", "run"),
        ("arena", "random", "heuristic", "--ray-address", "auto"),
    ],
)
def test_the_commands_name_the_extra(
    given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, list(given))
    assert ran.exit_code == 2
    assert "needs ray, which this installation leaves out" in ran.stderr
    assert 'pip install "catbox-env[ray]"' in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_so_does_an_arena_in_python() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    with pytest.raises(ValueError, match=r'pip install "catbox-env\[ray\]"'):
        catbox_agents.run_arena(game, ["random", "heuristic"], 10, ray_address="auto")
