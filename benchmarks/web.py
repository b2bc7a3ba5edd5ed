"""The server of `catbox web` with many tables at once, a person against agents at each: from an action to its position.

The players are WebSockets in this process; they act at random, 0.2 to 1 second after their turn begins. The server is a
separate process. The time of an action is measured until its own position comes back, before any agent moves.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import time

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.report import Clock, Metric, metric_of

#: The agents in the other seats, in turn.
AGENTS = ("normal", "best", "easy", "hard")
#: Seconds between two actions of agents.
PACE = 0.5
#: The games of the tables, in turn, with their numbers of players.
GAMES = [("cat_in_the_box_v0", 4), ("cat_te_v0", 4), ("petrify_v0", 2)]


def measure(quick: bool) -> list[Metric]:
    """One table, then 200: as many as a server has."""
    metrics = []
    command = [sys.executable, "-m", "catbox_app", "web", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://(\S+)/", server.stdout.readline())
            assert found is not None
            url = f"ws://{found[1]}/ws"
            asyncio.run(_players(url, len(GAMES), 6.0))  # compiles, and loads compiled code
            for tables, seconds in ((1, 10.0), (200, 40.0)):
                taken = sorted(asyncio.run(_players(url, tables, 3.0 if quick else seconds)))
                name = f"web, {tables} table{'s at once' * (tables > 1)}: action to position"
                metrics += [
                    metric_of(name, taken, "ms", 100),
                    Metric(f"{name}, 95 % within", taken[int(0.95 * len(taken))], "ms", 100),
                ]
        finally:
            server.terminate()
    return metrics


async def _players(url: str, tables: int, seconds: float) -> list[float]:
    """Milliseconds from each action to its position, at all tables."""
    taken: list[float] = []
    end = time.monotonic() + seconds
    await asyncio.gather(*(_player(url, number, end, taken) for number in range(tables)))
    return taken


async def _player(url: str, number: int, end: float, taken: list[float]) -> None:
    """Play game after game until the time is up."""
    rng = random.Random(number)
    game, players = GAMES[number % len(GAMES)]
    seats = ["person", *(AGENTS[(number + seat) % len(AGENTS)] for seat in range(1, players))]
    async with connect(url, max_size=None) as page:
        await _send(page, "open", game=game, players=players, seats=seats, pace=PACE)
        opened = await _next(page, "opened")
        await _send(page, "join", seat_key=opened["seats"][0]["key"])
        position = await _next(page, "position")
        while time.monotonic() < end:
            clock = Clock()
            if position["waits_for"] == "over":
                await _send(page, "again", deal="new")
            elif position["waits_for"] == "you":
                await asyncio.sleep(rng.uniform(0.2, 1.0))
                action = rng.choice(position["legal"])["action"]
                with clock:
                    await _send(page, "act", action=action, number=position["number"])
                    position = await _next(page, "position")
                taken.append(1000 * clock.seconds)
                continue
            position = await _next(page, "position")


async def _send(page: ClientConnection, kind: str, **values: object) -> None:
    await page.send(json.dumps({"type": kind, **values}))


async def _next(page: ClientConnection, kind: str) -> dict:
    """The next message of this kind."""
    while True:
        message: dict = json.loads(await page.recv())
        if message["type"] in ("refused", "failed"):
            raise RuntimeError(f"a request was not served: {message['text']}")
        if message["type"] == kind:
            return message
