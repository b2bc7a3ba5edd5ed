"""`catbox advise`: advice in a game on a real table."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from catbox_agents.system.files import parse_json, read_text
from catbox_app.commands.play import in_a_line
from catbox_app.options import GameOptions, choose_game
from catbox_app.real_table import RealTable, seen_deal
from catbox_app.terminal import Display
from catbox_env.core.checks import check_seat
from catbox_env.core.kernels import HIDDEN

HELP = """\
Type what the player to move does:
  an action     in full ("{action}"), abbreviated, or by its id ("#{id}")
  Enter         an action that you do not see
  hint          the expected outcome of each of your actions
  table         show the game again
  rules         the rules in short
  undo          take back the last action
  help          this text
  quit          leave (so do Ctrl-D and Ctrl-C)"""


def advise(
    game: GameOptions,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="What happened so far, a line for each action, as you would type it.", show_default="nothing"
        ),
    ] = None,
    seat: Annotated[
        int, typer.Option("--seat", help="Your seat. Seats are counted clockwise; by default 0 begins.")
    ] = 0,
    hand: Annotated[
        str | None, typer.Option("--hand", help="Your cards: 1,3,3,4 or 4H,KS.", show_default=False)
    ] = None,
    shown: Annotated[
        str, typer.Option("--shown", help="The cards turned up at the beginning.", show_default="none")
    ] = "",
    deal: Annotated[
        Path | None,
        typer.Option(
            "--deal",
            help="In Petrify: a JSON file with the tiles, a list for each row, and the positions of the pawns.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Get advice in a game on a real table: type what happens, and see the expected outcome of each of your actions.

    Only what you see is known: your cards, and what everybody does openly.

    [bold]Examples[/]

    catbox advise --players 3 --seat 2 --hand 1,3,3,4,5,6,6,2,1,4

    catbox advise so_far.txt --players 2 --hand 1,2,2,3,3,4,4,5,5,5 --shown 1,3,4

    catbox advise --game petrify_v0 --seat 1 --deal board.json
    """
    chosen = choose_game([], game)
    check_seat("--seat", seat, chosen.num_players)
    if hasattr(chosen.draws, "make_deal"):  # a card game
        if hand is None or deal is not None:
            raise ValueError("give your cards: --hand 1,3,3,4")
        first = seen_deal(chosen, seat, f"{hand}/{shown}")
    elif deal is None or hand is not None or shown:
        raise ValueError("give the tiles and the positions of the pawns: --deal FILE")
    else:
        first = parse_json(read_text(deal))
    lines = deque(enumerate([] if file is None else read_text(file).splitlines(), start=1))
    console, table = Console(), RealTable(chosen, seat, first)
    display = Display(console, chosen, [""] * chosen.num_players, seat)
    try:
        _follow(table, display, lines, str(file))
    except (EOFError, KeyboardInterrupt):
        console.print("\nBye!")


def _follow(table: RealTable, display: Display, lines: deque[tuple[int, str]], file: str) -> None:
    """Take the actions of ``lines`` of ``file``, then ask for more until the game is over.

    Raises ``EOFError`` to leave, and ``ValueError`` for a line that the rules forbid.
    """
    console, game = display.console, table.game
    while not table.state.is_terminal():
        state, mover, question = table.state, table.state.current_player, table.question
        is_own = mover == table.seat and not question
        possible = [] if question else table.possible()
        seen = [action for action in possible if action != HIDDEN]
        if not lines and not question:
            display.show(state)
            if is_own:
                display.short_hint(state)
            elif seen:
                console.print(Text(f"player_{mover} may: {in_a_line(game, seen)}", style="dim"))
            if HIDDEN in possible:
                console.print(Text(f"Enter: player_{mover} does what you do not see", style="dim"))
        prompt = question or ("your move" if is_own else f"player_{mover}")
        number, text = lines.popleft() if lines else (0, console.input(f"[bold]{prompt}>[/] "))
        text = text.strip()
        try:
            if (word := text.lower()) in ("quit", "exit", "q"):
                raise EOFError
            if word == "undo":
                table.undo()
            elif word in ("help", "h", "?"):
                example = (seen or range(game.num_actions))[0]
                console.print(Text(HELP.format(action=game.action_to_string(example), id=example)))
            elif word == "hint" and is_own:
                display.hint(state)
            elif word == "rules":
                console.print(Text("\n".join(f"- {paragraph}" for paragraph in game.describe_rules())))
            elif word != "table" and (word or not is_own):
                for line in display.lines(table.enter(text)):
                    console.print(line, soft_wrap=not console.is_terminal)
                if table.question and not question:
                    console.print(Text("The round is over.", style="bold"))
        except ValueError as error:
            if number:
                raise ValueError(f"{file}: line {number}, {text!r}: {error}") from None
            console.print(Text(str(error), style="red"))
    console.print(Text("The game is over.", style="bold"))
