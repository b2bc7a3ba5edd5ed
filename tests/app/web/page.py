"""A page without a browser: it keeps what the table tells it."""

from __future__ import annotations

import json
from typing import Any

from catbox_app.web.connection import Connection
from catbox_app.web.tables import Tables

#: Two players, three cards each, one trick.
TINY = {"num_ranks": 3, "num_colors": 2, "copies": 3, "hand_size": 3, "bids": [0, 1], "revealed_cards": 0}


class Clock:
    """A clock that stands until it is set forward."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Page:
    """``told``: all messages, each as it came out of JSON text."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.told: list[dict[str, Any]] = []
        self.connection = Connection(tables, self._take)

    def _take(self, message: dict[str, Any]) -> None:
        self.told.append(json.loads(json.dumps(message, allow_nan=False)))

    def send(self, kind: str, **values: Any) -> list[dict[str, Any]]:
        """Send a message; what was answered at once."""
        before = len(self.told)
        self.connection.receive({"type": kind, **values})
        return self.told[before:]

    def open(self, *seats: str, game: str = "cat_in_the_box_v0", **values: Any) -> list[str | None]:
        """Open a table, and do what is due; the keys of the seats."""
        self.send("open", game=game, players=len(seats), seats=list(seats), **{"pace": 0, **values})
        self.tables.run_due()
        return [seat["key"] for seat in self.last("opened")["seats"]]

    def sit(self, *seats: str, **values: Any) -> str:
        """Open a table, and sit down at its first seat of a person; its key."""
        key = next(key for key in self.open(*seats, **values) if key is not None)
        self.send("join", seat_key=key)
        return key

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.told if message["type"] == kind]

    def last(self, kind: str) -> dict[str, Any]:
        return self.all(kind)[-1]

    @property
    def position(self) -> dict[str, Any]:
        return self.last("position")

    def act(self, choose: Any = min) -> list[dict[str, Any]]:
        """Take a legal action."""
        legal = [one["action"] for one in self.position["legal"]]
        return self.send("act", action=choose(legal), number=self.position["number"])

    def play(self, moves: int = 10**9, choose: Any = min) -> None:
        """Play, alone with agents, to the end or for so many actions of all."""
        while moves > 0 and self.position["waits_for"] != "over":
            moves -= 1
            if self.position["waits_for"] == "you":
                self.act(choose)
            else:
                self.tables.run_due()
