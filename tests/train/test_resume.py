"""A run that is stopped or killed, whatever it learns with, goes on exactly: it ends as one that was never stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catbox_train.opponents import PAST

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_train.config import TrainConfig, load_config
from catbox_train.runs.folder import start_run
from catbox_train.runs.loop import resume
from catbox_train.runs.metrics import read_metrics
from tests.train.agents_in_training import DRAWING, REMEMBERING
from tests.train.ppo_runs import SMALL, assert_same_end, final_arrays, kill, quiet, small, stop

#: Matches of two rounds, which end at different places of a batch.
RUN: dict[str, Any] = {
    "game_options": {**SMALL["game_options"], "rounds": 2},  # type: ignore[dict-item]
    "batch_size": 416,
    "minibatch_size": 104,
    "total_decisions": 6 * 416,
    "checkpoint_every": 2,
    "evaluate_every": 100,
    "opponents": ["random"],
}
#: The pool is full after two updates.
TABLES: dict[str, Any] = {
    "opponents_in_training": {"heuristic": 0.15, PAST: 0.3, DRAWING: 0.2, REMEMBERING: 0.2},
    "past_policies": 2,
    "past_every": 1,
}
SEARCH = {
    "algorithm": "exit",
    "search_worlds": 2,
    "search_share": 0.05,
    "window": 3,
    "minibatch_size": 16,
}
KINDS: dict[str, dict[str, Any]] = {
    "ppo": {},
    "ppo in bfloat16": {"precision": "bfloat16"},
    "ppo among opponents": {**TABLES, "privileged_critic": True},
    "ppo, varied": {
        "algorithm": "experiments.learners:VariedPPO", "averaging": 0.9, "kl_weight": 0.3, "value_lambda": 1.0,
        "largest_advantages": 0.5,
    },
    "ppo with histories": {**TABLES, "history": True},
    "dmc": {**TABLES, "algorithm": "dmc", "epsilon": 0.3},
    "dmc with histories": {**TABLES, "algorithm": "dmc", "history": True},
    "exit": {**TABLES, **SEARCH},
    "exit with an agent": {**TABLES, **SEARCH, "rollout_policy": DRAWING},
    "exit with histories": {**SEARCH, "rollout_policy": "heuristic", "history": True},
    "an algorithm of one's own": {
        "algorithm": "examples.reinforce:Reinforce", "precision": None, "minibatch_size": None,
        "game_options": SMALL["game_options"],
    },
}  # fmt: skip


def config_of(kind: str) -> TrainConfig:
    settings = {**SMALL, **RUN, **KINDS[kind]}
    return load_config(overrides={name: value for name, value in settings.items() if value is not None})


@pytest.mark.parametrize(("kind", "update"), [("ppo among opponents", 1), *((kind, 3) for kind in KINDS)])
def test_a_stopped_run_goes_on_exactly(
    kind: str, update: int, finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    """Ctrl-C in an update after which no checkpoint is due, with an empty pool and with a full one."""
    config = config_of(kind).resolved()
    said = stop(config, tmp_path / "run", update)
    assert f"{update * config.batch_size:,} decisions" in said
    assert f"--resume --output {tmp_path}/run" in said
    assert not (tmp_path / "run" / "results.json").exists()
    resume(tmp_path / "run", quiet(), trust=True)
    assert_same_end(finished_run(config), tmp_path / "run")


def test_a_run_that_is_stopped_in_its_last_update_has_its_matches_to_play(
    finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    stop(small(), tmp_path / "run", 8, signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is handler
    assert not (tmp_path / "run" / "results.json").exists()
    resume(tmp_path / "run", quiet())
    assert (tmp_path / "run" / "results.json").exists()
    assert_same_end(finished_run(small()), tmp_path / "run")


def test_another_seed_gives_another_run(finished_run: Callable[[TrainConfig], Path]) -> None:
    one, other = (final_arrays(finished_run(small(seed=seed))) for seed in (1, 2))
    assert not np.array_equal(one["weights"], other["weights"])


KILLED = """
import os, signal, sys
import numpy as np
from rich.console import Console
from catbox_train.algorithms.ppo import ppo
from catbox_train.runs import loop
from catbox_train.runs import checkpoint

run, moment = sys.argv[1:]
calls = 0

def killing(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == 2 and moment == "writing":  # the second checkpoint, with half a file on disk
            args[0].write(b"half")
            args[0].flush()
        if calls == (2 if moment == "writing" else 5):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return call

if moment == "writing":
    checkpoint.np.savez = killing(np.savez)
else:
    ppo.ppo_loss = killing(ppo.ppo_loss) if moment == "before" else ppo.ppo_loss
    ppo.PPO.learn = killing(ppo.PPO.learn) if moment == "learning" else ppo.PPO.learn
loop.resume(run, Console(quiet=True))
"""


@pytest.mark.faults
@pytest.mark.parametrize(
    ("moment", "found"),
    [("before", None), ("learning", "00000003"), ("writing", "00000003")],
)
def test_a_killed_run_goes_on_exactly(
    finished_run: Callable[[TrainConfig], Path], tmp_path: Path, moment: str, found: str | None
) -> None:
    """Killed before its first checkpoint, in the fifth update, and while it writes its second checkpoint: resumed, the
    run ends with the same weights, games and generators, bit for bit, as the one that was never stopped."""
    run = tmp_path / "run"
    start_run(run, small())
    kill(KILLED, run, moment)
    latest = latest_checkpoint(run)
    assert (latest.name if latest else None) == found
    resume(run, quiet())
    assert_same_end(finished_run(small()), run)
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))
    assert not list((run / "checkpoints").glob(".*"))
