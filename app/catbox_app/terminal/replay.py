"""`catbox replay`: a recorded game, forward and back, from any seat's view or with all hands open."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from catbox_agents.arena.records import GameRecord
from catbox_app.recorded import RecordedGame
from catbox_app.terminal.display import Display
from catbox_app.terminal.keys import has_keys, read_key, single_keys

KEYS = (
    "right, space: next   left: back   down, up: next, last round   home, end: beginning, end   "
    "0-{last}: what this seat sees   a: all   q: quit"
)
#: The most actions of a policy that are shown.
MAX_ACTIONS = 8


def replay(record: GameRecord, console: Console, seat: int | None = None, move: int = 0) -> None:
    """Show a game: on a terminal with keys, elsewhere as text from ``move`` to the end.

    ``seat``: whose view to show first; None: all hands open. ``move``: how many actions to start after, at most all.
    """
    display = Display(console, record.game, record.agents, seat)
    game = RecordedGame(record)
    at = min(move, game.last)
    if console.is_terminal and has_keys():
        with single_keys():
            browse(game, display, at, read_key)
        return
    for number in range(at, game.last + 1):
        told, position = frame(game, display, number)
        console.print(Group(*told, Text(), position))


def browse(game: RecordedGame, display: Display, at: int, next_key: Callable[[], str]) -> None:
    """Show the position after ``at`` actions, and go where the keys lead, until q."""
    last, seats = game.last, game.record.game.num_players
    starts = [0, *(at for at, state in enumerate(game.states) if at and state.round_ended)]
    keys = Text(KEYS.format(last=seats - 1), style="dim")
    with Live(auto_refresh=False, console=display.console, screen=True) as live:
        while True:
            live.update(Group(keys, Text(), _side_by_side(*frame(game, display, at))), refresh=True)
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


def frame(game: RecordedGame, display: Display, at: int) -> tuple[list[Text], Text]:
    """What the last of ``at`` actions did, and the position after it, or the end of the round that it ended."""
    view = "all hands open" if display.viewer is None else f"as player_{display.viewer} sees it"
    lines = [Text(f"move {at} of {game.last}, {view}", style="dim")]
    lines += display.lines(game.events(at, display.viewer))
    policy = game.record.policies[at - 1] if at else None
    if policy is not None and display.viewer in (None, game.states[at - 1].current_player):
        lines.append(_policy(game.record, policy))
    return lines, display.position(game.shown(at))


def _policy(record: GameRecord, policy: list[tuple[int, float]]) -> Text:
    """The probabilities of an agent, the highest first."""
    likely = sorted(policy, key=lambda pair: -pair[1])[:MAX_ACTIONS]
    told = ", ".join(f"{record.game.action_to_string(action)} {chance:.0%}" for action, chance in likely)
    return Text(f"  its policy: {told}", style="dim")
