"""Files that training cannot write, or reads back damaged: full disks, deleted folders, broken lines of metrics."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.system.files import WriteError, write_atomically, writing
from catbox_train.config import TrainConfig
from catbox_train.runs import checkpoint, loop, metrics, report, tensorboard
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import parse_metrics, read_metrics
from tests.train.ppo_runs import BRIEF, UPDATE, assert_same_end, command, in_update, quiet, small

pytestmark = pytest.mark.faults

EVALUATED = {**BRIEF, "evaluate_every": 2}


@pytest.fixture(scope="session")
def finished(finished_run: Callable[[TrainConfig], Path]) -> Path:
    """A run that was never stopped."""
    return finished_run(small(**EVALUATED))


@pytest.fixture
def full_disk() -> Iterator[Callable[[bool], None]]:
    """Call it with True, and nothing more can be written to any file, until it is called with False."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda full: resource.setrlimit(resource.RLIMIT_FSIZE, (0 if full else before[0], before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("owner", "name", "call", "path"),
    [
        (metrics.MetricsLog, "write", 3, "metrics.jsonl"),
        (tensorboard.EventFile, "add", 3, "tensorboard/events"),
        (PolicyAgent, "save", 3, "policy.safetensors"),
        (checkpoint.np, "savez", 2, "training.npz"),
        (checkpoint, "write_atomically", 2, "training.json"),
        (loop, "save_best", 1, "checkpoints/best"),
        (report, "write_atomically", 1, "results.json"),
    ],
)
def test_a_full_disk_is_said_by_path_and_the_run_goes_on_from_there(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full_disk: Callable[[bool], None],
    owner: ModuleType | type,
    name: str,
    call: int,
    path: str,
) -> None:
    """The disk is full when ``name`` is called for the n-th time. With room again, the run ends as it would have."""
    run, write, calls = tmp_path / "run", getattr(owner, name), []

    def write_without_room(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            full_disk(True)
        return write(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, write_without_room)
        with pytest.raises(WriteError) as refusal:
            train(small(**EVALUATED), run, quiet())
    said = str(refusal.value)
    assert said.startswith(f"cannot write {run}/")
    assert path in said
    assert "File too large (allow larger files there)" in said
    assert said.endswith(f"Then resume with:  {loop.resume_command(run, ())}")
    assert not list(run.rglob("*.writing"))
    full_disk(False)
    resume(run, quiet())
    assert_same_end(finished, run)


def test_a_folder_that_is_deleted_under_a_run_is_named(tmp_path: Path) -> None:
    config, run = small(**EVALUATED), tmp_path / "run"
    message = r"^cannot write .*/run/\S+: No such file or directory \(its folder does not exist\)$"
    with in_update(config, 4, lambda: shutil.rmtree(run)), pytest.raises(WriteError, match=message):
        train(config, run, quiet())


def test_what_stands_in_the_way_of_a_file_or_folder_is_to_be_moved(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ways = {tmp_path: "a folder stands where a file", tmp_path / "file/x": "a file stands where a folder"}
    for path, what in ways.items():
        with pytest.raises(WriteError, match=rf" \({what} is needed: move it away\)$"), writing(path):
            write_atomically(path, b"")


def test_the_command_says_one_line_for_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "run" / "metrics.jsonl").mkdir(parents=True)
    code, said = command("train", "--output", str(tmp_path / "run"))
    assert code == 2
    assert said.startswith(f"catbox: {tmp_path}/run/metrics.jsonl cannot be read (Is a directory): ")
    assert said.count("\n") == 1


# Metrics.

ROWS = [b'{"update": %d, "decisions": %d, "learning/kl": 0.5}' % (n, n * UPDATE) for n in range(1, 6)]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{", b"5", b"\xff", b"[" * 100_000, b'{"update": 3}'),
        b'{"update": "3", "decisions": 1}',
        b'{"update": 3, "decisions": 1536, "learning/kl": NaN}',
        b'{"update": 3, "decisions": 1536, "learning/kl": "0.5"}',
        b'{"update": true, "decisions": 1536}',
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_line_of_metrics_takes_no_other_with_it(line: bytes) -> None:
    rows, damaged = parse_metrics(b"\n".join([*ROWS[:2], line, *ROWS[3:], b""]))
    assert [row["update"] for row in rows] == [1, 2, 4, 5]
    assert damaged == [3]


def test_resuming_keeps_the_rows_after_a_damaged_line_and_the_file_as_it_was(
    finished: Path, tmp_path: Path
) -> None:
    run, output = tmp_path / "run", StringIO()
    shutil.copytree(finished, run)
    shutil.rmtree(run / "checkpoints" / "00000005")
    lines = (run / "metrics.jsonl").read_bytes().split(b"\n")
    damaged = b"\n".join([lines[0], b"damage", *lines[2:]])
    (run / "metrics.damaged-1.jsonl").write_bytes(b"of another time")
    (run / "metrics.jsonl").write_bytes(damaged)
    resume(run, Console(file=output, width=400))
    assert "metrics.jsonl: left out damaged lines (2)" in output.getvalue()
    assert "kept as metrics.damaged-2.jsonl" in output.getvalue()
    resume(run, quiet())
    assert [row["update"] for row in read_metrics(run)] == [1, 3, 4, 5]
    assert (run / "metrics.damaged-2.jsonl").read_bytes() == damaged
    assert not (run / "metrics.damaged-3.jsonl").exists()


def test_tensorboard_draws_what_the_metrics_hold(finished: Path, tmp_path: Path) -> None:
    """Also after a resume from update 4: what was drawn after it is drawn anew."""
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    shutil.rmtree(run / "checkpoints" / "00000005")
    resume(run, quiet())
    for folder in (finished, run):
        board = EventAccumulator(str(folder / "tensorboard"))
        board.Reload()
        rows = read_metrics(folder)
        names = {name for row in rows for name in row} - {"update", "decisions"}
        assert set(board.Tags()["scalars"]) == names
        for name in ("learning/policy_loss", "game/score", "evaluation/random/margin"):
            drawn = [(event.step, event.value) for event in board.Scalars(name)]
            logged = [(row["decisions"], np.float32(row[name])) for row in rows if name in row]
            assert drawn == logged
    assert latest_checkpoint(run).name == "00000005"
