"""`catbox watch`: agents among themselves. On a terminal the position stays in place; events scroll above it."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from catbox_agents.arena.match import Match
from catbox_agents.specs import BEST, best_agent
from catbox_app.options import AGENTS, GameOptions, SaveGame, Seed, agents_argument, choose_game, fill
from catbox_app.output import check_writable
from catbox_app.rules import command_line
from catbox_app.terminal import Display, has_keys, read_key, saving, single_keys

#: Default seconds between moves on a terminal.
DELAY = 0.5


def watch(
    game: GameOptions,
    agents: Annotated[
        list[str] | None,
        agents_argument(
            f"The players: {AGENTS}. The last one fills the remaining seats. Default: best, the strongest "
            "bundled agent without search."
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            "--delay",
            min=0,
            max=3600,
            help="Seconds between moves.",
            show_default=f"{DELAY} on a terminal, else 0",
        ),
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for a key before each move.")] = False,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Show the reasons for each move, for agents that give them.")
    ] = False,
    save: SaveGame = None,
    seed: Seed = None,
) -> None:
    """Watch agents play, move by move, with every hand open.

    On a terminal the position stays in place; elsewhere everything is plain text.

    [bold]Examples[/]

    catbox watch --players 5 --delay 1

    catbox watch runs/standard heuristic --step --reasons

    catbox watch easy hard --players 2 --save game.jsonl
    """
    chosen = choose_game(agents or [BEST], game)
    check_writable(save, replaces=False)
    match = Match(chosen, fill(agents or [best_agent(chosen)], chosen.num_players), seed)
    again = command_line("watch", agents or [], chosen, match.seed)
    console = Console()
    display = Display(console, chosen, match.names, viewer=None)
    console.print(Text(f"Seed {match.seed}. The same game again: {again}"), soft_wrap=True)
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None
    with_keys = step and live is not None and has_keys()
    below = Text("\nany key: the next move; q: stop" if with_keys else "", style="dim")
    if delay is None:
        delay = DELAY if live else 0.0
    with saving(match, save, console), single_keys() if with_keys else nullcontext(), live or nullcontext():
        try:
            while not match.is_over:
                if live:
                    live.update(Text.assemble("\n", display.position(match.state), below), refresh=True)
                else:
                    display.show(match.state)
                decision = match.thought()()
                if reasons:
                    display.reasons(match.agents[match.current_player], match.state, decision[1])
                if not step:
                    time.sleep(delay)
                elif not with_keys:
                    console.input("Enter for the next move\n")
                elif read_key().lower() == "q":
                    raise KeyboardInterrupt
                match.play_agent(decision)
                display.tell_last(match)
            if live:
                live.update(Text(), refresh=True)
        except (EOFError, KeyboardInterrupt):
            console.print("\nStopped watching.")
