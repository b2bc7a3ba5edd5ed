"""The server of `catbox web`: the page, and a WebSocket for each one that plays.

One thread handles messages: it alone touches tables. Agents and coaches think in others (`jobs`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
import traceback
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
from catbox_app.web.kept import content_of, file_of, keep
from catbox_app.web.lobby import lobby
from catbox_app.web.pages import STATIC
from catbox_app.web.reading import Message
from catbox_app.web.table import new_match
from catbox_app.web.tables import Tables

#: The most pages at once.
MOST_PAGES = 400
#: The largest message that is read, in bytes: a file of records.
LARGEST_MESSAGE = 8 << 20
#: Messages that wait for a page before it is given up: it does not read them.
MOST_WAITING = 5000
#: Messages a second that a page may send for long, and at once. Those beyond are read later. One that takes long counts
#: as one for each `SECONDS` of it: no page keeps the thread that answers all of them busy.
RATE, BURST = 20.0, 60.0
SECONDS = 0.01
#: Jobs begin one after the other: threads that think side by side keep the one that answers pages waiting. But after so
#: many seconds the next one begins all the same, so that an agent that thinks long holds up no other table.
PATIENCE = 0.3
#: The most jobs that think at once.
THINKERS = 32


def get_ready() -> None:
    """Compile, or load, what messages need of every game: otherwise the first page would wait, and all with it."""
    lobby([], "light")
    for game_id in catbox_env.GAMES:
        game = catbox_env.make_game(game_id, reward=REWARD)
        match = new_match(game, ["random"] * game.num_players, 0)
        match.play_agent()
        match.events(0)


class JobRunner:
    """Runs the jobs of ``tables`` in threads, and what they find in the loop that handles messages.

    ``folder``: where tables are kept, None: nowhere.
    """

    def __init__(self, tables: Tables, folder: Path | None = None) -> None:
        self.tables = tables
        self._folder = folder
        self._kept: dict[Path, int] = (
            {file_of(folder, table): table.changes for table in tables} if folder else {}
        )
        self._writer = ThreadPoolExecutor(1, "catbox-writes")
        self.pages = 0
        self._thinkers = ThreadPoolExecutor(THINKERS, "catbox-thinks")
        self._turn = asyncio.Semaphore(1)
        self._changed = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()

    def wake(self) -> None:
        """Something has changed: look for jobs."""
        self._changed.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            while True:
                self._changed.clear()
                for job in self.tables.due():
                    task = asyncio.create_task(self._run(job))
                    self._running.add(task)
                    task.add_done_callback(self._running.discard)
                self._keep()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self.tables.seconds_to_wait())
        finally:
            self._thinkers.shutdown(wait=False, cancel_futures=True)
            self._keep()
            self._writer.shutdown()

    def _keep(self) -> None:
        """Write the tables that have changed, and remove those that were closed."""
        if self._folder is None:
            return
        files = {file_of(self._folder, table): table for table in self.tables}
        for path, table in files.items():
            if self._kept.get(path) != table.changes:
                self._kept[path] = table.changes
                self._writer.submit(_write, path, content_of(table))
        for path in self._kept.keys() - files.keys():
            del self._kept[path]
            self._writer.submit(_remove, path)

    async def _run(self, job: Job) -> None:
        async with self._turn:
            thought = asyncio.wrap_future(self._thinkers.submit(job.think))
            await asyncio.wait({thought}, timeout=PATIENCE)
        await asyncio.wait({thought})
        error = thought.exception()
        if error is None:
            job.finish(thought.result())
        elif isinstance(error, ValueError):
            if isinstance(error, AgentError):
                print(error.agent_traceback(), file=sys.stderr, end="")
            job.fail(error)
        else:  # an agent's module that cannot be imported, say: the page is told, and the terminal all of it
            traceback.print_exception(error)
            job.fail(ValueError(f"{type(error).__name__}: {error}"))
        self.wake()


def _write(path: Path, content: bytes) -> None:
    try:
        keep(path, content)
    except OSError as error:
        print(f"catbox: {error}", file=sys.stderr)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        print(f"catbox: cannot remove {path}: {error.strerror}", file=sys.stderr)


def web_app(tables: Tables, host: str = "127.0.0.1", folder: Path | None = None) -> Starlette:
    """The application. ``host``: what the server listens on; ``folder``: keeps the tables."""
    runners: list[JobRunner] = []

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        runners.append(JobRunner(tables, folder))
        running = asyncio.create_task(runners[0].run())
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait({running})
            runners.clear()

    async def page(socket: WebSocket) -> None:
        await _serve_page(socket, runners[0])

    routes = [
        WebSocketRoute("/ws", page),
        Mount("/", StaticFiles(directory=STATIC, html=True)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, host=host)], lifespan=lifespan)


async def _serve_page(socket: WebSocket, runner: JobRunner) -> None:
    """One page, until it goes."""
    await socket.accept()
    if runner.pages >= MOST_PAGES:
        text = f"{MOST_PAGES} pages are open here, the most that this server has. Try again later."
        await socket.send_text(json.dumps({"type": "failed", "code": "full", "text": text}))
        await socket.close(1013)
        return
    runner.pages += 1
    waiting: asyncio.Queue[Message] = asyncio.Queue()
    connection = Connection(runner.tables, waiting.put_nowait)
    sending = asyncio.create_task(_send(socket, waiting))
    try:
        await _receive(socket, connection, waiting, runner)
    finally:
        runner.pages -= 1
        sending.cancel()
        connection.close()
        runner.wake()


async def _receive(
    socket: WebSocket, connection: Connection, waiting: asyncio.Queue[Message], runner: JobRunner
) -> None:
    """Take the messages of a page, no faster than `RATE`."""
    allowed, before = BURST, time.monotonic()
    while True:
        try:
            message = await socket.receive()
        except WebSocketDisconnect:
            return
        if message["type"] == "websocket.disconnect":
            return
        if waiting.qsize() > MOST_WAITING:
            await socket.close(1008, "messages are not read")
            return
        text = message.get("text")
        begun = time.monotonic()
        if text is None:
            waiting.put_nowait({"type": "failed", "text": "bytes; expected a message as JSON text"})
        else:
            connection.receive_text(text)
            runner.wake()
        now = time.monotonic()
        cost = min(BURST, max(1.0, (now - begun) / SECONDS))
        allowed = min(BURST, allowed + RATE * (now - before)) - cost
        before = now
        if allowed < 0:
            await asyncio.sleep(-allowed / RATE)


async def _send(socket: WebSocket, waiting: asyncio.Queue[Message]) -> None:
    """Send what waits, in order."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the page is gone: `_receive` ends too
        while True:
            message = await waiting.get()
            await socket.send_text(json.dumps(message, separators=(",", ":"), allow_nan=False))
