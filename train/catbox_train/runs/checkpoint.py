"""Checkpoints of a training run: each is complete or absent, and holds everything needed to resume exactly.

    RUN/checkpoints/00000120/            named by the number of updates done
        policy.safetensors               the policy (catbox_agents.networks.checkpoint), or what one's own agent saves
        training.npz                     the arrays of the algorithm's state: weights, Adam's moments, earlier policies
        training.json                    counters, the configuration they belong to, and checksums
    RUN/checkpoints/best/                the policy that did best in the evaluations during training

A checkpoint is written under a temporary name and renamed when every byte has reached the disk, so a run that is
killed at any moment leaves the previous checkpoint intact. None of the files that catbox writes can hold code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from catbox_agents.networks.checkpoint import CHECKPOINTS_FOLDER, numbered_checkpoints
from catbox_agents.system.files import check_format, parse_json, read_text, write_atomically, writing
from catbox_train.algorithm import DivergedError, Policy, State

#: The value of "format" in training.json. It increases when runs of earlier versions can no longer be resumed.
FORMAT = "catbox-training-5"
#: How many of the latest checkpoints are kept: the second last serves if the last is damaged.
KEPT = 2
BEST_FOLDER = "best"
ARRAYS_FILE, VALUES_FILE = "training.npz", "training.json"


@dataclass
class Counters:
    """How far a run has come. ``seconds`` counts playing and learning, not evaluations. ``segments``: for each length
    that the run was given, [the decisions made by then, the ``total_decisions`` from then on]."""

    update: int = 0
    decisions: int = 0
    seconds: float = 0.0
    segments: list[list[int]] = field(default_factory=list)


def save_training(run: Path, done: Counters, config: dict[str, Any], policy: Policy, state: State) -> Path:
    """Write a checkpoint into the run folder ``run``, and drop all but the last two; returns its folder.

    Raises ``DivergedError`` for numbers that are not finite, and ``WriteError``; either way the earlier checkpoints
    stay.
    """
    for name, array in state.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DivergedError(f"{name} holds numbers that are not finite")
    parent = run / CHECKPOINTS_FOLDER
    folder, unfinished = parent / f"{done.update:08d}", parent / f".{done.update:08d}.writing"
    with writing(parent):
        parent.mkdir(exist_ok=True)
        for leftover in parent.glob(".*.writing"):  # of a run that was killed while writing
            shutil.rmtree(leftover)
    try:
        with writing(unfinished):
            unfinished.mkdir()
            policy.save(unfinished, _facts(done, config))
        with writing(unfinished / ARRAYS_FILE), open(unfinished / ARRAYS_FILE, "wb") as file:
            np.savez(file, allow_pickle=False, **state)
            os.fsync(file.fileno())
        with writing(unfinished):
            files = {file.name: _file_checksum(file) for file in sorted(unfinished.iterdir())}
        values = {"format": FORMAT, **asdict(done), "config": config, "files": files}
        text = json.dumps({**values, "checksum": checksum(values)}, indent=1, allow_nan=False)
        write_atomically(unfinished / VALUES_FILE, text.encode())
        with writing(folder):
            _folder_to_disk(unfinished)
            if folder.exists():  # of a run that was resumed from the checkpoint before
                shutil.rmtree(folder)
            unfinished.rename(folder)
            _folder_to_disk(parent)
    except OSError:
        with suppress(OSError):  # make room; if that fails too, the next run does it
            shutil.rmtree(unfinished)
        raise
    with writing(parent):
        for old in numbered_checkpoints(run)[:-KEPT]:
            shutil.rmtree(old)
    return folder


def _facts(done: Counters, config: Mapping[str, Any]) -> dict[str, Any]:
    """What a saved policy says about its training."""
    return {"update": done.update, "decisions": done.decisions, "algorithm": config["algorithm"]}


def load_training(folder: Path, config: dict[str, Any]) -> tuple[Counters, State]:
    """Read a checkpoint folder that a run with ``config`` wrote.

    Raises ``ValueError`` if it is damaged, or has another format or configuration.
    """
    try:
        values = parse_json(read_text(folder / VALUES_FILE))
        if not isinstance(values, dict):
            raise ValueError(f"{VALUES_FILE} holds no mapping")
    except (OSError, ValueError) as error:
        raise damage_error(folder, error) from error
    check_format(f"checkpoint {folder}", values.get("format"), FORMAT, _remedy(folder))
    try:
        _check_checksums(folder, values)
        was = dict(values["config"])
        values.setdefault("segments", [[0, was["total_decisions"]]])  # of an earlier version
        done = Counters(**{name: values[name] for name in asdict(Counters())})
        with np.load(folder / ARRAYS_FILE, allow_pickle=False) as arrays:
            state = dict(arrays)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, zipfile.BadZipFile) as error:
        raise damage_error(folder, error) from error
    may_differ = ("device", "total_decisions")
    changed = [
        name for name in {**was, **config} if was.get(name) != config.get(name) and name not in may_differ
    ]
    if changed:
        lines = ", ".join(f"{name}: {was.get(name)!r} -> {config.get(name)!r}" for name in changed)
        raise ValueError(
            f"checkpoint {folder} was made with other settings than config.yaml has now ({lines}): a run keeps the "
            "settings it began with; restore them, or start a new run in another folder"
        )
    return done, state


def damage_error(folder: Path, error: Exception) -> ValueError:
    """What to raise for a checkpoint that ``error`` makes unusable: names the folder and what to do."""
    if isinstance(error, FileNotFoundError):
        return ValueError(
            f"checkpoint {folder} is incomplete, {error.filename} is missing: {_remedy(folder)}"
        )
    if isinstance(error, OSError):
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return ValueError(f"checkpoint {folder} cannot be read ({reason}): {_remedy(folder)}")
    return ValueError(f"checkpoint {folder} is damaged ({error}): {_remedy(folder)}")


def _remedy(folder: Path) -> str:
    run = folder.parent.parent
    earlier = [other for other in numbered_checkpoints(run) if int(other.name) < int(folder.name)]
    if earlier:
        return f"delete {folder} to resume from the checkpoint before it, {earlier[-1].name}"
    return f"there is none before it; delete {folder} to resume from the start of the run"


def save_best(run: Path, done: Counters, config: dict[str, Any], policy: Policy, margin: float) -> None:
    """Make ``policy`` the best one of the run. Raises ``WriteError``."""
    folder = run / CHECKPOINTS_FOLDER / BEST_FOLDER
    with writing(folder):
        # Not the folder of the run: without its settings there is no run.
        folder.parent.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
        policy.save(folder, {**_facts(done, config), "margin": margin})


def best_margin(run: Path, rows: list[dict[str, float]], opponents: tuple[str, ...]) -> float:
    """The margin of the best policy so far by the metrics ``rows``; minus infinity if there is none."""
    names = [f"evaluation/{name}/margin" for name in opponents]
    margins = [sum(row[name] for name in names) / len(names) for row in rows if names and names[0] in row]
    there = (run / CHECKPOINTS_FOLDER / BEST_FOLDER).is_dir()
    return max(margins, default=-math.inf) if there else -math.inf


def checksum(values: Mapping[str, Any]) -> str:
    """SHA-256 of JSON values, regardless of their order."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _file_checksum(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_checksums(folder: Path, values: dict[str, Any]) -> None:
    """Raise ``ValueError`` unless the checkpoint is unchanged, byte for byte."""
    content = {name: value for name, value in values.items() if name != "checksum"}
    try:
        found = checksum(content)
    except RecursionError:
        raise ValueError(f"{VALUES_FILE} is nested too deeply") from None
    if found != values.get("checksum"):
        raise ValueError(f"{VALUES_FILE} was changed after it was written: its checksum does not match")
    for name, wanted in values["files"].items():
        if Path(name).name != name or wanted != _file_checksum(folder / name):
            raise ValueError(f"{name} was changed after it was written: its checksum does not match")


def _folder_to_disk(folder: Path) -> None:
    """Make new names in ``folder`` survive a power failure (not on Windows, which cannot open a folder for this)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
