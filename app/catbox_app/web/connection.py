"""The connection of one page: handles its messages, which docs/protocol.md describes.

No message of a page raises: a bad one is answered with ``refused`` or ``failed``, and changes nothing.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from catbox_agents.arena.match import Match
from catbox_agents.specs import printable
from catbox_app.review import Review, Reviewed
from catbox_app.rules import deal_cards
from catbox_app.web.advised import Advised
from catbox_app.web.coach import SHOWS, Coach, Job, Viewer
from catbox_app.web.lobby import NOT_COMPILED, check_opponent, game_of, lobby
from catbox_app.web.messages import (
    Failed,
    Message,
    Refused,
    choice_of,
    failed,
    integer_of,
    number_of,
    read_message,
    reviewed,
    text_of,
)
from catbox_app.web.recording import Recording
from catbox_app.web.table import LONGEST_PAUSE, PERSON, Table, new_match
from catbox_app.web.tables import MAX_OF_A_PAGE, Tables
from catbox_env.core import compilation
from catbox_env.core.checks import check_flag, check_seat, short_repr, suggestion
from catbox_env.pictures.sheet import MAX_WIDTH, MIN_WIDTH, THEMES

#: The longest file of records that is accepted, in characters.
LONGEST_FILE = 4 << 20
#: What a page can ask for; the method of the same name, with an underscore, handles each.
KINDS = (
    "lobby", "open", "join", "act", "undo", "again", "name", "pace", "coach", "view", "save", "replay", "step",
    "review", "host", "cards", "advise", "next", "ping",
)  # fmt: skip
#: The longest name of a person.
LONGEST_NAME = 20
#: Letters that nobody sees, which are left out of names.
BLANK = dict.fromkeys([*map(ord, "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"), *range(0xFE00, 0xFE10)])
#: What pages call people who have no name.
NOT_A_NAME = re.compile(r"(?i)you|person|player[ _]*\d*")


class Connection:
    """What one page talks to.

    ``tables``: where it may sit down; ``send``: sends a message, a JSON-serialisable object, to the page.
    """

    def __init__(self, tables: Tables, send: Callable[[Message], None]) -> None:
        self._tables, self._send = tables, send
        self._viewer = Viewer(send, Coach(send, tables.give))
        self._table: Table | None = None
        self._recording: Recording | None = None
        self._advised: Advised | None = None
        self._opens = False
        self._page = object()  # what its tables remember of it

    def receive_text(self, text: str) -> None:
        """Handle a message given as JSON text."""
        try:
            message = read_message(text)
        except ValueError as error:
            self._send(failed(str(error)))
        else:
            self.receive(message)

    def receive(self, message: Message) -> None:
        """Handle a message."""
        kind = message.get("type")
        try:
            if kind not in KINDS:
                near = suggestion(kind, KINDS) if isinstance(kind, str) and len(kind) < 50 else ""
                raise ValueError(f"type={short_repr(kind)}{near}; expected one of {', '.join(KINDS)}")
            getattr(self, f"_{kind}")(message)
        except ValueError as error:
            self._send(_answer(error))

    def close(self) -> None:
        """The page is gone."""
        self._leave()

    def _lobby(self, message: Message) -> None:
        theme = choice_of({"theme": self._viewer.theme, **message}, "theme", list(THEMES))
        keys = message.get("seat_keys", [])
        if not isinstance(keys, list) or len(keys) > MAX_OF_A_PAGE:
            raise ValueError(f"seat_keys={short_repr(keys)}: expected a list of at most {MAX_OF_A_PAGE} keys")
        yours = self._tables.under_way([text_of({"seat_keys": key}, "seat_keys") for key in keys])
        self._leave()
        self._send({**lobby(self._tables.also, theme), "address": self._tables.address, "yours": yours})

    def _open(self, message: Message) -> None:
        game = game_of(message)
        specs = message.get("seats")
        if not isinstance(specs, list) or len(specs) != game.num_players:
            raise ValueError(f"seats={short_repr(specs)}: expected {game.num_players}, one for each player")
        for spec in specs:
            if spec != PERSON:
                check_opponent(text_of({"seat": spec}, "seat"), self._tables.also)
        if PERSON not in specs:
            raise ValueError(f"seats={short_repr(specs)}: expected {PERSON!r} in at least one of them")
        seed = None if message.get("seed") is None else integer_of(message, "seed", 0)
        if seed is not None and specs.count(PERSON) > 1:
            raise ValueError(
                f"seed={seed}: with several people nobody may choose the seed, because it reveals all cards; leave it "
                "out"
            )
        pace = number_of({"pace": 0.8, **message}, "pace", 0, LONGEST_PAUSE)
        guided = check_flag("guide", message.get("guide", False))

        def opened(match: Match) -> None:
            self._send(self._tables.open(match, specs, pace, self._page, guided).opened())

        self._begin(lambda: new_match(game, specs, seed), opened)

    def _join(self, message: Message) -> None:
        table, seat = self._tables.seat_of(text_of(message, "seat_key"))
        self._viewer.page = text_of({"page": "", **message}, "page", shortest=0)
        if not check_flag("take_over", message.get("take_over", False)):
            table.check_free(seat, self._viewer)
        if self._table is not table or seat is None or self._viewer.seat != seat:
            self._leave()
        if seat is None:
            table.watch(self._viewer)
        else:
            table.join(seat, self._viewer)
        self._table = table

    def _host(self, message: Message) -> None:
        table, seat = self._seat()
        if seat != table.host_seat:
            raise Refused(f"Only the host, player_{table.host_seat}, decides that.")
        if "stand_in" in message:
            table.stand_in(check_seat("stand_in", message["stand_in"], table.game.num_players))
        else:
            table.allow_coach(check_flag("coach", message.get("coach")))

    def _act(self, message: Message) -> None:
        table, seat = self._seat()
        table.act(seat, integer_of(message, "action", 0), integer_of(message, "number", 0))

    def _undo(self, message: Message) -> None:
        table, seat = self._seat()
        table.undo(seat)

    def _again(self, message: Message) -> None:
        table, seat = self._seat()
        deal = choice_of(message, "deal", ("new", "same", "from"))
        number = integer_of(message, "number", 0, len(table.match.actions)) if deal == "from" else 0
        table.again(seat, deal, number)

    def _name(self, message: Message) -> None:
        given = printable(text_of(message, "name", LONGEST_NAME, shortest=0))
        name = unicodedata.normalize("NFKC", given.translate(BLANK)).strip()
        if NOT_A_NAME.fullmatch(name):
            raise Refused(f"{name} would be mistaken for somebody: choose another name.")
        if self._table is not None and self._viewer.seat is not None:
            self._table.rename(self._viewer, name)
        self._viewer.name = name

    def _ping(self, message: Message) -> None:
        self._send({"type": "pong"})

    def _next(self, message: Message) -> None:
        table, _ = self._seat()
        table.go_on()

    def _pace(self, message: Message) -> None:
        table, _ = self._seat()
        table.set_pace(number_of(message, "seconds", 0, LONGEST_PAUSE))

    def _coach(self, message: Message) -> None:
        shows = None if message.get("shows") is None else choice_of(message, "shows", SHOWS)
        agent = text_of(message, "agent") if shows == "policy" else None
        if agent is not None:
            check_opponent(agent, self._tables.also)
        if shows == "points" and not compilation.HAS_NUMBA:
            raise ValueError(f"estimated points: {NOT_COMPILED}")
        self._viewer.coach.set(shows, agent)
        if shows is not None:
            self._show()

    def _view(self, message: Message) -> None:
        theme = choice_of(message, "theme", list(THEMES))
        self._viewer.size = integer_of(message, "size", MIN_WIDTH, MAX_WIDTH)
        self._viewer.theme = theme
        self._show()

    def _save(self, message: Message) -> None:
        table = self._table or self._seat()[0]  # also for those who watch
        self._send(table.record())

    def _replay(self, message: Message) -> None:
        number = integer_of({"game_number": 1, **message}, "game_number", 1)
        first = integer_of({"number": 0, **message}, "number", 0)
        seat = message.get("seat")
        path = None
        if "key" in message:
            path = self._tables.recordings.get(text_of(message, "key"))
            if path is None:
                raise Failed(
                    "No recorded game has this link: its server has stopped, or the link was copied incompletely.",
                    "no_recording",
                )
        text = text_of(message, "text", LONGEST_FILE).rstrip() + "\n" if path is None else ""

        def think() -> Recording:
            try:
                with path.open("rb") if path else io.BytesIO(text.encode(errors="replace")) as file:
                    recording = Recording.read(file, path or "the file", number)
            except OSError as error:
                raise ValueError(f"{error.filename}: {error.strerror}") from None
            if seat is not None:
                check_seat("seat", seat, recording.record.game.num_players)
            return recording

        def show(recording: Recording) -> None:
            self._leave()
            self._recording = recording
            at = min(first, recording.last)
            self._send(recording.joined(at, seat))
            recording.step(self._viewer, at, seat)

        self._begin(think, show)

    def _cards(self, message: Message) -> None:
        self._send({"type": "cards", **deal_cards(game_of(message))})

    def _advise(self, message: Message) -> None:
        """Show a game on a real table, whose every line the message holds; the page was told of ``number`` lines."""
        if not compilation.HAS_NUMBA:
            raise ValueError(f"advice: {NOT_COMPILED}")
        number = None if message.get("number") is None else integer_of(message, "number", 0)

        def show(advised: Advised) -> None:
            if number is None:
                self._leave()
                self._send(advised.joined())
            self._advised = advised
            for report in advised.reports[0 if number is None else number + 1 :]:
                self._send(report)
            advised.show(self._viewer)

        self._begin(lambda: Advised(message), show)

    def _begin(self, think: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        """Open a table or a file in a `Job`, one at a time."""
        if self._opens:
            raise ValueError("a table or a file is already being opened; wait for it")

        def fail(error: ValueError) -> None:
            self._opens = False
            self._send(_answer(error))

        def finished(found: Any) -> None:
            self._opens = False
            try:
                finish(found)
            except Failed as error:
                fail(error)

        self._opens = True
        self._tables.give(Job(think, finished, fail))

    def _step(self, message: Message) -> None:
        recording, seat = self._recorded(message)
        recording.step(self._viewer, integer_of(message, "number", 0, recording.last), seat)

    def _review(self, message: Message) -> None:
        """Send what the decisions of a seat were worth, one after the other."""
        recording, seat = self._recorded(message)
        if not compilation.HAS_NUMBA:
            raise ValueError(f"a review: {NOT_COMPILED}")
        record = recording.record
        review = Review(record, range(record.game.num_players) if seat is None else [seat])
        total = len(review.numbers)

        def ask(k: int) -> None:
            if k < total and self._recording is recording:
                self._tables.give(
                    Job(lambda: review.decision(review.numbers[k]), lambda found: told(k, found), fail)
                )

        def told(k: int, found: Reviewed) -> None:
            if self._recording is recording:
                self._send(reviewed(record.game, found, k + 1, total))
                ask(k + 1)

        def fail(error: ValueError) -> None:
            self._send(failed(f"The review failed: {error}"))

        ask(0)

    def _recorded(self, message: Message) -> tuple[Recording, int | None]:
        """The recorded game that is shown, and the seat that a message names; None: all of them."""
        if self._recording is None:
            raise ValueError("no recorded game is shown here; open one first")
        seat, num_players = message.get("seat"), self._recording.record.game.num_players
        return self._recording, None if seat is None else check_seat("seat", seat, num_players)

    def _show(self) -> None:
        """Send the current position again, if there is one."""
        shown = self._recording or self._advised
        if shown is not None:
            shown.show(self._viewer)
        elif self._table is not None and self._viewer in self._table.pages:
            self._table.show(self._viewer)

    def _seat(self) -> tuple[Table, int]:
        if self._table is None or self._viewer.seat is None:
            raise Failed("You are not seated at a table; open one, or join one by its link.", "not_seated")
        return self._table, self._viewer.seat

    def _leave(self) -> None:
        if self._table is not None:
            self._table.leave(self._viewer)
        self._table = self._recording = self._advised = None
        self._viewer.coach.forget()


def _answer(error: ValueError) -> Message:
    if isinstance(error, Refused):
        return {"type": "refused", "text": str(error)}
    return failed(str(error), error.code if isinstance(error, Failed) else None)


class Host:
    """The tables of a page that runs Python itself, in a Pyodide worker, and the connection of that page.

    The worker passes on the page's messages, and wakes the host when the host asks for it. Unexpected errors reach the
    worker, which then restarts.

    ``send``: sends a message, JSON text, to the page.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self._tables = Tables()
        self._connection = Connection(self._tables, lambda message: send(json.dumps(message)))

    def receive(self, text: str) -> float | None:
        """Handle a message of the page, JSON text. Returns the seconds until `work` is to be called; None: not before
        another message."""
        self._connection.receive_text(text)
        return self._tables.seconds_to_wait()

    def work(self) -> float | None:
        """Run what is due: one action of an agent per table. Returns what `receive` does."""
        self._tables.run_due()
        return self._tables.seconds_to_wait()
