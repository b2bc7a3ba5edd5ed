"""The server of `catbox web` with many tables at once, a person against agents at each: from an action to its position.

The players are WebSockets in this process; they act at random, 0.2 to 1 second after it is their turn. The server is a
process of its own. The time of an action is that until its own position has come back, before any agent moves.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.report import Metric, metric_of

#: What sits in the other seats, in turn.
AGENTS = ("normal", "best", "easy", "hard")
#: Seconds between two actions of agents.
PACE = 0.5
#: The game of the tables, in turn, with its number of players.
GAMES = [("cat_in_the_box_v0", 4), ("cat_te_v0", 4), ("petrify_v0", 2)]


@dataclass
class Measured:
    """Milliseconds until a table was opened and until an action had its position; requests that were not served."""

    opened: list[float] = field(default_factory=list)
    acted: list[float] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)


def measure(quick: bool) -> list[Metric]:
    """One table, then 50."""
    metrics = []
    with subprocess.Popen(
        [sys.executable, "-m", "catbox_app", "web", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://(\S+)/", server.stdout.readline())
            assert found is not None
            url = f"ws://{found[1]}/ws"
            asyncio.run(_players(url, len(GAMES), 6.0, Measured()))  # compiles, and loads what is compiled
            for tables, seconds in ((1, 10.0), (50, 30.0)):
                measured = Measured()
                asyncio.run(_players(url, tables, 3.0 if quick else seconds, measured))
                metrics += _metrics(tables, measured)
        finally:
            server.terminate()
    return metrics


def _metrics(tables: int, measured: Measured) -> list[Metric]:
    where = "1 table" if tables == 1 else f"{tables} tables at once"
    for text in dict.fromkeys(measured.unserved):
        print(f"{where}: {text}", file=sys.stderr)
    late = sorted(measured.acted)[int(0.95 * len(measured.acted))]
    requests = f"requests refused, of {len(measured.acted)}"
    return [
        metric_of(f"web, {where}: action to position", measured.acted, "ms", 100),
        Metric(f"web, {where}: action to position, 95 % within", late, "ms", 100),
        metric_of(f"web, {where}: a table is opened", measured.opened, "ms"),
        Metric(f"web, {where}: {requests}", len(measured.unserved), "", 0),
    ]


async def _players(url: str, tables: int, seconds: float, measured: Measured) -> None:
    end = time.monotonic() + seconds
    await asyncio.gather(*(_player(url, number, end, measured) for number in range(tables)))


async def _player(url: str, number: int, end: float, measured: Measured) -> None:
    """Plays game after game until the time is over."""
    rng = random.Random(number)
    game, players = GAMES[number % len(GAMES)]
    seats = ["person", *(AGENTS[(number + seat) % len(AGENTS)] for seat in range(1, players))]
    async with connect(url, max_size=None) as page:
        begun = time.perf_counter()
        await _send(page, "open", game=game, players=players, seats=seats, pace=PACE)
        opened = await _next(page, "opened", measured)
        await _send(page, "join", seat_key=opened["seats"][0]["key"])
        position = await _next(page, "position", measured)
        measured.opened.append(1000 * (time.perf_counter() - begun))
        while time.monotonic() < end:
            if position["waits_for"] == "over":
                await _send(page, "again", deal="new")
            elif position["waits_for"] == "you":
                await asyncio.sleep(rng.uniform(0.2, 1.0))
                begun = time.perf_counter()
                action = rng.choice(position["legal"])["action"]
                await _send(page, "act", action=action, number=position["number"])
                position = await _next(page, "position", measured)
                measured.acted.append(1000 * (time.perf_counter() - begun))
                continue
            position = await _next(page, "position", measured)


async def _send(page: ClientConnection, kind: str, **values: object) -> None:
    await page.send(json.dumps({"type": kind, **values}))


async def _next(page: ClientConnection, kind: str, measured: Measured) -> dict:
    """The next message of this kind."""
    while True:
        message: dict = json.loads(await page.recv())
        if message["type"] in ("refused", "failed"):
            measured.unserved.append(message["text"])
        if message["type"] == kind:
            return message
