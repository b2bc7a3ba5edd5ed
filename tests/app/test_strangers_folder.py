"""A command that is given in a stranger's folder runs no code of that folder, unless a module there is named."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import catbox_agents
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_train.runs.folder import start_run
from tests.agents.policies import network_for
from tests.app.table import CATBOX, ENVIRONMENT
from tests.train.ppo_runs import small

RULES = ["--players", "3", "--num-ranks", "3", "--copies", "4"]
MARK = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run that has learned nothing yet, with a policy, and modules that leave a mark beside them."""
    config = small(total_decisions=512, eval_opponents=["random"], final_deals=10)
    start_run(tmp_path / "run", config)
    game = config.make_game()
    save_checkpoint(tmp_path / "run" / "policy.safetensors", network_for(game), game)
    for name in ("dill", "pynvml", "bots"):  # torch imports the first two where it finds them
        agent = "from catbox_agents.agent import RandomAgent as Agent\n" if name == "bots" else ""
        (tmp_path / "run" / f"{name}.py").write_text(MARK + agent)
    return tmp_path / "run"


def catbox(folder: Path, *arguments: str, program: Sequence[str] = ("-P", *CATBOX)) -> str:
    """What the installed command, given in ``folder``, says; -P: Python has the folder of the program first."""
    ran = subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == (2 if ran.stderr.startswith("catbox: ") else 0), ran.stderr
    return ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "./policy.safetensors", "random", "--deals", "10", *RULES),
        pytest.param(("train", "--resume", "--output", "."), marks=pytest.mark.slow),
    ],
    ids=["evaluate", "resume"],
)
def test_a_command_in_the_folder_of_a_run_runs_no_file_of_it(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    assert "catbox: " not in catbox(folder, *arguments)
    assert not (folder / "ran").exists()


@pytest.mark.slow
def test_processes_of_an_arena_run_no_file_of_the_folder(folder: Path, tmp_path: Path) -> None:
    """Python starts them with the working directory on its path, unless it is told not to."""
    for name in ("multiprocessing", "signal", "pickle"):  # what a process imports first
        (folder / f"{name}.py").write_text(MARK)
    program = tmp_path / "catbox"  # a script, as the installed command is one: Python knows of no -P then
    program.write_text("from catbox_app.__main__ import main\nif __name__ == '__main__':\n    main()\n")
    arguments = ["heuristic", "random", "--deals", "10", "--processes", "1", *RULES]
    assert "catbox: " not in catbox(folder, "arena", *arguments, program=[str(program)])
    assert not (folder / "ran").exists()
    catbox(folder, "arena", "bots:Agent", "random", "--deals", "10", "--processes", "1", *RULES)
    assert (folder / "ran").exists()


def test_settings_of_numba_there_are_refused_before_numba_reads_them(folder: Path) -> None:
    """They can name a cache of compiled code, which is read by pickle."""
    settings = folder / ".numba_config.yaml"
    settings.write_text("cache_dir: ./cache\n")
    said = catbox(folder, "evaluate", "random", "random", "--deals", "10")
    assert said.startswith(f"catbox: {settings} ")
    assert not (folder / "cache").exists()


def test_the_working_directory_comes_onto_the_path_for_a_module_of_its_own_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Last, so that nothing there takes a library's place."""
    monkeypatch.chdir(folder)
    path = [entry for entry in sys.path if entry not in ("", str(folder))]
    monkeypatch.setattr(sys, "path", list(path))
    game = small().make_game()
    catbox_agents.make("catbox_agents.agent:RandomAgent", game)
    with pytest.raises(ValueError, match="there is no module 'nowhere' to import"):
        catbox_agents.make("nowhere:Expert", game)
    assert sys.path == path
    try:
        catbox_agents.make("bots:Agent", game)
        assert sys.path == [*path, os.getcwd()]
    finally:
        sys.modules.pop("bots", None)
