"""The folder of a run: made for a new one, found for one that goes on."""

from __future__ import annotations

from pathlib import Path

from catbox_agents.files import write_atomically
from catbox_train.config import TrainConfig, load_config

CONFIG_FILE = "config.yaml"


def start_run(run: Path, config: TrainConfig) -> Path:
    """Make the folder and write ``config.yaml``; the folder.

    Raises ``FileExistsError`` when a run is there already, another ``OSError`` when nothing can be written there.
    """
    if (run / CONFIG_FILE).exists():
        raise FileExistsError(
            f"{run} holds a training run already: go on with it with --resume, or name another folder with --output"
        )
    try:
        run.mkdir(parents=True, exist_ok=True)
        write_atomically(run / CONFIG_FILE, config.to_yaml().encode())
    except OSError as error:
        raise OSError(f"cannot write to {run} ({error}): name another folder with --output") from error
    return run


def open_run(run: Path) -> TrainConfig:
    """The configuration of the run in a folder.

    Raises ``FileNotFoundError`` when there is none, ``ValueError`` when its settings are not complete or not valid.
    """
    file = run / CONFIG_FILE
    if not file.is_file():
        raise FileNotFoundError(
            f"{run} holds no training run to resume ({CONFIG_FILE} is missing): leave out --resume to start one"
        )
    return load_config(file=file)


def free_run_folder(parent: Path, name: str) -> Path:
    """The first of ``parent/name``, ``parent/name-2``, ``parent/name-3`` ... that does not exist."""
    folder, number = parent / name, 1
    while folder.exists():
        number += 1
        folder = parent / f"{name}-{number}"
    return folder
