"""`catbox play`: a person against agents at the terminal, in any game."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from catbox_agents.arena.records import write_records
from catbox_agents.match import Match
from catbox_app.terminal.display import Display
from catbox_app.terminal.typed_actions import parse_action
from catbox_env import GameState

HELP = """\
Type what you want to do:
  an action     in full ("{action}"), abbreviated, or by its id ("#{id}")
  list          the actions you may take now, with their ids
  hint          the expected outcome of each of them
  table         show the game again
  rules         the rules in short
  undo          take back your last action, and all since
  help          this text
  quit          leave the game (so do Ctrl-D and Ctrl-C)"""


def play(
    match: Match, seat: int, console: Console, again: str, hints: bool = False, save: Path | None = None
) -> None:
    """Let the only person, in ``seat``, play against agents; returns when the game is over or the person leaves.

    ``again``: the command that plays the same deal again; ``hints``: show a hint before every action of the person;
    ``save``: a file for the game, even if the person leaves.
    """
    others = [name for other, name in enumerate(match.names) if other != seat]
    names = list(match.names)
    if len(set(others)) == 1:  # a name for all need not be repeated
        names = ["you" if other == seat else "" for other in range(len(names))]
    display = Display(console, match.game, names, seat)
    read_any_bytes()
    against = escape(", ".join(dict.fromkeys(others)))
    console.print(
        f"You are player_{seat}, against {against}. Type [bold]help[/] if you are lost, "
        "[bold]rules[/] for the rules, [bold]list[/] for what you may do.",
        highlight=False,
    )
    same_deal = Text(f"Seed {match.seed}. The same deal again: {again}")
    console.print(same_deal, soft_wrap=True)
    try:
        with saving(match, save, console):
            while not match.is_over:
                if match.waits_for_person:
                    display.show(match.state)
                    _show_legal(display, match.state)
                    if hints:
                        display.hint(match.state)
                    _take_turn(match, seat, display)
                else:
                    match.play_agent()
                    tell_last(match, display)
    except (EOFError, KeyboardInterrupt):
        console.print("\nYou left the game. Bye!")
        return
    console.print(Text(f"\n{place_in_words(seat, match.places)}", style="bold"))
    console.print(same_deal, soft_wrap=True)


def tell_last(match: Match, display: Display) -> None:
    """Print what happened in the last action."""
    before, after = match.states[-2:]
    display.tell(before, match.actions[-1], after)


@contextmanager
def saving(match: Match, path: Path | None, console: Console) -> Iterator[None]:
    """Write the game to ``path`` when the block ends, however it does; None: write nothing."""
    try:
        yield
    finally:
        if path is not None:
            write_records(path, match.game, list(dict.fromkeys(match.names)), [match.record()])
            console.print(Text(f"Saved to {path}; catbox replay shows it."), soft_wrap=True)


def read_any_bytes() -> None:
    """From here on, read invalid bytes as replacement characters: such input is rejected and asked for again."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def _take_turn(match: Match, seat: int, display: Display) -> None:
    """One action of the person to move, or an undo. Raises ``EOFError`` if the person leaves."""
    console, state = display.console, match.state
    legal = state.legal_actions()
    only = match.game.action_to_string(legal[0]) if len(legal) == 1 else None
    words: dict[str, Callable[[], None]] = {
        "help": lambda: _help(display, legal),
        "list": lambda: _list(display, legal),
        "hint": lambda: display.hint(state),
        "table": lambda: display.show(state),
        "rules": lambda: _rules(display),
    }
    words |= {"h": words["help"], "?": words["help"], "l": words["list"], "t": words["table"]}
    while True:
        if only is not None:
            console.print(Text(f"Your only legal action: {only} (press Enter)"))
        text = console.input("[bold]your move>[/] ").strip()
        word = text.lower()
        if word in ("quit", "exit", "q"):
            raise EOFError
        try:
            if word in words:
                words[word]()
            elif word == "undo":
                count = match.undo(seat)
                console.print(Text(f"Taken back: {count} action{'' if count == 1 else 's'}."))
                return
            elif word or only is not None:
                match.play(seat, parse_action(state, text) if word else legal[0])
                tell_last(match, display)
                return
        except ValueError as error:
            console.print(Text(str(error), style="yellow"))


def _help(display: Display, legal: list[int]) -> None:
    known = HELP.format(action=display.game.action_to_string(legal[0]), id=legal[0])
    display.console.print(known, markup=False, highlight=False)


def _show_legal(display: Display, state: GameState) -> None:
    """Print the legal actions, if there are several, in a line: "You may: play yellow 3 4 6, play green 3"."""
    groups: dict[str, list[str]] = {}
    legal = state.legal_actions()
    if len(legal) == 1:
        return
    for action in legal:
        *words, last = display.game.action_to_string(action).split(" ")
        groups.setdefault(" ".join(words), []).append(last)
    told = ", ".join(" ".join([words, *lasts]).strip() for words, lasts in groups.items())
    display.console.print(Text(f"You may: {told}", style="dim"))


def place_in_words(seat: int, places: Sequence[int]) -> str:
    """How ``seat`` finished, in words."""
    place, shared = places[seat], places.count(places[seat]) > 1
    if place == 1:
        return "You share the win." if shared else "You win."
    ordinal = {2: "2nd", 3: "3rd"}.get(place, f"{place}th")
    return f"You share {ordinal} place." if shared else f"You finish {ordinal}."


def _list(display: Display, legal: list[int]) -> None:
    for action in legal:
        display.console.print(Text(f"  #{action:<3} {display.game.action_to_string(action)}"))


def _rules(display: Display) -> None:
    for paragraph in display.game.describe_rules():
        display.console.print(Text(f"- {paragraph}"))
