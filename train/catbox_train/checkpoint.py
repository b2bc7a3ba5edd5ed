"""Checkpoints of a training run: folders that are there whole or not at all, enough to go on exactly.

    RUN/checkpoints/00000120/            named by the number of updates done
        policy.safetensors               the actor and what it is for (catbox_agents.policy)
        training.npz                     everything else, as arrays: weights, Adam's moments, games, carried rows
        training.json                    counters, generators, and the configuration they belong to

A checkpoint is written under a temporary name and renamed when every byte has reached the disk, so a run that is
killed at any moment leaves the checkpoint before untouched. None of the files can hold code.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from catbox_agents.policy import CHECKPOINTS_FOLDER, MLP, POLICY_FILE, save_checkpoint
from catbox_env.core.game import Game

#: The value of "format" in training.json: raised when a run of before cannot be continued any more.
FORMAT = "catbox-training-1"
KEPT = 2  # the latest ones; an older one is of use when the latest is damaged


@dataclass(frozen=True)
class TrainingState:
    """Everything but the policy file: ``arrays`` by name, and ``values`` that JSON can hold."""

    arrays: dict[str, np.ndarray]
    values: dict[str, Any]


def save_training(run: Path, update: int, actor: MLP, game: Game, state: TrainingState) -> Path:
    """Write checkpoint ``update`` of the run folder ``run``, drop those older than the last two; its folder."""
    parent = run / CHECKPOINTS_FOLDER
    parent.mkdir(exist_ok=True)
    folder, unfinished = parent / f"{update:08d}", parent / f".{update:08d}.writing"
    for leftover in parent.glob(".*.writing"):  # of a run that was killed while it wrote
        shutil.rmtree(leftover)
    unfinished.mkdir()
    counters = {name: state.values[name] for name in ("update", "decisions")}
    save_checkpoint(unfinished / POLICY_FILE, actor, game, training=counters)
    with open(unfinished / "training.npz", "wb") as file:
        np.savez(file, allow_pickle=False, **state.arrays)
        os.fsync(file.fileno())
    with open(unfinished / "training.json", "w", encoding="utf-8") as text:
        json.dump({"format": FORMAT, **state.values}, text, indent=1)
        text.flush()
        os.fsync(text.fileno())
    _folder_to_disk(unfinished)
    unfinished.rename(folder)
    _folder_to_disk(parent)
    complete = sorted(path for path in parent.glob("[0-9]*") if path.name.isdigit())
    for old in complete[:-KEPT]:
        shutil.rmtree(old)
    return folder


def load_training(folder: Path, config: dict[str, Any]) -> TrainingState:
    """Read a checkpoint folder that a run with ``config`` wrote.

    Raises ``ValueError`` when it is damaged, of another format, or of another configuration.
    """
    remedy = f"delete {folder} to resume from the checkpoint before it"
    try:
        values = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        with open(folder / "training.npz", "rb") as file, np.load(file, allow_pickle=False) as content:
            arrays = dict(content)
    except FileNotFoundError as error:
        raise ValueError(
            f"checkpoint {folder} is incomplete, {error.filename} is missing: {remedy}"
        ) from error
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"checkpoint {folder} is damaged ({error}): {remedy}") from error
    found = values.get("format") if isinstance(values, dict) else None
    if found != FORMAT:
        raise ValueError(f"checkpoint {folder} is of format {found!r}, expected {FORMAT!r}: {remedy}")
    was = values.get("config")
    if not isinstance(was, dict):
        raise ValueError(
            f"checkpoint {folder} is damaged (training.json lacks the settings, config): {remedy}"
        )
    changed = [name for name in {**was, **config} if was.get(name) != config.get(name)]
    if changed:
        lines = ", ".join(f"{name}: {was.get(name)!r} -> {config.get(name)!r}" for name in changed)
        raise ValueError(
            f"checkpoint {folder} was made with other settings than config.yaml has now ({lines}): a run goes on with "
            "the settings it began with; put them back, or start a new run in another folder"
        )
    return TrainingState(arrays, values)


def _folder_to_disk(folder: Path) -> None:
    """Make new names in ``folder`` survive a power cut (a folder cannot be opened for this on Windows)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
