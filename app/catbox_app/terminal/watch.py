"""`catbox watch`: agents among themselves. On a terminal the position stays in place; events scroll above it."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from catbox_agents.match import Match
from catbox_app.terminal.display import Display
from catbox_app.terminal.keys import has_keys, read_key, single_keys
from catbox_app.terminal.play import read_any_bytes, saving, tell_last

#: Default seconds between moves on a terminal.
DELAY = 0.5


def watch(
    match: Match,
    console: Console,
    again: str,
    delay: float | None = None,
    step: bool = False,
    reasons: bool = False,
    save: Path | None = None,
) -> None:
    """Show a game of agents, move by move.

    Args:
        again: the command that shows the same game again.
        delay: seconds between moves; None: half a second on a terminal, none elsewhere.
        step: wait for a key instead (Enter, if keys cannot be read one by one); q stops.
        reasons: show the reasons of agents that give them (those with a method ``explain``).
        save: a file for the game, even if watching stops before its end.
    """
    display = Display(console, match.game, match.names, viewer=None)
    console.print(Text(f"Seed {match.seed}. The same game again: {again}"), soft_wrap=True)
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None
    with_keys = step and live is not None and has_keys()
    below = Text("\nany key: the next move; q: stop" if with_keys else "", style="dim")
    if delay is None:
        delay = DELAY if live else 0.0
    read_any_bytes()
    with saving(match, save, console), single_keys() if with_keys else nullcontext(), live or nullcontext():
        try:
            while not match.is_over:
                if live:
                    live.update(Text.assemble("\n", display.position(match.state), below), refresh=True)
                else:
                    display.show(match.state)
                if reasons:
                    display.reasons(match.agents[match.current_player], match.state)
                if not step:
                    time.sleep(delay)
                elif not with_keys:
                    console.input("Enter for the next move\n")
                elif read_key().lower() == "q":
                    raise KeyboardInterrupt
                match.play_agent()
                tell_last(match, display)
            if live:
                live.update(Text(), refresh=True)
        except (EOFError, KeyboardInterrupt):
            console.print("\nStopped watching.")
