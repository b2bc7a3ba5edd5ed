"""Advice in a game on a real table: the lines that a page has sent, and what it is shown of them."""

from __future__ import annotations

import time

from catbox_app.real_table import RealTable, seen_deal
from catbox_app.web.coach import Viewer
from catbox_app.web.lobby import game_of
from catbox_app.web.messages import Message, Refused, events, integer_of, joined, named, position, text_of
from catbox_env.core.checks import short_repr
from catbox_env.core.kernels import HIDDEN

#: The longest deal and the longest line that a page may send, in characters.
LONGEST_DEAL, LONGEST_LINE = 2000, 100
#: Seconds that all lines together may take: rare actions need many sampled worlds.
LONGEST_WAIT = 30.0
UNSEEN = {"action": HIDDEN, "text": "Face down"}


class Advised:
    """The game of a message ``advise``. Attributes: ``table``; ``reports``: the messages about the beginning and
    each line.

    Raises ``ValueError`` for what is no game, and `Refused` for a deal or a line that the rules forbid.
    """

    def __init__(self, message: Message) -> None:
        game = game_of(message)
        self.seat = integer_of(message, "seat", 0, game.num_players - 1)
        deal = text_of(message, "deal", LONGEST_DEAL)
        lines, most = message.get("lines"), 2 * game.max_game_length  # with the deals of later rounds
        if not isinstance(lines, list) or len(lines) > most:
            raise ValueError(f"lines={short_repr(lines)}: expected a list of at most {most} texts")
        texts = [text_of({"line": line}, "line", LONGEST_LINE, shortest=0).strip() for line in lines]
        until = time.monotonic() + LONGEST_WAIT
        self._names = ["person"] * game.num_players
        try:
            self.table = table = RealTable(game, self.seat, seen_deal(game, self.seat, deal))
            self.reports = [events(0, table.opening, self._names)]
            for number, text in enumerate(texts, 1):
                if time.monotonic() > until:
                    raise ValueError(
                        f"the first {number - 1} lines took {LONGEST_WAIT:g} s, the most allowed here"
                    )
                self.reports.append(events(number, table.enter(text), self._names))
        except ValueError as error:
            raise Refused(f"Not possible: {error}.") from None
        mover = table.state.current_player
        self._waits = "deal" if table.question else {self.seat: "you", -1: "over"}.get(mover, "entry")
        possible = table.possible() if self._waits in ("you", "entry") else []
        self._legal = [UNSEEN if action == HIDDEN else named(game, action) for action in possible]

    def joined(self) -> Message:
        """The first message about the game."""
        return {**joined(self.table.game, "advise", self._names, self.seat, None), "can_undo": True}

    def show(self, viewer: Viewer) -> None:
        """Send the position, and ask the coach about one's own decision."""
        table, number = self.table, len(self.reports) - 1
        message = position(table.shown, number, self.seat, viewer.theme, viewer.size)
        message |= {"legal": self._legal, "waits_for": self._waits, "question": table.question}
        viewer.send({**message, "can_undo": number > 0, "rounds": []})
        viewer.coach.ask(table.state if self._waits == "you" else None, number)
