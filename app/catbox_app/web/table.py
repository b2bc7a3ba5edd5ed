"""A table: a match, the pages of the people who sit there or watch, and the pace of the agents."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from catbox_agents.arena.match import Decision, Match
from catbox_agents.arena.records import record_lines
from catbox_app.guide import Guide
from catbox_app.rules import place_in_words
from catbox_app.web.coach import Job, Viewer
from catbox_app.web.messages import Failed, Message, Refused, events, failed, joined, position, told_seed
from catbox_env import Game
from catbox_env.core.checks import PUBLIC
from catbox_env.core.state import illegal_reason, last_position

#: What stands for a person among the specs of the seats.
PERSON = "person"
#: The longest pause between two actions of agents, in seconds.
LONGEST_PAUSE = 10.0
#: What pages call the agents, by seat (static/cats.js).
CATS = ("Mochi", "Luna", "Tom", "Nala", "Felix", "Pixel")
#: How long the last board of a round is shown, in seconds, and so many times the pause between two actions.
SHOWN, SHOWN_PAUSES = 2.0, 4
#: How many of the last actions are sent again to a page that comes back.
TOLD_AGAIN = 200
#: The most pages that watch a table.
MAX_WATCHERS = 20


class Table:
    """A match that people play in their browsers.

    Args:
        match: the game.
        specs: for each seat the spec of its agent, or ``PERSON``.
        pace: seconds between the actions of agents.
        clock: the time in seconds; only differences matter.
        keys: the secret keys of the seats, None for an agent's. Default: new ones.
        is_guided: whether what happens for the first time is explained.

    Attributes (read-only): the above; ``keys``: the secret key of each person's seat, None for an agent's;
    ``watch_key``: that of everybody who watches; ``host``: the key of whoever sat down first; ``allows_coach``: whether
    people may use the coach; ``viewers``, ``watchers``: the pages of the seats, and others; ``used``: when it was last
    used; ``changes``: counts everything that happens; ``trouble``: why the agent to move cannot play; ``was_joined``:
    whether somebody ever sat there.
    """

    def __init__(
        self,
        match: Match,
        specs: Sequence[str],
        pace: float,
        clock: Callable[[], float],
        keys: Sequence[str | None] | None = None,
        is_guided: bool = False,
    ) -> None:
        self.is_guided = is_guided
        self.match, self.specs, self.pace = match, list(specs), pace
        self.keys = list(keys or [secrets.token_urlsafe(16) if spec == PERSON else None for spec in specs])
        # It follows from the others, so that it need not be kept, and reveals none of them.
        self.watch_key = hashlib.sha256(f"watch {sorted(filter(None, self.keys))}".encode()).hexdigest()[:32]
        self.host: str | None = None
        self.allows_coach = True
        self.viewers: dict[int, Viewer] = {}
        self.watchers: list[Viewer] = []
        self._called: dict[str, str] = {}
        self.trouble: str | None = None
        self.was_joined = keys is not None
        self._clock = clock
        self._thinks = False
        self.changes = 0  # a decision is outdated once this has increased
        self._paused_until = clock() + pace
        self.used = clock()

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.match.game

    @property
    def is_for_one(self) -> bool:
        """Whether one person plays against agents alone."""
        return len(self.match.people) == 1

    def opened(self) -> Message:
        """Who sits where, with the secret keys of people's seats, and the one to watch."""
        names = self.match.names
        return {
            "type": "opened",
            "seats": [{"seat": seat, "name": names[seat], "key": key} for seat, key in enumerate(self.keys)],
            "watch_key": self.watch_key,
        }

    # People come and go.

    def check_free(self, seat: int | None, viewer: Viewer) -> None:
        """Raise `Failed` if another page has ``seat``; None, to watch, is always free."""
        other = viewer if seat is None else self.viewers.get(seat, viewer)
        # The same page may come over a new connection before the loss of the old one is noticed.
        if other is not viewer and (not viewer.page or other.page != viewer.page):
            raise Failed(
                f"player_{seat}'s seat is taken: this link is open in another window. Close that one, or take over.",
                "taken",
            )

    def join(self, seat: int, viewer: Viewer) -> None:
        """Take ``seat``, and send everything. Another page that has the seat loses it, and is told so."""
        other = self.viewers.get(seat)
        if other is not None and other is not viewer:
            other.seat = None
            other.coach.forget()
            other.send(failed("This seat was taken over in another window.", "taken_over"))
        if self.host is None:
            self.host = self.keys[seat]
            self.changes += 1
        if seat in self.match.stand_ins:
            self.match.stand_in(seat, None)
            self._rearranged()
        viewer.seat = seat
        self.viewers[seat] = viewer
        self.was_joined = True
        self.used = self._clock()
        # Not the name of whoever sat there before.
        self._called[str(self.keys[seat])] = "" if self._is_taken(viewer.name, seat) else viewer.name
        self._tell_beginning(viewer)
        self._tell_people()

    def watch(self, viewer: Viewer) -> None:
        """Let another page watch, and send it everything that is public. Raises `Failed` if too many do."""
        if len(self.watchers) >= MAX_WATCHERS:
            raise Failed(f"{MAX_WATCHERS} people watch this table, the most that may.", "no_seat")
        self.watchers.append(viewer)
        self._tell_beginning(viewer)
        self._tell_people()

    def rename(self, viewer: Viewer, name: str) -> None:
        """Call the person in the seat of ``viewer`` by ``name``, and tell everybody. Raises `Refused` for the name of
        another."""
        assert viewer.seat is not None
        if self._is_taken(name, viewer.seat):
            raise Refused(f"Somebody at this table is called {name} already: choose another name.")
        self._called[str(self.keys[viewer.seat])] = name
        self._tell_people()

    def _is_taken(self, name: str, own: int) -> bool:
        """Whether a seat other than ``own`` is called ``name``."""
        others = {seat["seat"]: seat["name"] for seat in self.people()["seats"] if seat["seat"] != own}
        taken = [name.removeprefix("=") for name in others.values()]
        taken += [CATS[seat % len(CATS)] for seat in others if self.keys[seat] is None]
        return name != "" and name.casefold() in map(str.casefold, taken)

    def leave(self, viewer: Viewer) -> None:
        """Leave the seat, which stays free for whoever has its key, or stop watching."""
        viewer.coach.forget()
        if viewer in self.watchers:
            self.watchers.remove(viewer)
            self._tell_people()
        if viewer.seat is not None and self.viewers.get(viewer.seat) is viewer:
            del self.viewers[viewer.seat]
            self.used = self._clock()
            self._tell_people()
        viewer.seat = None

    # What the host decides.

    @property
    def host_seat(self) -> int | None:
        """The host's seat or, while that person is away, the next one clockwise where somebody is; None before that."""
        if self.host is None:
            return None
        first = self.keys.index(self.host)
        return min(self.viewers, key=lambda seat: (seat - first) % len(self.keys), default=first)

    def allow_coach(self, allowed: bool) -> None:
        """Let people use the coach, or not."""
        self.allows_coach = allowed
        self._rearranged()

    def stand_in(self, seat: int) -> None:
        """Let an agent play for a person who is not there, until the person comes back.

        Raises `Refused` if the person is there, and ``ValueError`` for the seat of an agent.
        """
        if seat in self.viewers:
            raise Refused(f"player_{seat} is here: an agent plays only for somebody who has left.")
        self.match.stand_in(seat, self._stand_in)
        self._rearranged()

    @property
    def _stand_in(self) -> str:
        """The agent that plays for people who are not there: like the first of this table."""
        return next((spec for spec in self.specs if spec != PERSON), "normal")

    # What people do.

    def act(self, seat: int, action: int, number: int) -> None:
        """The person in ``seat``, who has seen ``number`` actions, takes ``action``. Raises `Refused`."""
        if number != len(self.match.actions):
            self.show(self.viewers[seat])
            raise Refused("The game has moved on; look at it and choose again.")
        state = self.match.state
        if state.current_player == seat and action not in state.legal_actions():
            raise Refused(f"Not possible: {illegal_reason(state, action)}.")
        try:
            self.match.play(seat, action)
        except ValueError as error:
            raise Refused(str(error)) from None
        self._went_on(number)

    def undo(self, seat: int) -> None:
        """Take back the last action of the person in ``seat`` and what followed. Raises `Refused`."""
        try:
            self.match.undo(seat)
        except ValueError as error:
            raise Refused(str(error)) from None
        self._begin_again()

    def again(self, seat: int, deal: str, number: int = 0) -> None:
        """Start again: ``deal`` is ``"new"``, ``"same"``, or ``"from"``: the game as it is after ``number`` of its
        actions.

        Raises `Refused` if other people would lose their game or have seen the deal.
        """
        if not self.is_for_one:
            if not self.match.is_over:
                raise Refused("Several people play this game: a new one can begin when it is over.")
            if deal != "new":
                raise Refused("Everybody has seen this deal; with several people only a new one can follow.")
        # Before anything changes, because an agent may no longer be available.
        match = new_match(self.game, self.specs, None if deal == "new" else self.match.seed)
        if deal == "from":
            match.play_on(self.match.actions[:number], self.match.policies[:number])
        for place in self.match.stand_ins:
            match.stand_in(place, self._stand_in)
        self.match = match
        self._begin_again()

    def set_pace(self, seconds: float) -> None:
        """Set how long agents wait from now on."""
        self._paused_until += seconds - self.pace
        self.pace = seconds

    def go_on(self) -> None:
        """The person alone with agents has seen the last board of a round."""
        if self.is_for_one and self._round_ended:
            self._paused_until = min(self._paused_until, self._clock() + self.pace)

    def record(self) -> Message:
        """The game as a file of records. Raises `Refused` before its end, because the file holds everybody's cards."""
        if not self.match.is_over:
            raise Refused("A saved game holds the cards of all seats: it can be saved only when it is over.")
        names = list(dict.fromkeys(self.match.names))
        lines = record_lines(self.game, names, [self.match.record()])
        name = f"{self.game.id.rpartition('_v')[0]}-{self.match.seed}.jsonl"
        return {"type": "record", "name": name, "text": "".join(lines)}

    # What agents do.

    def seconds_to_wait(self) -> float | None:
        """Seconds until an agent may start to think (0 or less: now); None: no agent is to move, or one is thinking."""
        if self._thinks or self.trouble or self.match.is_over or self.match.waits_for_person:
            return None
        return self._paused_until - self._clock() if self.viewers else None

    def think(self) -> Job:
        """The job that plays the next action of an agent."""
        asked, number = self.changes, len(self.match.actions)
        self._thinks = True

        def finish(decision: Decision) -> None:
            self._thinks = False
            if asked == self.changes:
                self.match.play_agent(decision)
                self._went_on(number)

        def fail(error: ValueError) -> None:
            self._thinks = False
            if asked == self.changes:
                self.trouble = f"{error} It cannot play on: take your last action back, or start a new game."
                for viewer in self.pages:
                    viewer.send(failed(self.trouble, "agent"))

        return Job(self.match.thought(), finish, fail)

    # What pages are told.

    @property
    def pages(self) -> list[Viewer]:
        """Those that sit there, and those that watch."""
        return [*self.viewers.values(), *self.watchers]

    def show(self, viewer: Viewer) -> None:
        """Send the position to a page, and ask its coach."""
        seat, match = viewer.seat, self.match
        to_move = match.current_player
        seen_by = None if match.is_over else PUBLIC if seat is None else seat  # the end reveals all cards
        message = position(match.state, len(match.actions), seen_by, viewer.theme, viewer.size)
        message["rounds"] = match.rounds
        message["places"] = match.places if match.is_over else None
        message["place"] = place_in_words(seat, match.places) if match.is_over and seat is not None else None
        if match.is_over:
            message["waits_for"] = "over"
        elif match.waits_for_person:
            message["waits_for"] = "you" if to_move == seat else "person"
        else:
            message["waits_for"] = "agent"
        message["can_undo"] = self.is_for_one and seat in match.movers
        message["ended"] = None
        if self._round_ended:  # the end of that round, and how many seconds to show it
            board = last_position(match.states[-2], match.actions[-1], match.state)
            svg = self.game.render_svg(board, seen_by, viewer.size, viewer.theme)
            message["ended"] = {"svg": svg, "seconds": self._seconds_shown}
        viewer.send(message)
        is_advised = self.allows_coach and to_move == seat
        viewer.coach.ask(match.state if is_advised else None, len(match.actions))

    @property
    def _round_ended(self) -> bool:
        """Whether the last action ended a round, and another has begun."""
        return self.match.state.round_ended and not self.match.is_over

    @property
    def _seconds_shown(self) -> float:
        return SHOWN + SHOWN_PAUSES * self.pace

    def _changed(self) -> None:
        self.changes += 1
        self.trouble = None
        self.used = self._clock()
        self._paused_until = self.used + (self._seconds_shown if self._round_ended else self.pace)

    def _rearranged(self) -> None:
        """Tell everybody who plays now, and what the host has decided."""
        self._changed()
        self._tell_people()
        for viewer in self.pages:
            self.show(viewer)

    def _begin_again(self) -> None:
        self._changed()
        for viewer in self.pages:
            self._tell_beginning(viewer)
        self._tell_people()

    def _went_on(self, first: int) -> None:
        """Tell everybody what happened from action ``first`` on, counted from 0."""
        self._changed()
        for viewer in self.pages:
            self._tell_events(viewer, first)
            self.show(viewer)
            if self.match.is_over:
                viewer.send({"type": "ended", "seed": told_seed(self.match.seed)})

    def _tell_beginning(self, viewer: Viewer) -> None:
        seat = viewer.seat
        alone = seat if self.is_for_one else None
        # The seed reveals all cards: several people, and those who watch, learn it when the game is over.
        seed = self.match.seed if alone is not None or self.match.is_over else None
        told = joined(self.game, "play", self.match.names, seat, seed)
        guide = Guide(self.game.id).begin if self.is_guided else []
        viewer.send({**told, "can_undo": alone is not None, "guide": guide})
        viewer.send(self.people())  # before the events, which name them
        self._tell_events(viewer, max(0, len(self.match.actions) - TOLD_AGAIN))
        self.show(viewer)
        if self.trouble:
            viewer.send(failed(self.trouble, "agent"))

    def _tell_events(self, viewer: Viewer, first: int) -> None:
        seen_by = PUBLIC if viewer.seat is None else viewer.seat
        guide, start = (Guide(self.game.id), 0) if self.is_guided else (Guide(""), first)
        for number, told in enumerate(self.match.events(seen_by, start), start):
            lines = guide.lines(told)  # also for what was told before: each only once
            if number >= first:
                viewer.send({**events(number + 1, told, self.match.names), "guide": lines})

    def _tell_people(self) -> None:
        for viewer in self.pages:
            viewer.send(self.people())

    def people(self) -> Message:
        """Who is at the table."""
        seats = [
            {
                "seat": seat,
                "name": f"={called}" if (called := self._called.get(key or "")) else name,
                "present": key is None or seat in self.viewers,
                "stand_in": seat in self.match.stand_ins,
            }
            for seat, (name, key) in enumerate(zip(self.match.names, self.keys, strict=True))
        ]
        return {
            "type": "people",
            "seats": seats,
            "host": self.host_seat,
            "coach": self.allows_coach,
            "watching": len(self.watchers),
        }


def new_match(game: Game, specs: Sequence[str], seed: int | None) -> Match:
    """A match between people and agents; errors as `Match` raises them."""
    seats: list[Any] = [None if spec == PERSON else spec for spec in specs]
    return Match(game, seats, seed)
