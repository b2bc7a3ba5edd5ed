"""A game at the terminal: the position, what happened, hints, an agent's reasons; and single keys, without Enter."""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from catbox_agents import Agent, AgentError
from catbox_agents.arena.match import Match, with_names
from catbox_agents.arena.records import write_records
from catbox_agents.arena.terminal_tables import TerminalTable, terminal_table
from catbox_agents.search.action_values import WORLDS, ActionValue, action_values
from catbox_app.guide import Guide
from catbox_app.rules import as_player
from catbox_app.web.table import CATS
from catbox_env import Event, Game, GameState
from catbox_env.core.state import last_position, styled_text

#: At most so many actions are shown with their reasons, or in a short hint.
MAX_SHOWN = 3
#: Kinds of events that stand out; a game may have others.
STYLES = {
    "trick_won": "bold",
    "round_end": "bold",
    "score": "bold",
    "game_end": "bold green",
    "x_token_lost": "yellow",
    "paradox": "bold red",
    "paradox_due": "bold red",
    "paradox_card": "red",
    "eliminated": "red",
    "petrified": "bold red",
    "unfinished": "bold",
}
#: The colours and the cards with a suit in a text, by style.
RANK = "(?:10|[2-9JQKA])"
CARDS = "|".join(
    rf"(?P<{style}>\b(?:{cards})\b)"
    for style, cards in {"red": rf"red|{RANK}H", "blue": rf"blue|{RANK}D", "green": rf"green|{RANK}C",
                         "yellow": "yellow", "magenta": rf"{RANK}S"}.items()
)  # fmt: skip
#: What terminals send for special keys.
SEQUENCES = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1bOA": "up", "\x1bOB": "down",
    "\x1bOC": "right", "\x1bOD": "left", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home", "\x1b[4~": "end",
    "\x1b[5~": "up", "\x1b[6~": "down", "\r": "right", "\n": "right", " ": "right", "\x7f": "left", "\x04": "q",
}  # fmt: skip
#: The same on Windows, after the first character of two.
WINDOWS = {"H": "up", "P": "down", "M": "right", "K": "left", "G": "home", "O": "end", "I": "up", "Q": "down"}
#: Seconds to wait for the rest of a sequence; nothing follows the Escape key alone.
REST = 0.05


@dataclass
class Display:
    """What a viewer sees of a game at the terminal.

    ``names``: of the seats; ``viewer``: the seat that looks; None: all hands open; ``guide``: explains what happens.
    ``plays``: whether the viewer is a player, whom texts call "you", and the others by cats as in the browser.
    """

    console: Console
    game: Game
    names: Sequence[str]
    viewer: int | None
    guide: Guide | None = None
    plays: bool = False
    _hinted: bool = field(default=False, init=False)
    _tried: bool = field(default=False, init=False)

    def position(self, state: GameState) -> Text:
        """The position, with the hand of the viewer or all hands."""
        return self._drawn(styled_text(state, self.viewer))

    def _drawn(self, segments: Iterable[tuple[str, str]]) -> Text:
        return Text.assemble(*((self.told(text), style) for text, style in segments))

    def told(self, text: str) -> str:
        """``text`` with the names that a player reads; else as it is."""
        return as_player(text, self.viewer, CATS) if self.plays and self.viewer is not None else text

    def _named(self, sentence: str) -> str:
        """``sentence`` with the names of the seats, as the viewer reads them."""
        text = self.told(sentence) if self.plays else with_names(sentence, self.names)
        return re.sub("^you", "You", text)

    def show(self, state: GameState) -> None:
        """Print the position below an empty line."""
        self.console.print()
        self.console.print(self.position(state))

    def lines(self, events: Iterable[Event]) -> list[Text]:
        """What happened in one action, a line each; seats at the beginning of a line are named."""
        found = []
        for number, event in enumerate(events):
            line = Text("  " if number else "", style=STYLES.get(event.kind, ""))
            line.append(self._named(event.text))
            line.highlight_regex(CARDS)
            found.append(line)
        return found

    def tell_last(self, match: Match) -> None:
        """Print what happened in the last action; above the end of a round, its last position, all open."""
        (before, after), action = match.states[-2:], match.actions[-1]
        events = list(self.game.events(before, action, after, self.viewer))
        told = self.lines(events)
        if after.round_ended:
            ends = [place for place, event in enumerate(events) if event.kind in ("round_end", "game_end")]
            last = last_position(before, action, after)
            drawn = Text("\n") + self._drawn(styled_text(last, None))
            told.insert(min([*ends, len(events)]), drawn)
        for line in told:
            self._print(line)
        if self.guide is not None:
            self.tell_guide(self.guide.lines(events))

    def tell_guide(self, lines: Iterable[tuple[str, str, str]]) -> None:
        """Print what a newcomer should know."""
        for _, line, _ in lines:
            self._print(Text(f"  → {self._named(line)}", style="cyan"))

    def _print(self, line: Text) -> None:
        """Print a line, on a terminal with what does not fit indented, or a position."""
        if self.console.is_terminal and "\n" not in line.plain:
            line = Text("\n    ").join(line.wrap(self.console, self.console.width - 4))
        self.console.print(line, soft_wrap=not self.console.is_terminal)

    def short_hint(self, state: GameState) -> None:
        """Print the lead that the best actions of the seat to move promise, those that are alike in bold."""
        found = self._values(state)
        told = f"Hint: the best by lead (bold: as good as the first). Type hint to see all {len(found)}"
        self.console.print(Text(told, style="dim"))
        names = [self.game.action_to_string(estimate.action) for estimate in found[:MAX_SHOWN]]
        for name, estimate in zip(names, found, strict=False):
            told = f"  {name:<{max(map(len, names))}}  {estimate.lead:+.2f} ± {estimate.interval:.2f}"
            line = Text(told, "bold" if estimate.is_alike else "")
            line.highlight_regex(CARDS)
            self.console.print(line)

    def _values(self, state: GameState) -> list[ActionValue]:
        first = "" if self._tried else ": the first time, compiling takes up to a minute"
        self._tried = True
        with self.console.status(f"Trying your actions{first}."):
            return action_values(self.game, state.observation(state.current_player))

    def hint(self, state: GameState) -> None:
        """Print the expected outcome of each legal action for the seat to move."""
        told = (
            f"The expected outcome of each action in this round, best first: means over {WORLDS} worlds consistent "
            "with what you see. Lead: your points minus the mean of the others'."
        )
        if not self._hinted:
            self.console.print(Text(told, style="dim"))
        self._hinted = True
        table = TerminalTable("action")
        found = self._values(state)
        for name in ("points", "lead", *found[0].chances):
            table.add_column(name.replace("_", " "), justify="right")
        alike = sum(estimate.is_alike for estimate in found)
        for estimate in found:
            lead = f"{estimate.lead:+.2f} ± {estimate.interval:.2f}"
            chances = [f"{chance:.0%}" for chance in estimate.chances.values()]
            name = self.game.action_to_string(estimate.action)
            table.add_row(
                name, f"{estimate.points:.2f}", lead, *chances, style="bold" if estimate.is_alike else ""
            )
        self.console.print(table)
        if alike > 1:
            told = "All" if alike == len(found) else f"{alike} actions, in bold,"
            self.console.print(
                Text(f"{told} are alike: the differences are within their errors.", style="dim")
            )

    def reasons(self, agent: Agent | None, state: GameState, policy: Sequence[Sequence[Any]] | None) -> None:
        """Print the reasons of an agent for its best actions, or else its ``policy``, pairs (action, probability)."""
        explain: Callable[..., dict[int, dict[str, float]]] | None = getattr(agent, "explain", None)
        if explain is None and policy is not None:
            table = TerminalTable("action", title="probability of each action")
            table.add_column("probability", justify="right")
            for action, chance in sorted(policy, key=lambda pair: -pair[1])[:MAX_SHOWN]:
                table.add_row(self.game.action_to_string(action), f"{chance:.1%}")
            self.console.print(table)
            return
        if explain is None:
            self.console.print("(this agent gives neither reasons nor probabilities)")
            return
        try:
            reasons = explain(state.observation(state.current_player), state.action_mask())
        except Exception as error:
            raise AgentError(type(agent).__name__, error) from error
        rows = [["action", *next(iter(reasons.values())), "total"]]
        for action, points in list(reasons.items())[:MAX_SHOWN]:
            values = [*points.values(), sum(points.values())]
            rows.append([self.game.action_to_string(action), *(f"{value:.2f}" for value in values)])
        title = "points by reason, best first; the agent's own scale"
        self.console.print(terminal_table(rows, title=title))


@contextmanager
def saving(match: Match, path: Path | None, console: Console) -> Iterator[None]:
    """Write the game to ``path`` when the block ends, however it does; None: write nothing."""
    try:
        yield
    finally:
        if path is not None:
            write_records(path, match.game, list(dict.fromkeys(match.names)), [match.record()])
            console.print(Text(f"Saved to {path}; catbox replay shows it."), soft_wrap=True)


def has_keys() -> bool:
    """Whether the input is a keyboard, so that `single_keys` can be used."""
    return sys.stdin.isatty()


@contextmanager
def single_keys() -> Iterator[None]:
    """In this block keys are read one by one, without echo; Ctrl-C still interrupts. Needs `has_keys`."""
    if sys.platform == "win32":
        yield
        return
    import termios  # not on Windows
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def read_key() -> str:
    """The next key in a block of `single_keys`: a character, or left, right, up, down, home, end.

    The space bar and Enter are right, and the end of the input is q.
    """
    if sys.platform == "win32":
        import msvcrt  # on Windows alone

        key = msvcrt.getwch()
        return WINDOWS.get(msvcrt.getwch(), "") if key in ("\x00", "\xe0") else SEQUENCES.get(key, key)
    terminal = sys.stdin.fileno()
    data = os.read(terminal, 1)
    while data[:1] == b"\x1b" and len(data) < 6 and select.select([terminal], [], [], REST)[0]:
        data += os.read(terminal, 1)
        if len(data) > 2 and (data[-1:].isalpha() or data[-1:] == b"~"):
            break
    text = data.decode(errors="replace")
    return SEQUENCES.get(text, text) if text else "q"
