"""`catbox replay`: a recorded game, forward and back, from any seat's view or all open."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from catbox_agents.arena.records import GameRecord
from catbox_app.match import printable
from catbox_app.recorded import positions, shown_position
from catbox_app.terminal.display import Display
from catbox_app.terminal.keys import has_keys, read_key, single_keys
from catbox_env import GameState

KEYS = (
    "right, space: next   left: back   down, up: next, last round   home, end: beginning, end   "
    "0-{last}: what this seat sees   a: all   q: quit"
)
#: Actions of a policy that are shown.
MOST_ACTIONS = 8


def replay(record: GameRecord, console: Console, seat: int | None = None, move: int = 0) -> None:
    """Show a game: on a terminal with keys, elsewhere as text from ``move`` to the end.

    ``seat``: whose view is shown at first; None: all open. ``move``: how many actions are played at first; more than
    there are: all.
    """
    display = Display(console, record.game, record.agents, seat)
    at = min(move, len(record.actions))
    if not (console.is_terminal and has_keys()):
        for number, (before, after) in enumerate(positions(record)):
            if number >= at:
                told, position = frame(record, display, number, before, after)
                console.print(Group(*told, Text(), position))
        return
    with single_keys():
        browse(record, display, at, read_key)


def browse(record: GameRecord, display: Display, at: int, next_key: Callable[[], str]) -> None:
    """Show the position after ``at`` actions, and go where the keys lead, until q."""
    last, seats = len(record.actions), record.game.num_players
    starts = _round_starts(record)
    keys = Text(KEYS.format(last=seats - 1), style="dim")
    with Live(auto_refresh=False, console=display.console, screen=True) as live:
        while True:
            reached = next(islice(positions(record), at, None))
            live.update(
                Group(keys, Text(), _side_by_side(*frame(record, display, at, *reached))), refresh=True
            )
            try:
                key = next_key().lower()
            except KeyboardInterrupt:
                return
            if key in ("right", "enter", "n"):
                at = min(at + 1, last)
            elif key in ("left", "b"):
                at = max(at - 1, 0)
            elif key == "down":
                at = min([start for start in starts if start > at], default=last)
            elif key == "up":
                at = max([start for start in starts if start < at], default=0)
            elif key in ("home", "g"):
                at = 0
            elif key == "end":
                at = last
            elif key == "a":
                display.viewer = None
            elif key.isdecimal() and int(key) < seats:
                display.viewer = int(key)
            elif key == "q":
                return


def _side_by_side(told: list[Text], position: Text) -> Group:
    """The headline of the position, and below it the rest, with what happened on the right."""
    headline, _, body = position.plain.partition("\n")
    table = Table.grid(padding=(0, 3))
    table.add_column(no_wrap=True)
    table.add_column()
    skipped = len(headline) + 1 + len(body) - len(body.lstrip("\n"))
    table.add_row(position[skipped:], Group(*told))
    return Group(position[: len(headline)], Text(), table)


def frame(
    record: GameRecord, display: Display, at: int, before: GameState | None, after: GameState
) -> tuple[list[Text], Text]:
    """What the last of ``at`` actions did, and the position after it; where it ended a round, the last one of that.

    ``before``, ``after``: item ``at`` of `positions`.
    """
    view = "all open" if display.viewer is None else f"as player_{display.viewer} sees it"
    lines = [Text(f"move {at} of {len(record.actions)}, {view}", style="dim")]
    if before is not None:
        action = record.actions[at - 1]
        lines += display.lines(record.game.events(before, action, after, display.viewer))
        policy = record.policies[at - 1]
        if policy is not None and display.viewer in (None, before.current_player):
            lines.append(_policy(record, policy))
    if at == len(record.actions):
        lines += _end(record, after)
    return lines, display.position(shown_position(record, at, before, after))


def _round_starts(record: GameRecord) -> list[int]:
    """After how many actions each round begins."""
    return [0, *(at for at, state in enumerate(record.states()) if at and state.round_ended)]


def _policy(record: GameRecord, policy: list[tuple[int, float]]) -> Text:
    """The probabilities of an agent, the highest first."""
    likely = sorted(policy, key=lambda pair: -pair[1])[:MOST_ACTIONS]
    told = ", ".join(f"{record.game.action_to_string(action)} {chance:.0%}" for action, chance in likely)
    return Text(f"  its policy: {told}", style="dim")


def _end(record: GameRecord, state: GameState) -> list[Text]:
    """How the game ended, where its actions do not say so."""
    if record.forfeit is not None:
        forfeit = record.forfeit
        reason = "\n".join(map(printable, forfeit["reason"].splitlines()))
        text = f"player_{forfeit['seat']} ({forfeit['agent']}) forfeited the game: {reason}"
        returns = ", ".join(f"player_{seat} {value:g}" for seat, value in enumerate(record.returns or ()))
        return [Text(text, style="bold red"), Text(f"it counts as {returns}")]
    if not state.is_terminal():
        return [Text("the game was not finished", style="bold")]
    return []
