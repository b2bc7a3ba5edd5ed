"""The server of `catbox web`: it serves the page, and a WebSocket to each open one; the socket that it listens on.

One thread handles messages, and only it touches tables. Agents and coaches think in others (`Job`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import threading
import time
import traceback
import webbrowser
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

import catbox_env
from catbox_agents import AgentError
from catbox_app.rules import REWARD
from catbox_app.web import STATIC
from catbox_app.web.coach import Job
from catbox_app.web.connection import Connection
from catbox_app.web.guard import Guard, is_local
from catbox_app.web.kept import KeptTables, write
from catbox_app.web.lobby import lobby
from catbox_app.web.messages import Message
from catbox_app.web.table import new_match
from catbox_app.web.tables import Tables

#: The most pages open at once.
MAX_PAGES = 400
#: The largest message that is accepted, in bytes: a file of records.
LARGEST_MESSAGE = 8 << 20
#: The most characters of messages that wait for a page; one with more does not read them, and is given up.
MAX_WAITING = 4 << 20
NOT_READ = "This page has not read its messages."
#: Seconds that closing such a page may take.
CLOSING_SECONDS = 5.0
#: After each message a page waits this many times as long as its answer took: one thread answers all pages.
SHARE = 4
#: Jobs start one after the other: parallel ones would slow down the thread that answers pages. But after this many
#: seconds the next one starts anyway, so that a slow agent does not hold up other tables.
PATIENCE = 0.3
#: The most jobs that run at once.
THINKERS = 32
#: Seconds that a thinking thread may keep the one that answers pages waiting. Python's default of 5 ms adds up.
SWITCH_SECONDS = 0.0005
#: Seconds until a connection whose request is incomplete is closed.
REQUEST_SECONDS = 20.0
#: Tells a page that gets no WebSocket, and asks over HTTP.
NO_UPGRADE = "A proxy lets no WebSocket through: it must pass on the headers Upgrade and Connection."


def get_ready() -> None:
    """Compile or load what the messages of every game need: otherwise the first page would wait, and all others too."""
    lobby([], "light")
    for game_id in catbox_env.GAMES:
        game = catbox_env.make_game(game_id, reward=REWARD)
        match = new_match(game, ["random"] * game.num_players, 0)
        match.play_agent()
        match.events(0)


class JobRunner:
    """Runs the jobs of ``tables`` in threads, and handles their results in the event loop.

    ``kept``: keeps the tables in files; None: they are lost when the server stops.
    """

    def __init__(self, tables: Tables, kept: KeptTables | None = None) -> None:
        self.tables, self._kept = tables, kept
        self.pages = 0
        self._thinkers = asyncio.Semaphore(THINKERS)
        self._turn = asyncio.Semaphore(1)
        self._changed = asyncio.Event()
        self.ends = False
        self._running: set[asyncio.Task[None]] = set()

    def wake(self) -> None:
        """Look for jobs, because something has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Run jobs until ``ends`` is set, then write all tables."""
        keeping = asyncio.create_task(self._keep())
        while not self.ends:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), self.tables.seconds_to_wait())
            self._changed.clear()
            for job in self.tables.due():
                task = asyncio.create_task(self._run(job))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            if keeping.done():
                await keeping  # raises what went wrong
                keeping = asyncio.create_task(self._keep())
        await keeping
        await self._keep()  # what has changed while the last files were written

    async def _keep(self) -> None:
        """Write what has changed, in a thread: a slow disk holds up no table."""
        if self._kept is not None and (changes := self._kept.changes(self.tables)):
            await asyncio.to_thread(write, changes)
            self.wake()  # for what has changed meanwhile

    async def _run(self, job: Job) -> None:
        found: Future[Any] = Future()

        def think() -> None:
            try:
                found.set_result(job.think())
            except BaseException as error:  # noqa: BLE001  (it is reported below)
                found.set_exception(error)

        async with self._thinkers:
            async with self._turn:
                # A daemon thread does not keep the program from exiting.
                threading.Thread(target=think, name="catbox-thinks", daemon=True).start()
                thought = asyncio.wrap_future(found)
                await asyncio.wait({thought}, timeout=PATIENCE)
            await asyncio.wait({thought})
        error = thought.exception()
        if error is None:
            job.finish(thought.result())
        elif isinstance(error, ValueError):
            if isinstance(error, AgentError):
                print(error.agent_traceback(), file=sys.stderr, end="")
            job.fail(error)
        else:  # such as an agent's module that cannot be imported: the terminal shows the traceback
            traceback.print_exception(error)
            job.fail(ValueError(f"{type(error).__name__}: {error}"))
        self.wake()


def web_app(
    tables: Tables, host: str = "127.0.0.1", kept: KeptTables | None = None, url: str | None = None
) -> Starlette:
    """The ASGI application. ``host``, ``url``: as for `Guard`; ``kept``: keeps the tables."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.runner = runner = JobRunner(tables, kept)
        running = asyncio.create_task(runner.run())
        try:
            yield
        finally:
            runner.ends = True
            runner.wake()
            await running

    routes = [
        WebSocketRoute("/ws", serve_page),
        Route("/ws", PlainTextResponse(NO_UPGRADE, 426, {"Upgrade": "websocket"})),
        Mount("/", StaticFiles(directory=STATIC, html=True)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, host=host, url=url)], lifespan=lifespan)


class Waiting:
    """The messages that wait for a page, as JSON text.

    ``is_full`` is set when more than ``MAX_WAITING`` characters were waiting: no message is accepted any more.
    """

    def __init__(self) -> None:
        self.is_full = asyncio.Event()
        self._size = 0
        self._texts: asyncio.Queue[str] = asyncio.Queue()

    def put(self, message: Message) -> None:
        """Add a message."""
        if self.is_full.is_set():
            return
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
        self._size += len(text)
        if self._size > MAX_WAITING:
            self.is_full.set()
            self._texts = asyncio.Queue()  # what is not read need not be kept
        self._texts.put_nowait(text)

    async def get(self) -> str:
        """The next message."""
        text = await self._texts.get()
        self._size -= len(text)
        return text


async def serve_page(page: WebSocket) -> None:
    """Serve one page until it disconnects, or no longer reads."""
    runner: JobRunner = page.app.state.runner
    await page.accept()
    if runner.pages >= MAX_PAGES:
        await page.close(1013, f"{MAX_PAGES} pages are open, the most that this server allows.")
        return
    runner.pages += 1
    waiting = Waiting()
    connection = Connection(runner.tables, waiting.put)

    async def receive() -> None:
        """Take the messages of the page until it disconnects."""
        while (message := await page.receive())["type"] != "websocket.disconnect":
            begun = time.monotonic()
            connection.receive_text(message.get("text") or "")  # bytes are no message
            runner.wake()
            await asyncio.sleep(SHARE * (time.monotonic() - begun))

    sending = asyncio.create_task(_send(page, waiting))
    receiving = asyncio.create_task(receive())
    filling = asyncio.create_task(waiting.is_full.wait())
    try:
        await asyncio.wait((receiving, filling), return_when=asyncio.FIRST_COMPLETED)
        if filling.done():
            # It may not even read that, or be gone.
            with contextlib.suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
                await asyncio.wait_for(page.close(1013, NOT_READ), CLOSING_SECONDS)
        else:
            await receiving  # raises what went wrong
    finally:
        runner.pages -= 1
        for task in (sending, receiving, filling):
            task.cancel()
        connection.close()
        runner.wake()


async def _send(page: WebSocket, waiting: Waiting) -> None:
    """Send the waiting messages, in order."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the page is gone
        while True:
            await page.send_text(await waiting.get())


class Protocol(H11Protocol):
    """HTTP with a time limit for incomplete requests, which uvicorn lacks."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request."""
        super().connection_made(transport)
        self.loop.call_later(REQUEST_SECONDS, self._check, self.cycle)

    def _check(self, last: Any) -> None:
        """Close the connection if no request has been complete since ``last``, the last answer."""
        waits = self.cycle is None or self.cycle.response_complete
        if self.cycle is last and waits and self in self.connections:  # it is neither closed nor a WebSocket
            self.transport.close()
        elif self in self.connections:
            self.loop.call_later(REQUEST_SECONDS, self._check, self.cycle)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. ``port`` 0: any free port. Raises ``ValueError`` that says what to do."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        raise ValueError(
            f"--host {host} --port {port}: {error.strerror}; expected an address of this machine, such as 127.0.0.1, "
            "or 0.0.0.0 for all, and an unused port of 1024 or above, or 0 for any free port; --url is for the "
            "name that others use"
        ) from None


def address_of(listening: socket.socket, host: str) -> str:
    """The URL to open in a browser on this machine."""
    port = listening.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def address_for_others(listening: socket.socket, host: str) -> str | None:
    """The URL at which other machines of the network reach this one; None if the server is for this machine alone."""
    if is_local(host):
        return None
    name = host
    if host in ("0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as route:
            try:
                route.connect(("192.0.2.1", 9))  # sends nothing: it only chooses the network
                name = route.getsockname()[0]
            except OSError:
                name = socket.gethostname()
    return address_of(listening, name)


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server of ``app``; ``run(sockets=[...])`` returns when ``should_exit`` is set, or on Ctrl-C."""
    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        log_config=None,  # uvicorn's would close the handlers of every other logger in this process
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    config.load()  # what takes long: the server listens only when it can answer
    return uvicorn.Server(config)


def serve(server: uvicorn.Server, listening: socket.socket, open_browser: str | None = None) -> None:
    """Serve until Ctrl-C. ``open_browser``: the URL to open in a browser."""
    if open_browser is not None:
        threading.Thread(target=webbrowser.open, args=(open_browser,), daemon=True).start()
    sys.setswitchinterval(SWITCH_SECONDS)
    server.run(sockets=[listening])
