"""Tables in a folder, one file each, so that a server that was stopped goes on with them.

A file holds a JSON object: ``format``, ``game`` and ``options``, ``specs``, ``seed``, ``keys``, ``pace``, and the
``actions`` with their ``policies``. Who can read it can play every seat: files are readable by their owner alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import catbox_env
from catbox_agents.files import check_format, parse_json, read_text, write_atomically, writing
from catbox_app.web.reading import number_of
from catbox_app.web.table import LONGEST_PAUSE, Table, new_match

FORMAT = "catbox-table-1"


def check_folder(folder: Path) -> None:
    """Make ``folder`` where there is none. Raises `WriteError` where that is not possible."""
    with writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def content_of(table: Table) -> bytes:
    """What is kept of a table."""
    match = table.match
    kept = {
        "format": FORMAT,
        "game": match.game.id,
        "options": match.game.options,
        "specs": table.specs,
        "seed": match.seed,
        "keys": table.keys,
        "pace": table.pace,
        "actions": match.actions,
        "policies": match.policies,
    }
    return json.dumps(kept, separators=(",", ":")).encode()


def file_of(folder: Path, table: Table) -> Path:
    """Where a table is kept: its name says nothing about its keys."""
    keys = sorted(key for key in table.keys if key is not None)
    return folder / f"{hashlib.sha256(' '.join(keys).encode()).hexdigest()[:24]}.json"


def keep(path: Path, content: bytes) -> None:
    """Write a file for its owner alone. Raises `WriteError`."""
    write_atomically(path, content)
    with writing(path):
        os.chmod(path, 0o600)


def read_kept(folder: Path, clock: Callable[[], float]) -> tuple[list[Table], list[str]]:
    """The tables of a folder, and why others could not be read: these files stay as they are."""
    tables, problems = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            tables.append(_read(path, clock))
        except (OSError, ValueError, TypeError, KeyError) as error:
            problems.append(f"{path}: this table cannot be taken up again: {error}")
    return tables, problems


def _read(path: Path, clock: Callable[[], float]) -> Table:
    kept: dict[str, Any] = parse_json(read_text(path))
    check_format(str(path), kept["format"], FORMAT, "remove it")
    game = catbox_env.make_game(kept["game"], **kept["options"])
    match = new_match(game, kept["specs"], kept["seed"])
    match.play_on(kept["actions"], kept["policies"])
    pace, keys = number_of(kept, "pace", 0, LONGEST_PAUSE), kept["keys"]
    if [key is None for key in keys] != [agent is not None for agent in match.agents]:
        raise ValueError("keys: expected one for each seat of a person, null for each of an agent")
    return Table(match, kept["specs"], pace, clock, keys)
