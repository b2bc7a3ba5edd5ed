"""Checkpoints of a training run: each is complete or absent, and holds everything needed to resume exactly.

    RUN/checkpoints/00000120/            named by the number of updates done
        policy.safetensors               the actor and its metadata (catbox_agents.networks.checkpoint)
        training.npz                     everything else, as arrays: weights, Adam's moments, games, carried rows
        training.json                    counters, generators, the configuration they belong to, and checksums
    RUN/checkpoints/best/                the policy that did best in the evaluations during training
        policy.safetensors

A checkpoint is written under a temporary name and renamed when every byte has reached the disk, so a run that is
killed at any moment leaves the previous checkpoint intact; the one file of ``best`` is replaced atomically. None of the
files can hold code. Reading validates: the checksums detect damage, and because anybody can compute them for an edited
file, every number is checked too, here and by the algorithm whose state it is.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from catbox_agents.files import check_format, parse_json, read_text, write_atomically, writing
from catbox_agents.networks.checkpoint import (
    CHECKPOINTS_FOLDER,
    POLICY_FILE,
    load_checkpoint,
    numbered_checkpoints,
    save_checkpoint,
)
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_env import Game
from catbox_train.algorithm import DivergedError, TrainingState
from catbox_train.runs.arrays import name_of_not_finite, read_arrays, write_arrays

#: The value of "format" in training.json. It increases when runs of earlier versions can no longer be resumed.
FORMAT = "catbox-training-4"
#: How many of the latest checkpoints are kept: the second last serves if the last is damaged.
KEPT = 2
BEST_FOLDER = "best"
ARRAYS_FILE, VALUES_FILE = "training.npz", "training.json"


def save_training(run: Path, update: int, actor: PolicyNetwork, game: Game, state: TrainingState) -> Path:
    """Write checkpoint ``update`` of the run folder ``run``, and drop all but the last two; returns its folder.

    Raises ``DivergedError`` for numbers that are not finite, and ``WriteError``; either way the earlier checkpoints
    stay.
    """
    if name := name_of_not_finite(state.arrays):
        raise DivergedError(f"{name} holds numbers that are not finite")
    parent = run / CHECKPOINTS_FOLDER
    folder, unfinished = parent / f"{update:08d}", parent / f".{update:08d}.writing"
    with writing(parent):
        parent.mkdir(exist_ok=True)
        for leftover in parent.glob(".*.writing"):  # of a run that was killed while writing
            shutil.rmtree(leftover)
    try:
        with writing(unfinished):
            unfinished.mkdir()
        facts = {name: state.values[name] for name in ("update", "decisions")}
        facts["algorithm"] = state.values["config"]["algorithm"]
        save_checkpoint(unfinished / POLICY_FILE, actor, game, training=facts)
        write_arrays(unfinished / ARRAYS_FILE, state.arrays)
        with writing(unfinished):
            files = {name: _file_checksum(unfinished / name) for name in (POLICY_FILE, ARRAYS_FILE)}
        values = {"format": FORMAT, **state.values, "files": files}
        text = json.dumps({**values, "checksum": checksum(values)}, indent=1, allow_nan=False)
        write_atomically(unfinished / VALUES_FILE, text.encode())
        with writing(folder):
            _folder_to_disk(unfinished)
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


def load_training(folder: Path, config: dict[str, Any], like: Mapping[str, np.ndarray]) -> TrainingState:
    """Read a checkpoint folder that a run with ``config`` wrote, with arrays of the types and shapes of ``like``.

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
        was = values.get("config")
        if not isinstance(was, dict):
            raise ValueError(f"{VALUES_FILE} lacks the settings, config")
    except (OSError, ValueError) as error:
        raise damage_error(folder, error) from error
    was, config = _flat(was), _flat(config)
    changed = [name for name in {**was, **config} if was.get(name) != config.get(name) and name != "device"]
    if changed:
        lines = ", ".join(f"{name}: {was.get(name)!r} -> {config.get(name)!r}" for name in changed)
        raise ValueError(
            f"checkpoint {folder} was made with other settings than config.yaml has now ({lines}): a run keeps the "
            "settings it began with; restore them, or start a new run in another folder"
        )
    try:
        arrays = read_arrays(folder / ARRAYS_FILE, like)
        if name := name_of_not_finite(arrays):
            raise ValueError(f"{name} holds numbers that are not finite")
    except (OSError, ValueError) as error:
        raise damage_error(folder, error) from error
    return TrainingState(arrays, values)


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` with those of the algorithm among the others."""
    options = settings.get("algorithm_options")
    return {**settings, **options, "algorithm_options": None} if isinstance(options, dict) else {**settings}


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


def save_best(run: Path, actor: PolicyNetwork, game: Game, training: dict[str, Any]) -> None:
    """Make ``actor`` the best policy of the run, in one step; ``training`` holds its "margin".

    Raises ``WriteError``.
    """
    folder = run / CHECKPOINTS_FOLDER / BEST_FOLDER
    with writing(folder):
        # Not the folder of the run: without its settings there is no run.
        folder.parent.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
    save_checkpoint(folder / POLICY_FILE, actor, game, training)


def best_margin(run: Path, game: Game) -> float:
    """The margin of the best policy of the run so far; minus infinity if there is none.

    Raises ``ValueError`` or ``OSError`` if its file is damaged.
    """
    file = run / CHECKPOINTS_FOLDER / BEST_FOLDER / POLICY_FILE
    if not file.exists():
        return -math.inf
    margin = load_checkpoint(file, game).training.get("margin")
    if not isinstance(margin, float) or not math.isfinite(margin):
        raise ValueError(f"{file} has no margin in its header: {margin!r:.80}")
    return margin


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
    files = values.get("files")
    for name in (POLICY_FILE, ARRAYS_FILE):
        if not isinstance(files, dict) or files.get(name) != _file_checksum(folder / name):
            raise ValueError(f"{name} was changed after it was written: its checksum does not match")


def _folder_to_disk(folder: Path) -> None:
    """Make new names in ``folder`` survive a power failure (not on Windows, which cannot open a folder for this)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
