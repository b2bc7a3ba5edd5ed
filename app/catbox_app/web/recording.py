"""A recorded game: any position, from any seat's view or with all hands open; and as a page sees it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import BinaryIO

from catbox_agents.arena.records import GameRecord, read_record_from
from catbox_agents.specs import printable
from catbox_app.web.coach import Viewer
from catbox_app.web.messages import MAX_ACTIONS, Message, advice, events, joined, position, probabilities
from catbox_env import Event, GameState
from catbox_env.core.state import last_position


class RecordedGame:
    """A record with all its positions.

    Attributes: ``record``; ``last``: how many actions it has; ``states``: the position at the beginning and after each
    action.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record, self.last = record, len(record.actions)
        self.states = [copy.deepcopy(state) for state in record.states()]

    def shown(self, number: int) -> GameState:
        """The position to show after ``number`` actions: if the last of them ended a round, the end of that round."""
        if number == 0:
            return self.states[0]
        return last_position(self.states[number - 1], self.record.actions[number - 1], self.states[number])

    def events(self, number: int, seat: int | None) -> list[Event]:
        """What ``seat`` (None: all hands open) sees of action ``number``, counted from 1; 0: of the beginning.

        The last one also says how the game ended, if its actions do not.
        """
        told: list[Event] = []
        if number:
            before, after = self.states[number - 1 : number + 1]
            told += self.record.game.events(before, self.record.actions[number - 1], after, seat)
        if number < self.last:
            return told
        if not self.states[-1].is_terminal():
            told.append(Event("unfinished", None, "the game was not finished"))
        return told


class Recording(RecordedGame):
    """A game of a file of records, as messages; `step` and `show` send them to the one page that shows it.

    Args:
        record: the game.
        games: how many games the file holds; ``game_number``: which of them this is, from 1.

    Raises ``ValueError`` for a game that may take more than `MAX_ACTIONS` actions: each position has room for all.
    """

    def __init__(self, record: GameRecord, games: int = 1, game_number: int = 1) -> None:
        if record.game.max_game_length > MAX_ACTIONS:
            raise ValueError(
                f"this game may take {record.game.max_game_length} actions; at most {MAX_ACTIONS} can be shown here: "
                "catbox replay FILE shows it in the terminal"
            )
        super().__init__(record)
        self._games, self._game_number = games, game_number
        self._number = 0
        self._seat: int | None = -1  # no view yet
        self._names = [printable(name) for name in record.agents]

    @classmethod
    def read(cls, file: BinaryIO, name: Path | str, game_number: int) -> Recording:
        """Game ``game_number`` of a file of records. Errors as `read_record_from`."""
        record = read_record_from(file, name, game_number)
        return cls(record, game_number + sum(1 for line in file if line.strip()), game_number)

    def joined(self, number: int, seat: int | None) -> Message:
        """The first message to a page that starts after ``number`` actions in the view of ``seat``; None: all hands
        open."""
        return {
            **joined(self.record.game, "replay", self._names, None, None),
            "length": self.last,
            "games": self._games,
            "game_number": self._game_number,
            "number": number,
            "view": seat,
            "can_undo": False,
        }

    def all_events(self, seat: int | None) -> list[Message]:
        """The events of all actions."""
        return [events(number, self.events(number, seat), self._names) for number in range(1, self.last + 1)]

    def position(self, number: int, seat: int | None, theme: str, size: int) -> Message:
        """The position after ``number`` actions."""
        ended = self.states[number].is_terminal()
        return {
            **position(self.shown(number), number, seat, theme, size),
            "waits_for": "over" if ended else "person",
            "legal": [],
            "taken": self.record.actions[number] if number < self.last else None,
        }

    def decision(self, number: int, seat: int | None) -> GameState | None:
        """The position after ``number`` actions, if ``seat`` can see the decision in it."""
        state = self.states[number]
        return state if self.shown(number) is state and seat in (None, state.current_player) else None

    def policy(self, number: int, seat: int | None) -> Message | None:
        """The recorded probabilities of the agent to move, if ``seat`` can see its decision."""
        state = self.decision(number, seat)
        policy = self.record.policies[number] if number < self.last else None
        if state is None or policy is None:
            return None
        told = advice(number, self._names[state.current_player], probabilities(self.record.game, policy))
        return {**told, "recorded": True}

    def step(self, viewer: Viewer, number: int, seat: int | None) -> None:
        """Show the position after ``number`` actions as ``seat`` sees it (None: all hands open), after all events if
        that is another view."""
        if seat != self._seat:
            for message in self.all_events(seat):
                viewer.send(message)
        self._number, self._seat = number, seat
        self.show(viewer)

    def show(self, viewer: Viewer) -> None:
        """Send the current position again, with the advice of the coach or else the recorded policy."""
        number, seat = self._number, self._seat
        viewer.send(self.position(number, seat, viewer.theme, viewer.size))
        if viewer.coach.shows is None and (policy := self.policy(number, seat)) is not None:
            viewer.send(policy)
        viewer.coach.ask(self.decision(number, seat), number)
