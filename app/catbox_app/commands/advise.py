"""`catbox advise`: advice in a game on a real table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from catbox_agents.files import parse_json, read_text
from catbox_agents.option_text import parse_value
from catbox_app.commands.play import fits, in_a_line, parse_action
from catbox_app.options import GameOptions, choose_game
from catbox_app.terminal import Display
from catbox_env import Game, GameState
from catbox_env.core.checks import check_seat
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.seen import apply_as_seen, begin_as_seen, possible_actions

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
    if chosen.options.get("start_player") == "random":
        raise ValueError("start_player=random: say who starts, such as --start-player 1")
    if hasattr(chosen.draws, "make_deal"):  # a card game
        if hand is None or deal is not None:
            raise ValueError("give your cards: --hand 1,3,3,4")
        first = seen_deal(chosen, seat, hand, shown)
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


def seen_deal(game: Game, seat: int, hand: str, shown: str = "") -> Any:
    """What ``seat`` sees of a deal, from lists of cards as text."""
    draws: Any = game.draws
    hands: Any = [_cards(hand) if other == seat else None for other in range(game.num_players)]
    return draws.make_deal(hands, _cards(shown), None)


def action_of(table: RealTable, text: str, possible: Sequence[int]) -> int:
    """What the seat to move does, as typed. What is rare among sampled worlds may happen, if there is no other meaning.

    Raises ``ValueError`` as `parse_action` does.
    """
    state = table.state
    try:
        return parse_action(state, text, possible)
    except ValueError:
        if state.current_player == table.seat:
            raise
        every = range(table.game.num_actions)
        fitting = [action for action in every if fits(text, table.game.action_to_string(action))]
        if len(fitting) != 1:
            raise
        return fitting[0]


def _cards(text: str) -> list[Any]:
    found = parse_value(text.replace(" ", ",") if "," not in text else text)
    return found if isinstance(found, list) else [found]


class RealTable:
    """A game that is played elsewhere, followed from ``seat``. Errors as in `Game.state_as_seen`.

    Attributes: ``states``: worlds that agree with what ``seat`` saw at the beginning and after each action.
    """

    def __init__(self, game: Game, seat: int, deal: Any) -> None:
        self.game, self.seat, self.random = game, seat, np.random.default_rng(0)
        self.states = [begin_as_seen(game, seat, deal, self.random)]

    @property
    def state(self) -> GameState:
        """The position now."""
        return self.states[-1]

    def act(self, action: int, next_deal: Callable[[], Any]) -> Sequence[Any]:
        """Take ``action`` for the seat to move, and return what ``seat`` sees of it, as events.

        ``next_deal`` is called if the action ends a round that is not the last: it returns the deal of the next.
        """
        step = apply_as_seen(self.state, self.seat, action, self.random)
        ends = step.after.round_ended
        if ends and not step.after.is_terminal():
            step = apply_as_seen(self.state, self.seat, action, self.random, next_deal())
        self.states.append(step.after)
        # The end of a round shows the cards of all, which are not known here.
        return [] if ends else self.game.events(*step, self.seat)

    def undo(self) -> None:
        """Take back the last action. Raises ``ValueError`` at the beginning."""
        if len(self.states) == 1:
            raise ValueError("nothing has happened yet")
        self.states.pop()

    def possible(self) -> list[int]:
        """What the seat to move may do, as far as ``seat`` knows; `HIDDEN`: something that ``seat`` does not see."""
        return possible_actions(self.state, self.seat, self.random)


def _follow(table: RealTable, display: Display, lines: deque[tuple[int, str]], file: str) -> None:
    """Take the actions of ``lines`` of ``file``, then ask for more until the game is over.

    Raises ``EOFError`` to leave, and ``ValueError`` for a line that the rules forbid.
    """
    console, game, number = display.console, table.game, 0

    def ask(prompt: str) -> str:
        nonlocal number
        number, text = lines.popleft() if lines else (0, console.input(f"[bold]{prompt}>[/] "))
        return text.strip()

    def next_deal() -> Any:
        console.print(Text("The round is over.", style="bold"))
        hand = ask("your new cards")
        shown = ask("the cards turned up") if game.draws.sizes[-1] else ""  # type: ignore[union-attr]  # a card game
        deal = seen_deal(game, table.seat, hand, shown)
        if not hasattr(deal, "dealer"):
            return deal
        winner = ask("the seat that won the round")
        return replace(deal, dealer=check_seat("the winner", parse_value(winner), game.num_players))

    while not table.state.is_terminal():
        state, mover = table.state, table.state.current_player
        possible = table.possible()
        seen = [action for action in possible if action != HIDDEN]
        if not lines:
            display.show(state)
            if mover == table.seat:
                display.hint(state)
            elif seen:
                console.print(Text(f"player_{mover} may: {in_a_line(game, seen)}", style="dim"))
            if HIDDEN in possible:
                console.print(Text(f"Enter: player_{mover} does what you do not see", style="dim"))
        text = ask("your move" if mover == table.seat else f"player_{mover}")
        try:
            if (word := text.lower()) in ("quit", "exit", "q"):
                raise EOFError
            if word == "undo":
                table.undo()
            elif word in ("help", "h", "?"):
                example = (seen or range(game.num_actions))[0]
                console.print(Text(HELP.format(action=game.action_to_string(example), id=example)))
            elif word == "hint" and mover == table.seat:
                display.hint(state)
            elif word == "rules":
                console.print(Text("\n".join(f"- {paragraph}" for paragraph in game.describe_rules())))
            elif word != "table" and (word or mover != table.seat):
                action = action_of(table, text, seen) if word else HIDDEN
                for line in display.lines(table.act(action, next_deal)):
                    console.print(line, soft_wrap=not console.is_terminal)
        except ValueError as error:
            if number:
                raise ValueError(f"{file}: line {number}, {text!r}: {error}") from None
            console.print(Text(str(error), style="yellow"))
    console.print(Text("The game is over.", style="bold"))
