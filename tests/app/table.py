"""Commands typed at the terminal, and the smallest game to type them at."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import catbox_env
from catbox_app.cli import app

ROOT = Path(__file__).resolve().parent.parent.parent
#: What a process is started with, so that it finds these packages.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in (".", "agents", "train", "app")),
    "COLUMNS": "200",
}
#: The installed command, as a program of Python.
CATBOX = ("-c", "from catbox_app.__main__ import main; main()")
#: Two players, three cards each, one trick.
TINY = ["--players", "2"]
for rule in ("num_ranks=3", "num_colors=2", "copies=3", "hand_size=3", "bids=0,1", "revealed_cards=0"):
    TINY += ["--rule", rule]


def run(*arguments: str, typed: str | None = None, columns: int = 200) -> Any:
    return CliRunner().invoke(
        app, list(arguments), input=typed, env={"COLUMNS": str(columns)}, catch_exceptions=False
    )


def refused(*arguments: str) -> str:
    """The one message of a command that is refused: exit code 2, nothing else said."""
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout) == (2, ""), ran.output
    assert ran.stderr.startswith("catbox: ")
    return str(ran.stderr)


def whole_game(players: int, **options: Any) -> str:
    """Lines that end any game: every id in turn, over and over; what is illegal is refused and asked again."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)
    return "".join(f"#{action}\n" for action in range(game.num_actions)) * game.max_game_length


def at_terminal(arguments: Sequence[str], keys: Sequence[str], seconds: float = 120.0) -> tuple[str, int]:
    """What the command writes to a terminal, without colours, and its exit code.

    ``keys``: typed one after the other, each when the command has written something and then waits.
    """
    ours, theirs = pty.openpty()
    program = [sys.executable, *CATBOX, *arguments]
    environment = {**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    process = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    written, waiting, left = b"", False, list(keys)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.3)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            written, waiting = written + data, True
        elif waiting and left:
            os.write(ours, left.pop(0).encode())
            waiting = False
        elif process.poll() is not None:
            break
    process.kill() if process.poll() is None else None
    os.close(ours)
    return plain(written.decode(errors="replace")), process.wait()


def plain(text: str) -> str:
    """``text`` without what moves the cursor and sets colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)
