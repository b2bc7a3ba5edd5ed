"""Small training runs, and how two of them are compared; for the tests of training."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_app.cli import app
from catbox_train.algorithm import Algorithm
from catbox_train.config import TrainConfig
from catbox_train.registry import algorithm_class, load_config
from catbox_train.runs.loop import own_torch_settings, train
from catbox_train.runs.metrics import read_metrics
from catbox_train.runs.progress import TrainingInterrupted

#: Every game of `SMALL` has 12 decisions a round, whatever is played.
GAME = {"num_players": 3, "num_ranks": 3, "copies": 4}
#: Decisions of an update of `SMALL`.
UPDATE = 384
#: A run of a second: 8 updates, a checkpoint after every third.
SMALL: dict[str, Any] = {
    "game_options": GAME,
    "precision": "float32",
    "device": "cpu",
    "total_decisions": 8 * UPDATE,
    "games_per_update": 32,
    "minibatch_size": 128,
    "hidden": [16],
    "checkpoint_every": 3,
    "evaluate_every": 4,
    "evaluate_deals": 10,
    "final_deals": 10,
}

#: A run of five updates, with little around it.
BRIEF: dict[str, Any] = {
    "total_decisions": 5 * UPDATE,
    "checkpoint_every": 2,
    "evaluate_every": 100,
    "eval_opponents": ["random"],
}


def command(*arguments: str) -> tuple[int, str]:
    """Exit code and error output."""
    ran = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"}, catch_exceptions=False)
    return ran.exit_code, ran.stderr


def small(**settings: Any) -> Any:
    """The configuration of a run, of the class of its algorithm; settings that are None are left out."""
    given = {name: value for name, value in {**SMALL, **settings}.items() if value is not None}
    config = load_config(overrides=given)
    return config.resolved(config.make_game())


def made(**settings: Any) -> Any:
    """The algorithm of a run that is `small` but for ``settings``."""
    config = small(**settings)
    return algorithm_of(config)


def algorithm_of(config: TrainConfig) -> Algorithm:
    """The algorithm, with torch as a run has it."""
    with own_torch_settings():
        return algorithm_class(config.algorithm)(config, config.make_game())


def run_python(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``script`` in a process of its own."""
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def quiet() -> Console:
    return Console(quiet=True)


@contextmanager
def in_update(
    config: TrainConfig, number: int, act: Callable[[], object], at_end: bool = False
) -> Iterator[None]:
    """While it lasts, ``act`` is called when a run of ``config`` begins its ``number``-th update (1, 2, ...), or
    ``at_end`` of it."""
    kind: Any = algorithm_class(config.algorithm)
    update = kind.update

    def act_and_update(algorithm: Any, done: int, progress: float) -> Any:
        if done + 1 == number and not at_end:
            act()
        found = update(algorithm, done, progress)
        if done + 1 == number and at_end:
            act()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "update", act_and_update)
        yield


def stop(config: TrainConfig, run: Path, update: int, number: signal.Signals = signal.SIGINT) -> str:
    """Begin a run, to which a signal comes when all but the end of the update after this one is done, which is
    discarded; what is said."""
    with (
        in_update(config, update + 1, lambda: os.kill(os.getpid(), number), at_end=True),
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


def files_of(folder: Path) -> dict[str, bytes]:
    """What the files of ``folder`` hold, without those that tell the time."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "training.json"}


def rows_of(run: Path) -> list[dict[str, float]]:
    """The metrics of a run without what tells the time."""
    return [
        {name: value for name, value in row.items() if "_per_second" not in name} for row in read_metrics(run)
    ]


def end_of(run: Path) -> dict[str, Any]:
    """All that a finished run leaves, without what tells the time."""
    folder = latest_checkpoint(run)
    assert folder is not None
    values = json.loads((folder / "training.json").read_text())
    del values["seconds"], values["checksum"]
    best = folder.parent / "best"
    return {
        "arrays": final_arrays(run),
        "values": values,
        "policy": files_of(folder),
        "best": files_of(best) if best.exists() else None,
        "rows": rows_of(run),
        "matches": json.loads((run / "results.json").read_text())["matches"],
    }


def assert_same_end(run: Path, other: Path) -> None:
    """Two finished runs have left the same, bit for bit: weights, metrics, the best policy and the matches."""
    np.testing.assert_equal(end_of(other), end_of(run))
