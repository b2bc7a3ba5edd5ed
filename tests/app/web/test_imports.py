"""What the table needs: no server, no command line, no torch, so that it runs in a page too."""

from __future__ import annotations

import subprocess
import sys

from tests.app.table import ENVIRONMENT

PROGRAM = """
import sys
from catbox_app.web.connection import Connection
from catbox_app.web.tables import Tables
tables, told = Tables(), []
connection = Connection(tables, told.append)
connection.receive({"type": "lobby"})
connection.receive({"type": "open", "game": "petrify_v0", "players": 2, "seats": ["person", "best"], "pace": 0})
tables.run_due()
connection.receive({"type": "join", "seat_key": told[-1]["seats"][0]["key"]})
connection.receive({"type": "coach", "agent": "best", "shows": "policy"})
tables.run_due()
assert told[-1]["type"] == "coach", told[-1]
import catbox_app.commands.web, catbox_app.web.server
found = [name for name in ("torch", "matplotlib", "starlette", "uvicorn", "typer") if name in sys.modules]
print(found)
"""


def test_the_server_needs_no_torch() -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    ran = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    assert ran.stdout == "['starlette', 'uvicorn', 'typer']\n"
