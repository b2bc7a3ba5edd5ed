"""`catbox play`: a person against agents at the terminal, in any game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from catbox_agents.arena.match import Match
from catbox_agents.specs import BEST, best_agent
from catbox_app.guide import SEED as GUIDED
from catbox_app.guide import Guide
from catbox_app.options import AGENTS, GameOptions, SaveGame, Seed, agents_argument, choose_game, fill
from catbox_app.output import check_writable
from catbox_app.rules import command_line, parse_action, place_in_words
from catbox_app.terminal import CARDS, Display, saving
from catbox_env import Game
from catbox_env.core.checks import check_seat
from catbox_env.core.text import names as in_words

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
    game: GameOptions,
    agents: Annotated[
        list[str] | None,
        agents_argument(
            f"Your opponents: {AGENTS}. The last one fills the remaining seats. Default: best, the strongest "
            "bundled agent without search."
        ),
    ] = None,
    seat: Annotated[int, typer.Option("--seat", help="Your seat, from 0.")] = 0,
    hint: Annotated[
        bool,
        typer.Option(
            "--hint",
            help="Before each of your moves, show the best three and the lead that they promise, from sampled worlds.",
        ),
    ] = False,
    guide: Annotated[
        bool, typer.Option("--guide", help="A first game: explain what happens when it first happens.")
    ] = False,
    save: SaveGame = None,
    seed: Seed = None,
) -> None:
    """Play against agents at the terminal. Type help at the prompt.

    [bold]Examples[/]

    catbox play --players 3

    catbox play easy normal hard --rounds match --seed 7 --hint

    catbox play easy --players 3 --guide

    catbox play runs/quick --save mine.jsonl
    """
    chosen = choose_game(agents or [BEST], game)
    check_writable(save, replaces=False)
    others = fill(agents or [best_agent(chosen)], chosen.num_players - 1)
    check_seat("seat", seat, chosen.num_players)
    seed = GUIDED if guide and seed is None else seed
    match = Match(chosen, [*others[:seat], None, *others[seat:]], seed)
    console = Console()
    display = Display(console, chosen, match.names, seat, Guide(chosen.id) if guide else None, plays=True)
    kinds: dict[str, list[int]] = {}
    for other, name in enumerate(match.names):
        if other != seat:
            kinds.setdefault(name, []).append(other)
    against = ", ".join(f"{display.told(in_words(seats))} ({name})" for name, seats in kinds.items())
    console.print(
        f"You have seat {seat}, against {escape(against)}. Type [bold]help[/] if you are lost, "
        "[bold]rules[/] for the rules, [bold]list[/] for what you may do.",
        highlight=False,
    )
    again = command_line("play", agents or [], chosen, match.seed, seat)
    same_deal = Text(f"Seed {match.seed}. The same deal again: {again}")
    console.print(same_deal, soft_wrap=True)
    if display.guide is not None:
        display.tell_guide(display.guide.begin)
    try:
        with saving(match, save, console):
            while not match.is_over:
                if match.waits_for_person:
                    _take_turn(match, seat, display, hint)
                else:
                    match.play_agent()
                    display.tell_last(match)
    except (EOFError, KeyboardInterrupt):
        console.print("\nYou left the game. Bye!")
        return
    console.print(Text(f"\n{place_in_words(seat, match.places)}.", style="bold"))
    console.print(same_deal, soft_wrap=True)


def _take_turn(match: Match, seat: int, display: Display, hint: bool) -> None:
    """One action of the person in ``seat``, or an undo. Raises ``EOFError`` if the person leaves."""
    console, game, state = display.console, match.game, match.state
    legal = state.legal_actions()
    only = game.action_to_string(legal[0]) if len(legal) == 1 else None

    def print_lines(lines: Iterable[str]) -> None:
        for line in lines:
            console.print(Text(line))

    help_text = HELP.format(action=game.action_to_string(legal[0]), id=legal[0])
    words: dict[str, Callable[[], None]] = {
        "help": lambda: print_lines([help_text]),
        "list": lambda: print_lines(f"  #{action:<3} {game.action_to_string(action)}" for action in legal),
        "hint": lambda: display.hint(state),
        "table": lambda: display.show(state),
        "rules": lambda: print_lines(f"- {paragraph}" for paragraph in game.describe_rules()),
    }
    words |= {"h": words["help"], "?": words["help"], "l": words["list"], "t": words["table"]}
    display.show(state)
    if only is None:
        may = Text(f"You may: {in_a_line(game, legal)}", style="dim")
        may.highlight_regex(CARDS)
        console.print(may)
        if hint:
            display.short_hint(state)
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
                display.tell_last(match)
                return
        except ValueError as error:
            console.print(Text(display.told(str(error)), style="red"))


def in_a_line(game: Game, actions: Sequence[int]) -> str:
    """The names of ``actions``, each of their words once: "play yellow 3 4 6, green 3"."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for action in actions:
        *words, last = game.action_to_string(action).split(" ")
        groups.setdefault(tuple(words), []).append(last)
    told: list[str] = []
    verb = ""
    for first, lasts in groups.items():
        repeated = len(first) > 1 and first[0] == verb
        told.append(" ".join([*first[repeated:], *lasts]))
        verb = first[0] if first else ""
    return ", ".join(told)
