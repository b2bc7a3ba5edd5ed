"""A recorded game as a page sees it: any position, from any seat's view or all open."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

from catbox_agents.arena.records import GameRecord, count_games, read_record, read_record_from
from catbox_app.match import printable, with_names
from catbox_app.web.pages import Message, Viewer, events, joined, position
from catbox_env import GameState
from catbox_env.core.events import last_position

#: The longest recorded game that is shown, in actions: all its positions are kept, and all its events told at once.
MOST_ACTIONS = 2000


class Recording:
    """A game of a file of records.

    Args:
        record: the game.
        games: how many games the file holds; ``number``: which of them this is, from 1.

    Raises ``ValueError`` for a game that may take more than `MOST_ACTIONS` actions: each position has room for all.
    """

    def __init__(self, record: GameRecord, games: int = 1, number: int = 1) -> None:
        if record.game.history_length > MOST_ACTIONS:
            raise ValueError(
                f"a game that may take {record.game.history_length} actions; at most {MOST_ACTIONS} are shown here: "
                "catbox replay FILE shows it in the terminal"
            )
        self.record, self._games, self._number = record, games, number
        self.seat: int | None = None
        self._states = [copy.deepcopy(state) for state in record.states()]
        self._names = [printable(name) for name in record.agents]

    @classmethod
    def of(cls, text: str, number: int) -> Recording:
        """Game ``number`` of a file of records. Raises ``ValueError`` for a file that is none."""
        if not text.endswith("\n"):
            text += "\n"
        record = read_record_from(io.BytesIO(text.encode(errors="replace")), "the file", number)
        return cls(record, sum(1 for line in text.splitlines() if line.strip()) - 1, number)

    @classmethod
    def read(cls, path: Path, number: int) -> Recording:
        """Game ``number`` of the file at ``path``. Raises ``ValueError`` and ``OSError`` as `read_record` does."""
        return cls(read_record(path, number), count_games(path), number)

    def begin(self, viewer: Viewer, number: int = 0, seat: int | None = None) -> int:
        """Show the position after ``number`` actions, or the last one, as ``seat`` sees it; None: all open.

        Returns the number of actions after which that is.
        """
        record = self.record
        number = min(number, len(record.actions))
        self.seat = seat
        told = {
            "length": len(record.actions),
            "games": self._games,
            "game_number": self._number,
            "number": number,
            "view": seat,
            "can_undo": False,
        }
        viewer.send({**joined(record.game, "replay", self._names, None, None, None), **told})
        self._tell_events(viewer)
        self.show(viewer, number)
        return number

    def step(self, viewer: Viewer, number: int, seat: int | None) -> None:
        """Show the position after ``number`` actions as ``seat`` sees it; None: all open."""
        if seat != self.seat:
            self.seat = seat
            self._tell_events(viewer)
        self.show(viewer, number)

    def show(self, viewer: Viewer, number: int) -> None:
        """Send the position after ``number`` actions; where they end a round, the last one of that round."""
        state = self._states[number]
        shown = state
        if number:
            shown = last_position(self._states[number - 1], self.record.actions[number - 1], state)
        message = position(shown, number, self.seat, viewer)
        message |= {"waits_for": "over" if state.is_terminal() else "person", "legal": [], "taken": None}
        if number < len(self.record.actions):
            message["taken"] = self.record.actions[number]
        viewer.send(message)
        if shown is state and self.seat in (None, state.current_player):
            self._tell_policy(viewer, state, number)
            viewer.coach.ask(state, number)
        else:
            viewer.coach.forget()

    def _tell_policy(self, viewer: Viewer, state: GameState, number: int) -> None:
        """What the agent that moves next has told of its probabilities, where nobody else is asked."""
        policy = self.record.policies[number] if number < len(self.record.policies) else None
        if policy is None or viewer.coach.is_on:
            return
        values: list[dict[str, Any]] = [
            {
                "action": action,
                "text": self.record.game.action_to_string(action),
                "value": float(chance),
                "unit": "probability",
                "interval": None,
            }
            for action, chance in policy
        ]
        best = max(values, key=lambda value: float(value["value"]), default=None)
        name = self._names[state.current_player]
        viewer.send(
            {
                "type": "coach",
                "number": number,
                "agent": name,
                "values": values,
                "best": best and best["action"],
                "recorded": True,
            }
        )

    def _tell_events(self, viewer: Viewer) -> None:
        record = self.record
        last = len(record.actions)
        for number, action in enumerate(record.actions, 1):
            told = record.game.events(self._states[number - 1], action, self._states[number], self.seat)
            message: Message = events(number, told, self._names)
            if number == last:
                message["lines"] += self._end()
            viewer.send(message)

    def _end(self) -> list[dict[str, Any]]:
        """How the game ended, where its actions do not say so."""
        forfeit = self.record.forfeit
        if forfeit is not None:
            who = with_names(f"player_{forfeit['seat']}", self._names)
            text = f"{who} forfeited the game: {printable(forfeit['reason'])}"
            return [{"text": text, "kind": "forfeit", "seat": forfeit["seat"]}]
        if not self._states[-1].is_terminal():
            return [{"text": "the game was not finished", "kind": "unfinished", "seat": None}]
        return []
