"""`catbox replay`: a recorded game at the terminal, in the browser, as a page or as an animation."""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from catbox_agents import GameRecord, read_record
from catbox_agents.arena.terminal_tables import TerminalTable
from catbox_agents.search.action_values import WORLDS
from catbox_agents.system.files import write_atomically
from catbox_app.commands.web import NEEDED
from catbox_app.options import complete_words
from catbox_app.output import check_writable, games_progress, require
from catbox_app.review import Reviewed, costliest, summary
from catbox_app.review import review as reviewed
from catbox_app.terminal import Display, has_keys, read_key, single_keys
from catbox_app.web.exported import replay_page
from catbox_app.web.recording import RecordedGame
from catbox_app.web.tables import Tables
from catbox_env.core.checks import check_choice, check_seat
from catbox_env.pictures.sheet import MAX_WIDTH, MIN_WIDTH, THEMES

_web_option = functools.partial(typer.Option, rich_help_panel="In the browser")
_gif_option = functools.partial(typer.Option, rich_help_panel="As an animation")
#: Default seconds per move of an animation; ends of rounds and of the game are shown this many times as long.
SECONDS, LONGER = 1.0, 3
#: Default width of an animation in pixels.
WIDTH = 640
KEYS = (
    "right, space: next   left: back   down, up: next, last round   home, end: beginning, end   "
    "0-{last}: what this seat sees   a: all   q: quit"
)
#: What a recorded game calls a person.
PEOPLE = ("you", "person")
#: Half the width of the graph of a review, in characters.
BAR = 5
#: The most actions of a policy that are shown.
MAX_ACTIONS = 8


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
        str | None,
        typer.Option(
            "--seat",
            metavar="INT|all",
            help="Show only what this seat sees, from 0. With --review: whose decisions.",
            show_default="all hands open; --review: the person's, else all",
        ),
    ] = None,
    move: Annotated[
        int, typer.Option("--move", min=0, help="Start after this many moves, at most at the end.")
    ] = 0,
    review: Annotated[
        bool,
        typer.Option(
            "--review",
            help="What each decision was worth, by sampled worlds, and which cost most; with --html on that page.",
        ),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="With --review: print JSON.")] = False,
    web: Annotated[
        bool, _web_option("--web", help="Show it in the browser, with a coach. Ctrl-C stops the server.")
    ] = False,
    port: Annotated[
        int | None,
        _web_option(
            "--port",
            min=0,
            max=65535,
            help="With --web: the port of the page on 127.0.0.1.",
            show_default="any free port",
        ),
    ] = None,
    no_browser: Annotated[
        bool, _web_option("--no-browser", help="With --web: do not open a browser.")
    ] = False,
    html: Annotated[
        Path | None,
        _web_option(
            "--html",
            metavar="OUT",
            help="Write a page that shows it without a server, from every seat's view and with all hands open.",
            show_default="none",
        ),
    ] = None,
    gif: Annotated[
        Path | None, _gif_option("--gif", metavar="OUT", help="Write an animated GIF.", show_default="none")
    ] = None,
    width: Annotated[
        int | None,
        _gif_option(
            "--width",
            min=MIN_WIDTH,
            max=MAX_WIDTH,
            help="Width of the GIF in pixels; below 560, everything is in one column.",
            show_default=str(WIDTH),
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        _gif_option(
            "--seconds",
            min=0.05,
            max=60,
            help="Seconds per move; the end of a round is shown three times as long.",
            show_default=str(SECONDS),
        ),
    ] = None,
    theme: Annotated[
        str | None,
        _gif_option(
            "--theme",
            metavar="|".join(THEMES),
            help="Colours of the GIF.",
            show_default="light",
            autocompletion=complete_words(list(THEMES)),
        ),
    ] = None,
) -> None:
    """Show a recorded game: step forward and back, from any seat's view or with all hands open.

    On a terminal, keys step through it; elsewhere it is plain text. It can also be shown in the browser, or written as
    a page or an animation.

    [bold]Examples[/]

    catbox replay mine.jsonl

    catbox replay games.jsonl --game 7 --seat 2

    catbox replay mine.jsonl --review

    catbox replay mine.jsonl --web

    catbox replay mine.jsonl --html mine.html --review

    catbox replay mine.jsonl --gif mine.gif --seconds 0.5 --theme dark
    """
    modes = {"--review": review, "--web": web, "--html": html, "--gif": gif}
    chosen = [name for name, value in modes.items() if value]
    if len(chosen) > 1 and chosen != ["--review", "--html"]:
        raise ValueError(f"{' and '.join(chosen)}: give only one of them")
    _check_goes_with("--gif", gif, {"--width": width, "--seconds": seconds, "--theme": theme})
    _check_goes_with("--review", review, {"--json": json_ or None})
    if json_ and html:
        raise ValueError("--json and --html: give only one of them")
    _check_goes_with("--web", web, {"--port": port, "--no-browser": no_browser or None})
    theme = check_choice("--theme", theme or "light", tuple(THEMES))
    out = html or gif
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise ValueError(f"{out} is the file of games itself: give another name")
    check_writable(out)
    if web:
        require("catbox replay --web", NEEDED, "web")
    if gif is not None:
        require("catbox replay --gif", ["pyvips"], "render")
    record = read_record(file, game)
    viewer = None if seat in (None, "all") else _seat(str(seat), record.game.num_players)
    console = Console()
    decisions: list[Reviewed] = []
    if review:
        with games_progress("decisions") as progress:
            decisions = reviewed(record, _reviewed_seats(record, seat, viewer), progress)
    if review and out is None:
        _show_review(record, decisions, json_, console)
    elif web:
        shown = {"game": game, "number": move} | ({} if viewer is None else {"view": viewer})
        _show_in_browser(file, shown, port or 0, not no_browser, console)
    elif out is None:
        _show_at_terminal(record, console, viewer, move)
    else:
        with games_progress("pictures") as progress:
            if html is not None:
                content = replay_page(record, viewer, move, progress, decisions).encode()
            else:
                content = _gif(record, viewer, move, width or WIDTH, theme, seconds or SECONDS, progress)
        write_atomically(out, content)
        console.print(f"{out}: {len(record.actions)} moves, {len(content) / 1e6:.2f} MB", soft_wrap=True)


def _check_goes_with(what: str, given: object, options: dict[str, object]) -> None:
    """Raise ValueError if any of ``options`` is given without ``what``."""
    said = [name for name, value in options.items() if value is not None]
    if said and not given:
        raise ValueError(f"{', '.join(said)} without {what}: add {what}")


def _seat(text: str, num_players: int) -> int:
    if not text.isdecimal():
        raise ValueError(f"--seat {text}: expected a seat from 0 to {num_players - 1}, or all")
    return check_seat("seat", int(text), num_players)


def _reviewed_seats(record: GameRecord, said: str | None, seat: int | None) -> list[int]:
    """The seat that is ``said``, or by default that of the only person; otherwise all."""
    people = [seat for seat, name in enumerate(record.agents) if name in PEOPLE]
    if seat is None and said is None and len(people) == 1:
        return people
    return list(range(record.game.num_players)) if seat is None else [seat]


def _show_review(record: GameRecord, decisions: list[Reviewed], as_json: bool, console: Console) -> None:
    """Print what the ``decisions`` were worth."""
    if as_json:
        typer.echo(json.dumps([asdict(decision) for decision in decisions], indent=1))
        return
    name, several = record.game.action_to_string, len({decision.seat for decision in decisions}) > 1
    widest = max((abs(decision.lead) for decision in decisions), default=0.0) or 1.0
    table = TerminalTable("move", *["seat"] * several, "action", "lead", "", "cost", "better")
    for decision in decisions:
        bar = round(BAR * decision.lead / widest)
        graph = f"{'█' * -bar:>{BAR}}│{'█' * bar:<{BAR}}"
        cost = f"{decision.cost:.2f} ± {decision.interval:.2f}" if decision.is_mistake else ""
        better = name(decision.best) if decision.is_mistake else ""
        shown = (name(decision.action), f"{decision.lead:+.2f}", graph, cost, better)
        table.add_row(str(decision.number + 1), *[str(decision.seat)] * several, *shown)
    console.print(table)
    told = (
        "Lead: expected points minus the mean of the others' at the end of the round, with the rounds before; means "
        f"over {WORLDS} worlds that agree with what the seat sees, in which the heuristic plays on. Cost: how much "
        "more the best action would lead, where that is more than its error (95 %)."
    )
    console.print(Text(told, style="dim"))
    console.print(Text(summary(decisions)))
    for decision in costliest(decisions):
        who = f"player_{decision.seat}, " if several else ""
        cost = f"cost {decision.cost:.2f} ± {decision.interval:.2f}; {name(decision.best)} was better."
        console.print(Text(f"Move {decision.number + 1}: {who}{name(decision.action)} {cost}"))


def _show_in_browser(
    path: Path, shown: dict[str, int], port: int, opens_browser: bool, console: Console
) -> None:
    """Serve a file of games on 127.0.0.1 until Ctrl-C; ``shown``: what the page requests first."""
    from catbox_app.web.server import address_of, listen, serve, server_of, web_app  # needs the extra web

    host, key, tables = "127.0.0.1", secrets.token_urlsafe(16), Tables()
    tables.recordings[key] = path
    server = server_of(web_app(tables, host))
    listening = listen(host, port)
    address = f"{address_of(listening, host)}#{urlencode({'replay': key, **shown})}"
    console.print(Text(f"The game is at {address}   (Ctrl-C stops the server)"), soft_wrap=True)
    serve(server, listening, address if opens_browser else None)


def _gif(
    record: GameRecord,
    seat: int | None,
    first: int,
    width: int,
    theme: str,
    seconds: float,
    progress: Callable[[int, int], None],
) -> bytes:
    """The animated GIF of the positions from ``first`` actions on, ``seconds`` each."""
    from catbox_env.pictures.animation import animated_gif  # needs the extra render

    game = RecordedGame(record)
    pictures, durations = [], []
    for number in range(min(first, game.last), game.last + 1):
        pictures.append(record.game.render_svg(game.shown(number), seat, width, theme))
        ends = number == game.last or (number > 0 and game.states[number].round_ended)
        durations.append(LONGER * seconds if ends else seconds)
    return animated_gif(pictures, durations, progress)


def _show_at_terminal(record: GameRecord, console: Console, seat: int | None, move: int) -> None:
    """Show a game: on a terminal with keys, elsewhere as text from ``move`` to the end."""
    display = Display(console, record.game, record.agents, seat)
    game = RecordedGame(record)
    at = min(move, game.last)
    if console.is_terminal and has_keys():
        with single_keys():
            browse(game, display, at, read_key)
        return
    for number in range(at, game.last + 1):
        told, position = frame(game, display, number)
        console.print(Group(*told, Text(), position))


def browse(game: RecordedGame, display: Display, at: int, next_key: Callable[[], str]) -> None:
    """Show the position after ``at`` actions, and go where the keys lead, until q."""
    last, seats = game.last, game.record.game.num_players
    starts = [0, *(at for at, state in enumerate(game.states) if at and state.round_ended)]
    keys = Text(KEYS.format(last=seats - 1), style="dim")
    with Live(auto_refresh=False, console=display.console, screen=True) as live:
        while True:
            live.update(Group(keys, Text(), _side_by_side(*frame(game, display, at))), refresh=True)
            try:
                key = next_key().lower()
            except KeyboardInterrupt:
                return
            if key == "q":
                return
            if key == "a":
                display.viewer = None
            elif key.isdecimal() and int(key) < seats:
                display.viewer = int(key)
            following = min((start for start in starts if start > at), default=last)
            before = max((start for start in starts if start < at), default=0)
            leads = {"right": at + 1, "left": at - 1, "down": following, "up": before, "home": 0, "end": last}
            at = max(0, min(leads.get(key, at), last))


def _side_by_side(told: list[Text], position: Text) -> Group:
    """The headline of the position, and below it the rest, with what happened on the right."""
    headline, _, body = position.plain.partition("\n")
    table = Table.grid(padding=(0, 3))
    table.add_column(no_wrap=True)
    table.add_column()
    skipped = len(headline) + 1 + len(body) - len(body.lstrip("\n"))
    table.add_row(position[skipped:], Group(*told))
    return Group(position[: len(headline)], Text(), table)


def frame(game: RecordedGame, display: Display, at: int) -> tuple[list[Text], Text]:
    """What the last of ``at`` actions did, and the position after it, or the end of the round that it ended."""
    view = "all hands open" if display.viewer is None else f"as player_{display.viewer} sees it"
    lines = [Text(f"move {at} of {game.last}, {view}", style="dim")]
    lines += display.lines(game.events(at, display.viewer))
    policy = game.record.policies[at - 1] if at else None
    if policy is not None and display.viewer in (None, game.states[at - 1].current_player):
        likely = sorted(policy, key=lambda pair: -pair[1])[:MAX_ACTIONS]
        told = ", ".join(f"{display.game.action_to_string(action)} {chance:.0%}" for action, chance in likely)
        lines.append(Text(f"  its policy: {told}", style="dim"))
    return lines, display.position(game.shown(at))
