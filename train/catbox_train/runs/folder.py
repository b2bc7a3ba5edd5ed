"""The run folder: created for a new run, opened for a resumed one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml
from filelock import FileLock, Timeout

from catbox_agents.networks.checkpoint import CHECKPOINTS_FOLDER
from catbox_agents.system.files import WriteError, write_atomically, writing
from catbox_train.config import TrainConfig
from catbox_train.registry import load_config, read_yaml
from catbox_train.runs.checkpoint import BEST_FOLDER

CONFIG_FILE = "config.yaml"
LOCK_FILE = ".lock"


def check_new(run: Path) -> None:
    """Raise ``FileExistsError`` if the folder holds a run."""
    if (run / CONFIG_FILE).exists():
        raise FileExistsError(
            f"{run} holds a training run already: resume it with --resume, or name another folder with --output"
        )


def start_run(run: Path, config: TrainConfig) -> Path:
    """Make the folder and write ``config.yaml``; returns the folder.

    Raises ``FileExistsError`` if it holds a run already, another ``OSError`` if it is not writable.
    """
    check_new(run)
    try:
        with writing(run):
            run.mkdir(parents=True, exist_ok=True)
        write_atomically(run / CONFIG_FILE, config.to_yaml().encode())
    except WriteError as error:
        raise WriteError(f"{error}; or name another folder with --output") from error
    return run


def open_run(run: Path, trust: bool = False) -> TrainConfig:
    """The configuration of the run in a folder; ``trust`` as in ``load_config``.

    Raises ``FileNotFoundError`` if there is none, ``ValueError`` if its settings are incomplete or invalid.
    """
    file = run / CONFIG_FILE
    if not file.is_file():
        raise FileNotFoundError(
            f"{run} holds no training run ({CONFIG_FILE} is missing): give the folder of one, or leave out --resume to "
            "start one"
        )
    config = load_config(file=file, trust=trust)
    given = read_yaml(file)
    missing = [name for name in type(config).model_fields if name not in given]
    if missing:
        raise ValueError(
            f"{file} lacks {', '.join(missing)}: restore what the run began with, or start a new run in another folder"
        )
    return config


def lengthen_run(run: Path, total_decisions: int) -> None:
    """Change the ``total_decisions`` of the run in a folder."""
    settings = read_yaml(run / CONFIG_FILE)
    if settings["total_decisions"] != total_decisions:
        settings["total_decisions"] = total_decisions
        write_atomically(run / CONFIG_FILE, yaml.safe_dump(settings, sort_keys=False).encode())


def remove_leftovers(run: Path) -> None:
    """Remove partly written files of a killed run from its folder. Only a process that has it ``locked`` may do so."""
    for folder in (run, run / CHECKPOINTS_FOLDER / BEST_FOLDER):
        for leftover in folder.glob(".*.writing"):
            with writing(leftover):
                leftover.unlink()


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Make the folder ``run`` if need be, and keep other processes from training in it until the end of the block.

    It is a system lock on the file ``.lock``: it ends with the process, however that ends, and a leftover file locks
    nothing. Raises ``OSError`` if another process holds it or the folder is not writable.
    """
    lock = FileLock(run / LOCK_FILE)
    try:
        with writing(run):
            run.mkdir(parents=True, exist_ok=True)
        with writing(run / LOCK_FILE), suppress(Timeout):
            lock.acquire(timeout=0)
    except WriteError as error:
        raise WriteError(f"{error}; or name another folder with --output") from error
    if not lock.is_locked:
        raise OSError(
            f"another process is training in this folder, {run}: wait for it or stop it, or name another folder with "
            "--output"
        )
    try:
        yield
    finally:
        lock.release()


def free_run_folder(parent: Path, name: str) -> Path:
    """Make and return the first of ``parent/name``, ``parent/name-2``, ``parent/name-3`` ... that does not exist.

    It is made at once, so that two runs that start together get two folders. Raises ``OSError`` if it cannot be made.
    """
    folder, number = parent / name, 1
    while True:
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            if parent.exists() and not parent.is_dir():
                raise WriteError(
                    f"cannot make {folder}: {parent} is not a folder; name one with --output"
                ) from None
            number += 1
            folder = parent / f"{name}-{number}"
        except OSError as error:
            raise WriteError(
                f"cannot make {folder}: {error.strerror or error}; name another folder with --output"
            ) from error
