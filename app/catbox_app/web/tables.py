"""All tables: limited in number, found by their secret keys, closed when abandoned."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from catbox_agents.arena.match import Match
from catbox_app.web.coach import Job
from catbox_app.web.messages import Failed, Message, failed
from catbox_app.web.table import Table
from catbox_env.core.text import game_title

#: The most tables, and the most that one page may open.
MAX_TABLES, MAX_OF_A_PAGE = 200, 10
#: A table where nobody sits is closed after this many seconds.
IDLE_SECONDS = 12 * 3600.0


class Tables:
    """The tables of a server or of a page.

    Args:
        also: specs of agents that pages may name besides the bundled ones.
        are_kept: whether they are kept in files (`kept`).
        most: the most tables. At this limit, or at that of a page, the one that was left longest ago makes room for a
            new one, unless it is kept or several people play there, and its game is not over; one that nobody joined
            always does.
        idle_seconds: a table where nobody sits is closed after this time; one where nobody has played, after a twelfth.
        clock: the time in seconds; only differences matter.

    ``recordings`` are files of recorded games that pages may watch, by secret keys; ``address`` is the URL at which
    other machines reach the server, None if they cannot.

    The host runs the `due` jobs, and waits `seconds_to_wait` if there are none.
    """

    def __init__(
        self,
        also: Sequence[str] = (),
        are_kept: bool = False,
        most: int = MAX_TABLES,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.also, self.clock = list(also), clock
        self.recordings: dict[str, Path] = {}
        self.address: str | None = None
        self._are_kept, self._most, self._idle_seconds = are_kept, most, idle_seconds
        self._tables: list[Table] = []
        self._opened_by: dict[Table, object] = {}
        self._seats: dict[str, Table] = {}
        self._jobs: deque[Job] = deque()

    def __iter__(self) -> Iterator[Table]:
        return iter(list(self._tables))

    def give(self, job: Job) -> None:
        """Add a job for `due` to return."""
        self._jobs.append(job)

    def open(
        self, match: Match, specs: Sequence[str], pace: float, page: object, is_guided: bool = False
    ) -> Table:
        """Open a new table for ``page``. Raises `Failed` if there is no room."""
        self.close_idle()
        own = [table for table in self._tables if self._opened_by.get(table) is page]
        self._make_room(own, MAX_OF_A_PAGE, "that one page may open. Play on at one of them")
        self._make_room(self._tables, self._most, "that this server allows. Try again later")
        table = self.add(Table(match, specs, pace, self.clock, is_guided=is_guided))
        self._opened_by[table] = page
        return table

    def _make_room(self, tables: Sequence[Table], most: int, which: str) -> None:
        """Close one of ``tables`` if there are ``most`` of them."""
        if len(tables) < most:
            return
        left = []
        for table in tables:
            is_spare = table.match.is_over or (table.is_for_one and not self._are_kept)
            if (is_spare or not table.was_joined) and not table.viewers:
                left.append(table)
        if not left:
            raise Failed(f"There are {most} tables, the most {which}.", "full")
        self._close(min(left, key=lambda table: table.used))

    def add(self, table: Table) -> Table:
        """Add a table, such as one that was kept (`kept`)."""
        self._tables.append(table)
        self._seats |= {key: table for key in (*table.keys, table.watch_key) if key is not None}
        return table

    def seat_of(self, key: str) -> tuple[Table, int | None]:
        """The table and the seat of a key, None for one to watch. Raises `Failed` for an unknown or outdated key."""
        self.close_idle()
        if key not in self._seats:
            raise Failed(
                "No seat has this link: part of it is missing, or its table is closed. Ask for the link again, or open "
                "a new table.",
                "no_seat",
            )
        table = self._seats[key]
        return table, table.keys.index(key) if key in table.keys else None

    def under_way(self, keys: Sequence[str]) -> list[Message]:
        """The tables of these seats where a game is not over, for the message ``lobby``."""
        self.close_idle()
        found = {key: self._seats[key] for key in keys if key in self._seats}
        return [
            {"key": key, "title": game_title(table.game.id), "seats": table.people()["seats"]}
            for key, table in found.items()
            if key in table.keys and not table.match.is_over
        ]

    def close_idle(self) -> None:
        """Close the tables where nobody has sat for too long."""
        now = self.clock()
        for table in [table for table in self._tables if not table.viewers]:
            longest = self._idle_seconds if table.match.actions else self._idle_seconds / 12
            if table.used < now - longest:
                self._close(table)

    def due(self) -> list[Job]:
        """The jobs to run now, each returned once."""
        jobs = list(self._jobs)
        self._jobs.clear()
        for table in self._tables:
            wait = table.seconds_to_wait()
            if wait is not None and wait <= 0:
                jobs.append(table.think())
        return jobs

    def seconds_to_wait(self) -> float | None:
        """Seconds until the next job is due; None: nothing to do before another message arrives."""
        if self._jobs:
            return 0.0
        waits = [table.seconds_to_wait() for table in self._tables]
        return min((max(0.0, wait) for wait in waits if wait is not None), default=None)

    def run_due(self) -> None:
        """Run what is due in this thread, one action per table: for a host without threads."""
        for job in self.due():
            job.run()

    def _close(self, table: Table) -> None:
        self._tables.remove(table)
        self._opened_by.pop(table, None)
        for key in (*table.keys, table.watch_key):
            if key is not None:
                del self._seats[key]
        for viewer in table.watchers:
            viewer.send(failed("The table that you watched is closed.", "no_seat"))
