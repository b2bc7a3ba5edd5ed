"""Small training runs, and how two of them are compared; for the tests of training."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catbox_train.algorithms.ppo.ppo import PPO
from rich.console import Console
from typer.testing import CliRunner

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_app.cli import app
from catbox_train.algorithm import algorithm_class
from catbox_train.config import TrainConfig, load_config
from catbox_train.runs.loop import train
from catbox_train.runs.metrics import read_metrics
from catbox_train.runs.progress import TrainingInterrupted

#: A run of a second: 8 updates, a checkpoint after every third.
SMALL = {
    "game_options": {"num_players": 3, "num_ranks": 3, "copies": 4},
    "precision": "float32",
    "device": "cpu",
    "workers": 2,
    "total_decisions": 8 * 512,
    "num_envs": 32,
    "batch_size": 512,
    "minibatch_size": 128,
    "hidden": [16],
    "checkpoint_every": 3,
    "evaluate_every": 4,
    "evaluate_deals": 10,
    "final_deals": 10,
}

#: A run of five updates, with little around it.
BRIEF = {"total_decisions": 5 * 512, "checkpoint_every": 2, "evaluate_every": 100, "opponents": ["random"]}


def command(*arguments: str) -> tuple[int, str]:
    """Exit code and error output."""
    ran = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"}, catch_exceptions=False)
    return ran.exit_code, ran.stderr


def small(**settings: object) -> TrainConfig:
    return load_config(overrides={**SMALL, **settings}).resolved()


def trainer_of(config: TrainConfig) -> closing[PPO]:
    """To be used with ``with``: PPO with these settings, closed at the end."""
    return closing(PPO(config, config.make_game()))


def kill(script: str, *arguments: object) -> None:
    """Run ``script`` in a process of its own, which ends itself with SIGKILL."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def quiet() -> Console:
    return Console(quiet=True)


@contextmanager
def in_update(config: TrainConfig, number: int, act: Callable[[], object]) -> Iterator[None]:
    """While it lasts, ``act`` is called when a run of ``config`` begins its ``number``-th update (1, 2, ...)."""
    kind: Any = algorithm_class(config.algorithm)
    update, calls = kind.update, []

    def act_and_update(algorithm: Any, progress: float) -> dict[str, float]:
        calls.append(progress)
        if len(calls) == number:
            act()
        return update(algorithm, progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "update", act_and_update)
        yield


def stop(config: TrainConfig, run: Path, update: int, number: signal.Signals = signal.SIGINT) -> str:
    """Begin a run, to which a signal comes in this update; what is said. The update is finished and saved."""
    with (
        in_update(config, update, lambda: os.kill(os.getpid(), number)),
        pytest.raises(TrainingInterrupted) as stopped,
    ):
        train(config, run, quiet())
    folder = latest_checkpoint(run)
    assert folder is not None
    assert folder.name == f"{update:08}"
    return str(stopped.value)


def final_arrays(run: Path) -> dict[str, np.ndarray]:
    folder = latest_checkpoint(run)
    assert folder is not None
    with np.load(folder / "training.npz", allow_pickle=False) as arrays:
        return dict(arrays)


def end_of(run: Path) -> dict[str, Any]:
    """All that the last checkpoint of a run holds, and what was measured in learning, without what tells the time."""
    folder = latest_checkpoint(run)
    assert folder is not None
    values = json.loads((folder / "training.json").read_text())
    del values["seconds"], values["checksum"]
    learned = [
        {
            name: value
            for name, value in row.items()
            if name.startswith("learning/") and "_per_second" not in name
        }
        for row in read_metrics(run)
    ]
    return {
        "arrays": final_arrays(run),
        "values": values,
        "policy": (folder / "policy.safetensors").read_bytes(),
        "learned": learned,
    }


def assert_same_end(run: Path, other: Path) -> None:
    """Same number of updates, and every array of the last checkpoint equal bit for bit."""
    np.testing.assert_equal(end_of(other), end_of(run))
