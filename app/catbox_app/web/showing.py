"""`catbox replay --web`: the server of the browser table, with a recorded game to begin with."""

from __future__ import annotations

import secrets
from pathlib import Path
from urllib.parse import urlencode

from rich.console import Console
from rich.text import Text

from catbox_app.web.server import web_app
from catbox_app.web.serving import address_of, listen, serve
from catbox_app.web.tables import Tables

_HOST = "127.0.0.1"


def show_file(
    path: Path,
    game_number: int,
    seat: int | None,
    number: int,
    port: int,
    opens_browser: bool,
    console: Console,
) -> None:
    """Serve a file of games on 127.0.0.1 until Ctrl-C.

    ``game_number``, ``seat``, ``number``: what is shown at first: which game, whose view (None: all open), after how
    many actions. ``port`` 0: any that is free. Raises ``ValueError`` for a port that cannot be used.
    """
    tables = Tables()
    key = secrets.token_urlsafe(16)
    tables.recordings[key] = path
    asked = {"replay": key, "game": game_number, "number": number}
    if seat is not None:
        asked["view"] = seat
    listening = listen(_HOST, port)
    address = f"{address_of(listening, _HOST)}#{urlencode(asked)}"
    console.print(Text(f"The game is at {address}   (Ctrl-C ends it)"), soft_wrap=True)
    serve(web_app(tables, _HOST), listening, address if opens_browser else None)
