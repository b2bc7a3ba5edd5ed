"""`catbox replay`: a recorded game at the terminal, in the browser, as a page or as an animation."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.console import Console
from rich.text import Text

from catbox_agents import read_record
from catbox_agents.files import write_atomically
from catbox_app.commands.web import NEEDED
from catbox_app.options import complete_words
from catbox_app.output import games_progress
from catbox_app.preconditions import check_writable, require
from catbox_app.recorded import SECONDS, WIDTH, game_gif
from catbox_app.terminal.replay import replay as replay_at_terminal
from catbox_env.core.checks import check_choice, check_seat
from catbox_env.pictures.sheet import MAX_WIDTH, MIN_WIDTH, THEMES

_HOST = "127.0.0.1"
WEB_PANEL, GIF_PANEL = "In the browser", "As an animation"


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="File of games, written by catbox play --save, watch --save, web or arena --record.",
            show_default=False,
        ),
    ],
    game: Annotated[int, typer.Option("--game", help="Number of the game in the file, from 1.")] = 1,
    seat: Annotated[
        int | None,
        typer.Option("--seat", help="Show only what this seat sees, from 0.", show_default="all hands open"),
    ] = None,
    move: Annotated[
        int, typer.Option("--move", min=0, help="Start after this many moves, at most at the end.")
    ] = 0,
    web: Annotated[
        bool,
        typer.Option(
            "--web",
            help="Show it in the browser, with a coach. Ctrl-C stops the server.",
            rich_help_panel=WEB_PANEL,
        ),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="With --web: the port of the page on 127.0.0.1.",
            show_default="any free port",
            rich_help_panel=WEB_PANEL,
        ),
    ] = None,
    no_browser: Annotated[
        bool,
        typer.Option("--no-browser", help="With --web: do not open a browser.", rich_help_panel=WEB_PANEL),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="OUT",
            help="Write a page that shows it without a server, from every seat's view and with all hands open.",
            show_default="none",
            rich_help_panel=WEB_PANEL,
        ),
    ] = None,
    gif: Annotated[
        Path | None,
        typer.Option(
            "--gif",
            metavar="OUT",
            help="Write an animated GIF.",
            show_default="none",
            rich_help_panel=GIF_PANEL,
        ),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            "--width",
            min=MIN_WIDTH,
            max=MAX_WIDTH,
            help="Width of the GIF in pixels; below 560, everything is in one column.",
            show_default=str(WIDTH),
            rich_help_panel=GIF_PANEL,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.05,
            max=60,
            help="Seconds per move; the end of a round is shown three times as long.",
            show_default=str(SECONDS),
            rich_help_panel=GIF_PANEL,
        ),
    ] = None,
    theme: Annotated[
        str | None,
        typer.Option(
            "--theme",
            metavar="|".join(THEMES),
            help="Colours of the GIF.",
            show_default="light",
            autocompletion=complete_words(list(THEMES)),
            rich_help_panel=GIF_PANEL,
        ),
    ] = None,
) -> None:
    """Show a recorded game: step forward and back, from any seat's view or with all hands open.

    On a terminal, keys step through it; elsewhere it is plain text. It can also be shown in the browser, or written as
    a page or an animation.

    [bold]Examples[/]

    catbox replay mine.jsonl

    catbox replay games.jsonl --game 7 --seat 2

    catbox replay mine.jsonl --web

    catbox replay mine.jsonl --html mine.html

    catbox replay mine.jsonl --gif mine.gif --seconds 0.5 --theme dark
    """
    chosen = [name for name, value in (("--web", web), ("--html", html), ("--gif", gif)) if value]
    if len(chosen) > 1:
        raise ValueError(f"{' and '.join(chosen)}: give only one of them")
    _check_goes_with("--gif", gif, {"--width": width, "--seconds": seconds, "--theme": theme})
    _check_goes_with("--web", web, {"--port": port, "--no-browser": no_browser or None})
    theme = check_choice("--theme", theme or "light", tuple(THEMES))
    out = html or gif
    if out is not None:
        if out.exists() and file.exists() and out.samefile(file):
            raise ValueError(f"{out} is the file of games itself: give another name")
        check_writable(out)
    if web:
        require("catbox replay --web", NEEDED, "web")
    if gif is not None:
        require("catbox replay --gif", ["pyvips"], "render")
    record = read_record(file, game)
    if seat is not None:
        check_seat("seat", seat, record.game.num_players)
    console = Console()
    if web:
        _show_in_browser(file, game, seat, move, port or 0, not no_browser, console)
    elif out is None:
        replay_at_terminal(record, console, seat, move)
    else:
        with games_progress(Console(stderr=True), "pictures") as progress:
            if html is not None:
                from catbox_app.web.exported import replay_page

                content = replay_page(record, seat, move, progress).encode()
            else:
                content = game_gif(record, seat, move, width or WIDTH, theme, seconds or SECONDS, progress)
        write_atomically(out, content)
        console.print(f"{out}: {len(record.actions)} moves, {len(content) / 1e6:.2f} MB", soft_wrap=True)


def _check_goes_with(what: str, given: object, options: dict[str, object]) -> None:
    """Raise ValueError if any of ``options`` is given without ``what``."""
    said = [name for name, value in options.items() if value is not None]
    if said and not given:
        raise ValueError(f"{', '.join(said)} without {what}: add {what}")


def _show_in_browser(
    path: Path,
    game_number: int,
    seat: int | None,
    number: int,
    port: int,
    opens_browser: bool,
    console: Console,
) -> None:
    """Serve a file of games on 127.0.0.1 until Ctrl-C.

    ``game_number``, ``seat``, ``number``: what to show first: which game, whose view (None: all hands open), after how
    many actions. ``port`` 0: any free port. Raises ``ValueError`` for a port that cannot be used.
    """
    from catbox_app.web.server import web_app
    from catbox_app.web.serving import address_of, listen, serve
    from catbox_app.web.tables import Tables

    tables = Tables()
    key = secrets.token_urlsafe(16)
    tables.recordings[key] = path
    asked = {"replay": key, "game": game_number, "number": number}
    if seat is not None:
        asked["view"] = seat
    listening = listen(_HOST, port)
    address = f"{address_of(listening, _HOST)}#{urlencode(asked)}"
    console.print(Text(f"The game is at {address}   (Ctrl-C stops the server)"), soft_wrap=True)
    serve(web_app(tables, _HOST), listening, address if opens_browser else None)
