"""Advice in a game on a real table: the lines that a page has sent, and what it is shown of them."""

from __future__ import annotations

from catbox_app.real_table import RealTable, seen_deal
from catbox_app.web.coach import Viewer
from catbox_app.web.lobby import game_of
from catbox_app.web.messages import (
    MAX_ACTIONS,
    Message,
    Refused,
    events,
    integer_of,
    joined,
    named,
    position,
    text_of,
)
from catbox_env.core.checks import brief
from catbox_env.core.kernels import HIDDEN

#: The longest deal and the longest line that a page may send, in characters.
LONGEST_DEAL, LONGEST_LINE = 2000, 100
UNSEEN = {"action": HIDDEN, "text": "something that you do not see"}


class Advised:
    """The game of a message ``advise``: nothing of it is kept but to be shown again.

    Attributes: ``table``; ``told``: the messages about each line.

    Raises ``ValueError`` for what is no game, and `Refused` for a deal or a line that the rules forbid.
    """

    def __init__(self, message: Message) -> None:
        game = game_of(message)
        self.seat = integer_of(message, "seat", 0, game.num_players - 1)
        deal = text_of(message, "deal", LONGEST_DEAL)
        shown = text_of({"shown": "", **message}, "shown", LONGEST_DEAL, shortest=0)
        lines = message.get("lines")
        if not isinstance(lines, list) or len(lines) > 2 * MAX_ACTIONS:
            raise ValueError(f"lines={brief(lines)}: expected a list of at most {2 * MAX_ACTIONS} texts")
        self._names = ["person"] * game.num_players
        self.told: list[Message] = []
        texts = [text_of({"line": line}, "line", LONGEST_LINE, shortest=0).strip() for line in lines]
        try:
            self.table = RealTable(game, self.seat, seen_deal(game, self.seat, deal, shown))
            for number, text in enumerate(texts, 1):
                self.told.append(events(number, self.table.enter(text), self._names))
        except ValueError as error:
            raise Refused(f"Not possible: {error}.") from None
        waits = self.table.question or self.table.state.is_terminal()
        own = self.table.state.current_player == self.seat
        self._waits = "over" if waits is True else "deal" if waits else "you" if own else "entry"
        possible = [] if waits else self.table.possible()
        self._legal = [UNSEEN if action == HIDDEN else named(game, action) for action in possible]

    def joined(self) -> Message:
        """The first message about the game."""
        return {**joined(self.table.game, "advise", self._names, self.seat, None, None), "can_undo": True}

    def show(self, viewer: Viewer) -> None:
        """Send the position, and ask the coach about one's own decision."""
        table, number = self.table, len(self.told)
        viewer.send(
            {
                **position(table.shown, number, self.seat, viewer.theme, viewer.size),
                "legal": self._legal,
                "waits_for": self._waits,
                "question": table.question,
                "can_undo": number > 0,
                "rounds": [],
            }
        )
        viewer.coach.ask(table.state if self._waits == "you" else None, number)
