"""The folder of an arena: its settings, and every finished block of deals.

``arena.json`` says what is played; ``blocks.jsonl`` gets a line for each finished block, with a checksum and the
fingerprints of its agents, and is never rewritten. Blocks with an agent that has changed since are not read. If the
process is killed while writing, the last line is incomplete; it is cut off when the arena resumes.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import UserDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from catbox_agents.arena.results import Block
from catbox_agents.arena.seatings import DEAL_SETS, Seating, Task
from catbox_agents.system.files import check_format, parse_json, read_text, write_atomically, writing

#: The format of the folder.
FORMAT = "catbox-arena-2"
SETTINGS_FILE, BLOCKS_FILE = "arena.json", "blocks.jsonl"
_REMEDY = "give another --output folder"
#: Deal sets by seed, to name them in messages.
_NAME_OF_SEED = {seed: name for name, seed in DEAL_SETS.items()}


class Store(UserDict[Task, Block]):
    """The finished blocks by task; setting one writes it. A context manager that locks the folder.

    The records of their games are in the file alone, see `games`. ``fingerprints``: of the
    agents. Raises ``ValueError`` for a folder of another arena, for one in use, and for damaged files.
    """

    def __init__(
        self, folder: Path, settings: dict[str, Any], seatings: Sequence[Seating], fingerprints: Sequence[str]
    ) -> None:
        super().__init__()
        self.folder = folder
        self._agents = [[fingerprints[agent] for agent in seating.agents] for seating in seatings]
        self._places: dict[Task, int] = {}  # the offset of each task's line
        self._settings = json.loads(json.dumps({"format": FORMAT, **settings}))
        self._file: BinaryIO | None = None

    def __enter__(self) -> Store:
        from filelock import FileLock, Timeout  # in the extra arena

        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / "arena.lock", blocking=False)
            try:
                self._lock.acquire()
            except Timeout:
                raise ValueError(f"{self.folder}: another arena is playing there; {_REMEDY}") from None
        try:
            self._check_settings()
            with writing(self.folder / BLOCKS_FILE):
                self._file = open(self.folder / BLOCKS_FILE, "a+b")
            self._read()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self._file is not None:
                # Retry what could not be written before.
                with writing(self.folder / BLOCKS_FILE):
                    self._file.close()
        finally:
            self._lock.release()

    def __setitem__(self, task: Task, block: Block) -> None:
        assert self._file is not None  # inside the context
        played = {"task": [task.seating, task.first, task.num_deals], "agents": self._agents[task.seating]}
        body = {**played, **block.as_dict(), "games": block.games}
        text = json.dumps(body, separators=(",", ":")).encode()
        with writing(self.folder / BLOCKS_FILE):
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(b"%08x %b\n" % (zlib.crc32(text), text))
            self._file.flush()
        self._places[task] = place
        self.data[task] = replace(block, games=[])  # the file has them

    def all_games(self) -> Iterator[dict[str, Any]]:
        """The records of the games of all blocks by deal; of blocks that begin with the same deal, the longest."""
        longest = {(task.first, task.seating): task for task in sorted(self, key=lambda task: task.num_deals)}
        for _, task in sorted(longest.items()):
            yield from self.games(task)

    def games(self, task: Task) -> list[Any]:
        """The records of the games of a block."""
        assert self._file is not None  # inside the context
        self._file.seek(self._places[task])
        games: list[Any] = _parsed(self._file.readline())["games"]
        return games

    def _check_settings(self) -> None:
        path = self.folder / SETTINGS_FILE
        if not path.exists():
            others = sorted(other.name for other in self.folder.iterdir() if other.name != "arena.lock")
            if others:
                raise ValueError(
                    f"{self.folder} is not empty ({', '.join(others[:3])}) and not the folder of an arena; {_REMEDY}"
                )
            write_atomically(path, (json.dumps(self._settings, indent=1) + "\n").encode())
            return
        try:
            stored = parse_json(read_text(path))
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}); {_REMEDY}") from None
        check_format(str(path), stored.get("format") if isinstance(stored, dict) else None, FORMAT, _REMEDY)
        for name, new in self._settings.items():
            if (old := stored.get(name)) != new:
                if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
                    both = zip(old, new, strict=True)
                    old, new = zip(*(pair for pair in both if pair[0] != pair[1]), strict=True)
                elif isinstance(new, dict) and isinstance(old, dict):
                    old, new = (
                        {key: value for key, value in one.items() if other.get(key) != value}
                        for one, other in ((old, new), (new, old))
                    )
                elif name == "seed":
                    name = "deals (--deal-set or --seed)"
                    old, new = (_NAME_OF_SEED.get(seed, seed) for seed in (old, new))
                raise ValueError(
                    f"{self.folder} holds another arena: its {name} {_brief(old)}, requested now {_brief(new)}; "
                    f"{_REMEDY}, or give the same agents, rules and deals"
                )

    def _read(self) -> None:
        """Read the finished blocks, and cut off an incomplete line."""
        assert self._file is not None  # inside the context
        path = self.folder / BLOCKS_FILE
        self._file.seek(0)
        place = 0
        for number, line in enumerate(iter(self._file.readline, b""), 1):
            if not line.endswith(b"\n"):
                with writing(path):
                    self._file.truncate(place)
                break
            try:
                body = _parsed(line)
                task = Task(*body["task"])
                if body["agents"] == self._agents[task.seating]:
                    self.data[task], self._places[task] = Block.from_dict(body), place
            except (ValueError, LookupError, TypeError) as error:
                raise ValueError(
                    f"{path}, line {number}: it is damaged ({type(error).__name__}: {error}); {_REMEDY}, or delete "
                    "this line to play its deals again"
                ) from None
            place += len(line)


def _parsed(line: bytes) -> dict[str, Any]:
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        raise ValueError("its checksum does not match")
    body: dict[str, Any] = json.loads(text)
    return body


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:300]}..."
