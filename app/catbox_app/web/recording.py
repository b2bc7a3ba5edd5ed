"""A recorded game as a page sees it: any position, from any seat's view or all open."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from catbox_agents.arena.records import GameRecord, read_record_from
from catbox_app.match import printable
from catbox_app.recorded import RecordedGame
from catbox_app.web.coach import advice, probabilities
from catbox_app.web.pages import MOST_ACTIONS, Viewer, events, joined, position
from catbox_env import GameState


class Recording:
    """A game of a file of records.

    Args:
        record: the game.
        games: how many games the file holds; ``game_number``: which of them this is, from 1.

    Raises ``ValueError`` for a game that may take more than `MOST_ACTIONS` actions: each position has room for all.
    """

    def __init__(self, record: GameRecord, games: int = 1, game_number: int = 1) -> None:
        if record.game.history_length > MOST_ACTIONS:
            raise ValueError(
                f"a game that may take {record.game.history_length} actions; at most {MOST_ACTIONS} are shown here: "
                "catbox replay FILE shows it in the terminal"
            )
        self.record, self._games, self._game_number = record, games, game_number
        self._game = RecordedGame(record)
        self._number = 0
        self._seat: int | None = None
        self._names = [printable(name) for name in record.agents]

    @classmethod
    def read(cls, file: BinaryIO, name: Path | str, game_number: int) -> Recording:
        """Game ``game_number`` of a file of records. Errors as `read_record_from`."""
        record = read_record_from(file, name, game_number)
        return cls(record, game_number + sum(1 for line in file if line.strip()), game_number)

    def begin(self, viewer: Viewer, number: int = 0, seat: int | None = None) -> None:
        """Show the position after ``number`` actions, or the last one, as ``seat`` sees it; None: all open."""
        record = self.record
        number = min(number, len(record.actions))
        self._number, self._seat = number, seat
        told = {
            "length": len(record.actions),
            "games": self._games,
            "game_number": self._game_number,
            "number": number,
            "view": seat,
            "can_undo": False,
        }
        viewer.send({**joined(record.game, "replay", self._names, None, None, None), **told})
        self._tell_events(viewer)
        self.show(viewer)

    def step(self, viewer: Viewer, number: int, seat: int | None) -> None:
        """Show the position after ``number`` actions as ``seat`` sees it; None: all open."""
        self._number = number
        if seat != self._seat:
            self._seat = seat
            self._tell_events(viewer)
        self.show(viewer)

    def show(self, viewer: Viewer) -> None:
        """Send the position that is shown once more."""
        number = self._number
        state, shown = self._game.states[number], self._game.shown(number)
        message = position(shown, number, self._seat, viewer)
        message |= {"waits_for": "over" if state.is_terminal() else "person", "legal": [], "taken": None}
        if number < len(self.record.actions):
            message["taken"] = self.record.actions[number]
        viewer.send(message)
        if shown is state and self._seat in (None, state.current_player):
            self._tell_policy(viewer, state, number)
            viewer.coach.ask(state, number)
        else:
            viewer.coach.forget()

    def _tell_policy(self, viewer: Viewer, state: GameState, number: int) -> None:
        """What the agent that moves next has told of its probabilities, where nobody else is asked."""
        policy = self.record.policies[number] if number < len(self.record.policies) else None
        if policy is None or viewer.coach.is_on:
            return
        told = advice(number, self._names[state.current_player], probabilities(self.record.game, policy))
        viewer.send({**told, "recorded": True})

    def _tell_events(self, viewer: Viewer) -> None:
        for number in range(1, self._game.last + 1):
            viewer.send(events(number, self._game.events(number, self._seat), self._names))
