"""`catbox web`: a table in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from catbox_app.options import complete_agent
from catbox_app.preconditions import require

#: What the server needs beyond the command line, by import name.
NEEDED = ("starlette", "uvicorn", "websockets")


def web(
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help="An agent that can be chosen besides those that come with catbox, such as a checkpoint's path or "
            "package.module:Class; may be repeated.",
            autocompletion=complete_agent,
            show_default="none",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. 127.0.0.1 is reached from this machine alone; 0.0.0.0 from everywhere."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")
    ] = 8000,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="Keep the tables in this folder, so that they go on when the server is started again. Who can read it "
            "can play every seat.",
            show_default="they end with the server",
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
) -> None:
    """Play in the browser, alone against agents or several people at one table. Ctrl-C ends it.

    [bold]Examples[/]

    catbox web

    catbox web --agent runs/quick --port 8080

    catbox web --host 0.0.0.0 --no-browser
    """
    require("catbox web", NEEDED, "web")
    from catbox_agents.specs import check_spec, load_parts
    from catbox_app.web.guard import is_local
    from catbox_app.web.kept import KeptTables
    from catbox_app.web.server import get_ready, web_app
    from catbox_app.web.serving import address_of, listen, serve
    from catbox_app.web.tables import Tables

    for spec in agent or []:
        check_spec(spec)
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
    with listen(host, port) as listening:
        address = address_of(listening, host)
        console.print(Text(f"The table is at {address}   (Ctrl-C ends it)"), soft_wrap=True)
        if not is_local(host):
            warning = (
                f"Listening on {host}: everybody who reaches this machine can open tables and let agents think here. "
                "Nothing is encrypted: who can listen to your network can read the links of the seats, and so see the "
                "cards. Use this in a network that you trust."
            )
            console.print(Text(warning, style="yellow"), soft_wrap=True)
        with console.status(
            "Getting the games ready: the first time they are compiled, which takes minutes."
        ):
            get_ready()
        serve(web_app(open_tables, host, kept), listening, None if no_browser else address)
