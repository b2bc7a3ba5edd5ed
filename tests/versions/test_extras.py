"""A short path through every extra, with the lowest and the newest versions: ``make test-versions``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import pytest

from tests.agents.chat_server import ChatServer
from tests.app.table import ENVIRONMENT, ROOT, TINY
from tests.app.web import test_server
from tests.web.server import Server

MAKEFILE = (ROOT / "Makefile").read_text()


def catbox(*arguments: object, folder: Path) -> str:
    """The output of the command, which must succeed without a warning."""
    ran = subprocess.run(
        [sys.executable, "-m", "catbox_app", *map(str, arguments)],
        cwd=folder,
        env=ENVIRONMENT | {"MINARI_DATASETS_PATH": str(folder / "minari")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert not re.search("Traceback|[wW]arning", ran.stderr), ran.stderr
    return ran.stdout


def test_every_extra_is_installed_here() -> None:
    """But those for a GPU, and Ray, which has an environment of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (installed,) = re.findall(r"^EXTRAS := (\S+)$", MAKEFILE, re.MULTILINE)
    assert {*installed.split(","), "gpu", "ray"} == set(project["optional-dependencies"])


@pytest.mark.filterwarnings("ignore::UserWarning")  # of api_test: an observation with a mask is a dict
def test_core_plays_with_pettingzoo_and_gymnasium() -> None:
    import gymnasium
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import api_test

    from catbox_env import cat_in_the_box_v0

    api_test(cat_in_the_box_v0.env(num_players=2), num_cycles=50)
    env = gymnasium.make(
        "catbox_env:catbox/CatInTheBox-v0", num_players=2, opponents="random", illegal_action="random_legal"
    )
    check_env(env.unwrapped, skip_render_check=True)


def test_cli_and_prompt(tmp_path: Path) -> None:
    assert "best-response" in catbox("--help", folder=tmp_path)
    assert "--seed" in catbox("watch", "--help", folder=tmp_path)
    assert "random" in catbox("evaluate", "random", "heuristic", *TINY, "--deals", 20, folder=tmp_path)
    assert "wins" in catbox("watch", "random", *TINY, "--seed", 1, folder=tmp_path)
    assert "tokens" in catbox("prompt", *TINY, folder=tmp_path)


def test_arena_goes_on_where_it_was(tmp_path: Path) -> None:
    command = ("arena", "random", "heuristic", *TINY, "--deals", 20, "--output", "found", "--processes", 2)
    assert catbox(*command, folder=tmp_path) == catbox(*command, folder=tmp_path)
    assert list((tmp_path / "found").glob("*.png")) or list((tmp_path / "found").glob("*.svg"))


def test_train_and_resume(tmp_path: Path) -> None:
    sizes = ("--set", "workers=2", "--set", "total_decisions=400", "--set", "games_per_update=16")
    catbox("train", *TINY, *sizes, "--output", "run", folder=tmp_path)
    assert list((tmp_path / "run").rglob("events.out.tfevents.*"))
    assert json.loads((tmp_path / "run" / "results.json").read_text())
    catbox("train", "--resume", "--output", "run", folder=tmp_path)
    assert "run" in catbox("evaluate", "run", "random", *TINY, "--deals", 20, folder=tmp_path)


def test_web(tmp_path: Path) -> None:
    with Server(tmp_path) as server, urllib.request.urlopen(server.url) as page:
        assert b"<html" in page.read()
    test_server.test_a_page_that_answers_no_ping_is_closed()


def test_render() -> None:
    from catbox_env import cat_in_the_box_v0

    env = cat_in_the_box_v0.env(num_players=2, render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.shape[2] == 3
    assert picture.std() > 0


def test_stable_baselines3() -> None:
    from sb3_contrib import MaskablePPO

    from catbox_agents.sb3 import VecEnv

    envs = VecEnv("cat_in_the_box_v0", 4, num_players=2, opponents="random", illegal_action="random_legal")
    MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=64).learn(64)


def test_data(tmp_path: Path) -> None:
    import minari
    from pyarrow import parquet

    catbox(
        "dataset",
        "random",
        *TINY,
        "--games",
        20,
        "--output",
        "d",
        "--minari",
        "catbox/tiny-v0",
        folder=tmp_path,
    )
    table = parquet.read_table(tmp_path / "d" / "decisions.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
        assert minari.load_dataset("catbox/tiny-v0").total_steps == len(table) > 0


def test_llm(tmp_path: Path) -> None:
    with ChatServer() as server:
        catbox("evaluate", server.spec(list_actions="true"), "random", *TINY, "--deals", 10, folder=tmp_path)
        assert server.requests


def test_spiel() -> None:
    import pyspiel

    from catbox_env.adapters import openspiel

    state = openspiel.load("cat_in_the_box_v0", num_players=2, num_ranks=3).new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert isinstance(state, pyspiel.State)
