"""Programs whose run has workers in processes: how they begin, and what ends them all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from catbox_agents.networks.checkpoint import latest_checkpoint
from tests.train.ppo_runs import BRIEF, SMALL, final_arrays

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(os.name != "posix", reason="workers are threads on Windows"),
]

SCRIPT = """
    import os, sys
    from pathlib import Path
    sys.path[:0] = {path!r}
    print("script", flush=True)
    from rich.console import Console
    import catbox_train, psutil
    from catbox_train.algorithms.ppo.algorithm import PPO
    from catbox_train.runs import report
    report.draw_learning_curves = lambda rows, path: None
    PPO.processes_from = 0
    learn = PPO.learn
    def say(trainer, *args):
        if trainer.updates_done == 2:
            print("pids", *(child.pid for child in psutil.Process().children()), flush=True)
            {at_third}
        return learn(trainer, *args)
    PPO.learn = say
    overrides = {overrides!r}
    catbox_train.train(
        catbox_train.load_config(overrides=overrides).settled(), Path({run!r}), Console(quiet=True)
    )
    print("done", flush=True)
"""


def started(folder: Path, at_third: str = "pass", **settings: object) -> subprocess.Popen[str]:
    """A script without a main guard that trains in ``folder / "run"``, in a process group of its own."""
    script = folder / "script.py"
    text = textwrap.dedent(SCRIPT).format(
        path=[entry for entry in sys.path if entry],
        at_third=at_third,
        overrides={**SMALL, **BRIEF, **settings},
        run=str(folder / "run"),
    )
    script.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(script)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def workers_of(script: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that a script has told of."""
    assert script.stdout
    assert script.stderr
    for line in script.stdout:
        if line.startswith("pids"):
            return [psutil.Process(int(pid)) for pid in line.split()[1:]]
    raise AssertionError(script.stderr.read())


def test_a_script_without_a_main_guard_trains_with_an_agent_of_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "my_bots.py").write_text(
        "from catbox_agents import Agent\n"
        "class Lowest(Agent):\n"
        "    def act_batch(self, observations, action_masks, histories=None):\n"
        "        return action_masks.argmax(axis=1)\n"
    )
    script = started(tmp_path, opponents_in_training={"my_bots:Lowest": 0.5})
    output, errors = script.communicate(timeout=120)
    assert script.returncode == 0, errors
    assert output.split("\n")[0] == "script"
    assert output.count("script") == output.count("done") == 1
    assert errors == ""
    assert len(final_arrays(tmp_path / "run")) > 10


def test_workers_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    script = started(tmp_path, "os.kill(os.getpid(), 9)")
    workers = workers_of(script)
    assert len(workers) == 1
    assert script.wait(60) == -signal.SIGKILL
    assert psutil.wait_procs(workers, timeout=20)[1] == []
    assert latest_checkpoint(tmp_path / "run").name == "00000002"  # type: ignore[union-attr]
    script.communicate()


def test_ctrl_c_reaches_all_processes_and_the_run_alone_decides(tmp_path: Path) -> None:
    """The terminal sends it to every process of the group. What the run is doing is finished and saved."""
    script = started(tmp_path, "os.killpg(0, 2)")
    workers = workers_of(script)
    errors = script.communicate(timeout=120)[1]
    assert script.returncode != 0
    assert errors.count("Traceback") == 1  # of the script itself, which catches nothing
    assert "everything is saved" in errors
    assert latest_checkpoint(tmp_path / "run").name == "00000003"  # type: ignore[union-attr]
    assert psutil.wait_procs(workers, timeout=20)[1] == []
