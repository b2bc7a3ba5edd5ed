"""`catbox web`: a table in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from catbox_agents.specs import load_parts
from catbox_app.options import complete_agent
from catbox_app.output import require
from catbox_app.web.kept import KeptTables
from catbox_app.web.tables import Tables

#: What the server needs beyond the command line, by import name.
NEEDED = ("starlette", "uvicorn", "websockets")


def web(
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help="An agent to offer besides the bundled ones, such as a checkpoint's path or package.module:Class; may "
            "be repeated.",
            autocompletion=complete_agent,
            show_default="none",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for every network."
        ),
    ] = "127.0.0.1",
    url: Annotated[
        str | None,
        typer.Option(help="Address at which others reach it, as through a proxy.", show_default="none"),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")] = 8000,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="Keep the tables in this folder, so that they survive a restart of the server. Whoever can read it "
            "can play every seat.",
            show_default="lost when the server stops",
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Play in the browser, against agents or with other people at one table. Ctrl-C stops the server.

    [bold]Examples[/]

    catbox web

    catbox web --agent runs/quick --port 8080

    catbox web --host 0.0.0.0 --no-browser
    """
    require("catbox web", NEEDED, "web")
    # It needs the extra web.
    from catbox_app.web.guard import check_url
    from catbox_app.web.server import (
        address_for_others,
        address_of,
        get_ready,
        listen,
        serve,
        server_of,
        web_app,
    )

    url = url and check_url(url)
    for spec in agent or []:
        load_parts(spec)
    console = Console()
    open_tables = Tables(agent or [], are_kept=tables is not None)
    kept = None
    if tables is not None:
        kept = KeptTables(tables)
        found, problems = kept.read(open_tables.clock, open_tables.also)
        for table in found:
            open_tables.add(table)
        for problem in problems:
            console.print(Text(problem, style="yellow"), soft_wrap=True)
    listen(host, port).close()  # what cannot be used is told before the games are compiled
    with console.status("Preparing the games: the first time they are compiled, which takes minutes."):
        get_ready()
    server = server_of(web_app(open_tables, host, kept, url))
    with listen(host, port) as listening:
        address = address_of(listening, host)
        console.print(Text(f"The table is at {address}   (Ctrl-C stops the server)"), soft_wrap=True)
        open_tables.address = url or address_for_others(listening, host)
        if open_tables.address is not None:
            console.print(Text(f"Others reach it at {open_tables.address}"), soft_wrap=True)
            warning = "Anyone who can reach it can open tables and run agents on this machine."
            if not open_tables.address.startswith("https:"):
                warning += (
                    " Nothing is encrypted: anyone who can read your network traffic can get the seat links, and so "
                    "see the cards. Use this only on a network that you trust."
                )
            console.print(Text(warning, style="yellow"), soft_wrap=True)
        serve(server, listening, None if no_browser else address)
