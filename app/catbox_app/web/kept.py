"""Tables in a folder, one file each, so that they survive a restart of the server.

A file holds a JSON object: ``format``, ``game`` and ``options``, ``specs``, ``seed``, ``keys``, ``host``, ``coach``,
``pace``, ``guide``, and the ``actions`` with their ``policies``. Whoever can read it can play every seat: only the
owner may read the files.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import catbox_env
from catbox_agents.system.files import (
    WriteError,
    check_format,
    parse_json,
    read_text,
    write_atomically,
    writing,
)
from catbox_app.web.lobby import check_opponent
from catbox_app.web.messages import number_of, text_of
from catbox_app.web.table import LONGEST_PAUSE, PERSON, Table, new_match
from catbox_env.core.checks import check_flag, check_integer, check_number

FORMAT = "catbox-table-1"


class KeptTables:
    """The files of tables in ``folder``, which is made if missing. Raises `WriteError` if it cannot be made."""

    def __init__(self, folder: Path) -> None:
        with writing(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._written: dict[Path, int] = {}

    def read(self, clock: Callable[[], float], also: Sequence[str] = ()) -> tuple[list[Table], list[str]]:
        """The stored tables, and why others could not be read; those files stay as they are.

        Their agents must be ones that a page may name, or among ``also``: a file cannot have a module imported.
        """
        tables: list[Table] = []
        problems = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                table = _read(path, clock, also)
                if any(key in other.keys for other in tables for key in table.keys if key is not None):
                    raise ValueError("another file has the same keys")
            except (OSError, ValueError, TypeError, KeyError) as error:
                problems.append(f"{path}: this table cannot be restored: {error}")
            else:
                tables.append(table)
                self._written[path] = table.changes
        return tables, problems

    def changes(self, tables: Iterable[Table]) -> dict[Path, bytes | None]:
        """What `write` has to do since the last call: the new content of each file, or None if its table is closed."""
        files = {self._file_of(table): table for table in tables}
        found: dict[Path, bytes | None] = dict.fromkeys(self._written.keys() - files.keys())
        for path, table in files.items():
            if self._written.get(path) != table.changes:
                kept = {
                    "format": FORMAT,
                    "game": table.game.id,
                    "options": table.game.options,
                    "specs": table.specs,
                    "seed": table.match.seed,
                    "keys": table.keys,
                    "host": table.host,
                    "coach": table.allows_coach,
                    "pace": table.pace,
                    "guide": table.is_guided,
                    "actions": table.match.actions,
                    "policies": table.match.policies,
                }
                found[path] = json.dumps(kept, separators=(",", ":")).encode()
        self._written = {path: table.changes for path, table in files.items()}
        return found

    def _file_of(self, table: Table) -> Path:
        """The file of a table; its name does not reveal the keys."""
        keys = sorted(key for key in table.keys if key is not None)
        return self._folder / f"{hashlib.sha256(' '.join(keys).encode()).hexdigest()[:24]}.json"


def write(changes: dict[Path, bytes | None]) -> None:
    """Write files that only their owner may read, and remove others. Reports failures on standard error."""
    # New contents first: on a full disk nothing is removed that has not been written under its new name.
    for path, content in sorted(changes.items(), key=lambda change: change[1] is None):
        try:
            with writing(path):
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    write_atomically(path, content)
                    path.chmod(0o600)
        except WriteError as error:
            print(f"catbox: {error}", file=sys.stderr)


def _read(path: Path, clock: Callable[[], float], also: Sequence[str]) -> Table:
    if not path.is_file():  # opening a named pipe would block until somebody writes to it
        raise ValueError("not a regular file")
    kept: dict[str, Any] = parse_json(read_text(path))
    check_format(str(path), kept["format"], FORMAT, "remove it")
    game = catbox_env.make_game(kept["game"], **kept["options"])
    specs = [text_of({"specs": spec}, "specs") for spec in kept["specs"]]
    for spec in specs:
        if spec != PERSON:
            check_opponent(spec, also)
    match = new_match(game, specs, kept["seed"])
    for policy in kept["policies"]:
        for action, probability in policy or ():
            check_integer("policies: action", action, 0)
            check_number("policies: probability", probability, "a number from 0 to 1", high=1.0)
    match.play_on(kept["actions"], kept["policies"])
    pace = number_of(kept, "pace", 0, LONGEST_PAUSE)
    keys = [None if key is None else text_of({"keys": key}, "keys", shortest=16) for key in kept["keys"]]
    given = [key for key in keys if key is not None]
    if [key is None for key in keys] != [spec != PERSON for spec in specs] or len(set(given)) < len(given):
        raise ValueError("keys: expected a different one for each person's seat, null for each agent's")
    table = Table(match, specs, pace, clock, keys, check_flag("guide", kept.get("guide", False)))
    table.host, table.allows_coach = kept.get("host"), check_flag("coach", kept.get("coach", True))
    if table.host not in [None, *given]:
        raise ValueError("host: expected one of the keys, or null")
    return table
