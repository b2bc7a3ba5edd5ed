"""Connecting to a cluster, and the commands."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_agents.system import ray_cluster
from catbox_app.cli import app
from tests.train.ppo_runs import assert_same_end, command

SETTINGS = {
    "games_per_update": 20,
    "minibatch_size": 128,
    "hidden": 16,
    "checkpoint_every": 3,
    "evaluate_every": 1000,
    "final_deals": 10,
    "eval_opponents": "random",
    "precision": "float32",
}


def arguments(run: Path, **settings: object) -> list[str]:
    given = [f"--set={name}={value}" for name, value in {**SETTINGS, **settings}.items()]
    return ["train", "--output", str(run), "--players", "3", *given]


def start(*given: str, **environment: str) -> subprocess.Popen[str]:
    """The command, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "catbox_app", *given],
        env={
            **os.environ,
            "COLUMNS": "200",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_the_command_trains_on_a_ray_of_its_own_and_goes_on_exactly(tmp_path: Path) -> None:
    """Ctrl-C stops it as any run, and what it says goes on. Nothing of Ray's own is said."""
    run, held = tmp_path / "run", tmp_path / "held"
    settings = {"total_decisions": 12 * 512, "algorithm": "tests.ray.worker_functions:Held"}
    held.touch()  # the run does not go on before it has the signal
    script = start(*arguments(run, **settings), "--workers-on-ray", "2", HELD=str(held))
    until = time.monotonic() + 120
    while not latest_checkpoint(run) and time.monotonic() < until and script.poll() is None:
        time.sleep(0.05)
    script.send_signal(signal.SIGINT)
    held.unlink()
    out, err = script.communicate(timeout=60)
    assert script.returncode == 130, err
    acknowledged, stopped = err.strip().splitlines()
    assert "Ctrl-C again stops at once" in acknowledged
    assert stopped.startswith("Stopped after ")
    assert err.rstrip().endswith(f" train --resume --output {run} --trust --workers-on-ray 2")
    assert "everything is saved. Resume with: " in err
    lines = [line for line in out.replace(str(run), "").splitlines() if not line.startswith("Waiting for 2 ")]
    assert not [line for line in lines if "ray" in line.lower()]

    assert "workers: 2" in (run / "config.yaml").read_text()
    said = shlex.split(err.partition("Resume with: ")[2])
    ended = start(*said[said.index("train") :])
    out, err = ended.communicate(timeout=200)
    assert (ended.returncode, err) == (0, "")
    code, err = command(
        *arguments(tmp_path / "whole", **settings), "--set", "workers=2"
    )  # without Ray: the same
    assert (code, err) == (0, "")
    assert_same_end(tmp_path / "whole", run)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--ray-address", "auto"), "--ray-address: give the number of workers on the cluster"),
        (("--workers-on-ray", "2", "--set", "workers=3"), "leave out --set workers"),
        (("--workers-on-ray", "2", "--ray-address", "ray://10.0.0.1:10001"), "an address of Ray Client"),
        (("--workers-on-ray", "2", "--ray-address", "nonsense"), "no Ray cluster answers at 'nonsense'"),
    ],
)
def test_bad_input_is_one_clear_message(given: tuple[str, ...], said: str, tmp_path: Path) -> None:
    code, message = command(*arguments(tmp_path / "run"), *given)
    assert code == 2, message
    assert message.startswith("catbox: ")
    assert said in message
    assert not (tmp_path / "run").exists()


def test_an_address_that_does_not_answer_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Something takes connections there and never says anything."""
    monkeypatch.setattr(ray_cluster, "TIME_TO_ANSWER", 4.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        code, said = command("arena", "random", "heuristic", "--ray-address", address)
    assert code == 2
    assert f"catbox: no Ray cluster answers at '{address}' (nothing within 4 s)" in said


def test_the_arena_command_plays_on_the_cluster(cluster: Any) -> None:
    given = ["arena", "random", "heuristic", "--players", "3", "--deals", "10"]
    here = CliRunner().invoke(app, [*given, "--processes", "1"])
    there = CliRunner().invoke(app, [*given, "--ray-address", cluster.address])
    assert there.exit_code == 0, there.stderr
    margins = [re.findall(r"\S+ ± \S+", ran.stdout) for ran in (here, there)]
    assert margins[0] == margins[1]
    assert margins[0]
