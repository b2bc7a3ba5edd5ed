"""The server of `catbox web`: it serves the page, and a WebSocket to each open one.

One thread handles messages, and only it touches tables. Agents and coaches think in others (`jobs`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

import catbox_env
from catbox_agents import AgentError
from catbox_app.rules import REWARD
from catbox_app.web.connection import Connection
from catbox_app.web.guard import Guard
from catbox_app.web.jobs import Job
from catbox_app.web.kept import KeptTables, write
from catbox_app.web.lobby import lobby
from catbox_app.web.pages import STATIC
from catbox_app.web.reading import Message
from catbox_app.web.table import new_match
from catbox_app.web.tables import Tables

#: The most pages open at once.
MAX_PAGES = 400
#: The largest message that is accepted, in bytes: a file of records.
LARGEST_MESSAGE = 8 << 20
#: The most characters of messages that wait for a page; one with more does not read them, and is given up.
MAX_WAITING = 4 << 20
NOT_READ = "messages are not read"
#: Seconds that closing such a page may take.
CLOSING_SECONDS = 5.0
#: After each message a page waits this many times as long as its answer took: one thread answers all pages.
SHARE = 4
#: Jobs start one after the other: parallel ones would slow down the thread that answers pages. But after this many
#: seconds the next one starts anyway, so that a slow agent does not hold up other tables.
PATIENCE = 0.3
#: The most jobs that run at once.
THINKERS = 32


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
        self._ends = False
        self._running: set[asyncio.Task[None]] = set()

    def wake(self) -> None:
        """Look for jobs, because something has changed."""
        self._changed.set()

    def end(self) -> None:
        """Make `run` return."""
        self._ends = True
        self.wake()

    async def run(self) -> None:
        """Run jobs until `end` is called, then write all tables."""
        keeping = asyncio.create_task(self._keep())
        while not self._ends:
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
        async with self._thinkers:
            async with self._turn:
                thought = asyncio.wrap_future(_begun(job.think))
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


def _begun(think: Callable[[], Any]) -> Future[Any]:
    """The result of ``think``, run in a daemon thread, which does not keep the program from exiting."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(think())
        except BaseException as error:  # noqa: BLE001  (the loop that awaits it reports it)
            found.set_exception(error)

    threading.Thread(target=run, name="catbox-thinks", daemon=True).start()
    return found


def web_app(tables: Tables, host: str = "127.0.0.1", kept: KeptTables | None = None) -> Starlette:
    """The ASGI application. ``host``: what the server listens on; ``kept``: keeps the tables."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.runner = runner = JobRunner(tables, kept)
        running = asyncio.create_task(runner.run())
        try:
            yield
        finally:
            runner.end()
            await running

    routes = [WebSocketRoute("/ws", serve_page), Mount("/", StaticFiles(directory=STATIC, html=True))]
    return Starlette(routes=routes, middleware=[Middleware(Guard, host=host)], lifespan=lifespan)


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


async def serve_page(socket: WebSocket) -> None:
    """Serve one page until it disconnects, or no longer reads."""
    runner: JobRunner = socket.app.state.runner
    await socket.accept()
    if runner.pages >= MAX_PAGES:
        text = f"{MAX_PAGES} pages are open, the most that this server allows. Try again later."
        await socket.send_text(json.dumps({"type": "failed", "code": "full", "text": text}))
        await socket.close(1013)
        return
    runner.pages += 1
    waiting = Waiting()
    connection = Connection(runner.tables, waiting.put)
    sending = asyncio.create_task(_send(socket, waiting))
    receiving = asyncio.create_task(_receive(socket, runner, connection))
    filling = asyncio.create_task(waiting.is_full.wait())
    try:
        await asyncio.wait((receiving, filling), return_when=asyncio.FIRST_COMPLETED)
        if filling.done():
            with contextlib.suppress(TimeoutError, RuntimeError):  # it may not even read that
                await asyncio.wait_for(socket.close(1008, NOT_READ), CLOSING_SECONDS)
        else:
            await receiving  # raises what went wrong
    finally:
        runner.pages -= 1
        for task in (sending, receiving, filling):
            task.cancel()
        connection.close()
        runner.wake()


async def _receive(socket: WebSocket, runner: JobRunner, connection: Connection) -> None:
    """Take the messages of a page until it disconnects."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        begun = time.monotonic()
        connection.receive_text(message.get("text") or "")  # bytes are no message
        runner.wake()
        await asyncio.sleep(SHARE * (time.monotonic() - begun))


async def _send(socket: WebSocket, waiting: Waiting) -> None:
    """Send the waiting messages, in order."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the page is gone
        while True:
            await socket.send_text(await waiting.get())
