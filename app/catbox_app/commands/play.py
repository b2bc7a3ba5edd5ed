"""`catbox play`: a person against agents at the terminal."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from catbox_agents.match import Match
from catbox_agents.specs import BEST, best_agent
from catbox_app.options import AGENTS, GameOptions, SaveGame, Seed, choose_game, complete_agent, fill
from catbox_app.preconditions import check_new
from catbox_app.rules import command_line
from catbox_app.terminal.play import play as play_at_terminal
from catbox_env.core.checks import check_seat


def play(
    game: GameOptions,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Your opponents: {AGENTS}. The last one fills the remaining seats. Default: best, the strongest "
            "bundled agent without search.",
            autocompletion=complete_agent,
        ),
    ] = None,
    seat: Annotated[int, typer.Option("--seat", help="Your seat, from 0.")] = 0,
    hint: Annotated[
        bool,
        typer.Option(
            "--hint",
            help="Before each of your moves, show the expected points and risks of every action, from sampled worlds.",
        ),
    ] = False,
    save: SaveGame = None,
    seed: Seed = None,
) -> None:
    """Play against agents at the terminal. Type help at the prompt.

    [bold]Examples[/]

    catbox play --players 3

    catbox play easy normal hard --rounds match --seed 7 --hint

    catbox play runs/quick --save mine.jsonl
    """
    chosen = choose_game(agents or [BEST], game)
    check_new(save)
    others = fill(agents or [best_agent(chosen)], chosen.num_players - 1)
    check_seat("seat", seat, chosen.num_players)
    match = Match(chosen, [*others[:seat], None, *others[seat:]], seed)
    again = command_line("play", agents or [], chosen, match.seed, seat)
    play_at_terminal(match, seat, Console(), again, hint, save)
