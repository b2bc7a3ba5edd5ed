"""Options that several commands share: the game and its rules, agents, the seed."""

from __future__ import annotations

import ast
import glob
from dataclasses import fields
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import catbox_env
from catbox_env.core.game import Game
from catbox_env.core.registry import game_class

RULES_PANEL = "The game"


def complete_game(incomplete: str) -> list[str]:
    return [game_id for game_id in catbox_env.GAMES if game_id.startswith(incomplete)]


def complete_agent(incomplete: str) -> list[str]:
    paths = glob.glob(glob.escape(incomplete) + "*") if incomplete else []
    names = ["random", "heuristic", *paths]
    return [name for name in names if name.startswith(incomplete)]


GameId = Annotated[
    str,
    typer.Option("--game", help="Id of the game.", autocompletion=complete_game, rich_help_panel=RULES_PANEL),
]
Players = Annotated[
    int | None,
    typer.Option(
        "--players", "-p", help="Number of players.", show_default="the game's", rich_help_panel=RULES_PANEL
    ),
]
Rounds = Annotated[
    str | None,
    typer.Option("--rounds", help="Rounds of a game: a number, or match.", rich_help_panel=RULES_PANEL),
]
RuleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="NAME=VALUE",
        help="Any other rule: --rule num_ranks=7 --rule bids=1,3,4; also as --num-ranks 7.",
        rich_help_panel=RULES_PANEL,
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Same seed, same game.", show_default="new every time")
]
DEFAULT_GAME = "cat_in_the_box_v0"


class WithRules(TyperCommand):
    """Takes every rule of every game as an option of its own: ``--region laos`` is ``--rule region=laos``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        expanded: list[str] = []
        rest = iter(args)
        for text in rest:
            name, equals, value = text.partition("=")
            rule = name.removeprefix("--").replace("-", "_")
            if not text.startswith("--") or name in own or rule not in rule_names():
                expanded.append(text)
                continue
            given = value if equals else next(rest, None)
            if given is None:
                raise ValueError(f"{name}: expected a value, such as {name} VALUE")
            expanded += ["--rule", f"{rule}={given}"]
        return super().parse_args(ctx, expanded)


def rule_names() -> set[str]:
    return {field.name for game_id in catbox_env.GAMES for field in fields(game_class(game_id).rules_class)}


def build_game(game_id: str, players: int | None, rounds: str | None, rule: list[str] | None) -> Game:
    """The game that the options of a command name. Raises ValueError for what cannot be played."""
    return catbox_env.make_game(game_id, **rule_options(game_id, players, rounds, rule))


def rule_options(
    game_id: str | None, players: int | None, rounds: str | None, rule: list[str] | None
) -> dict[str, Any]:
    """The options of a command as those of ``make_game``. Raises ValueError for text that is not NAME=VALUE."""
    options: dict[str, Any] = {}
    if players is not None:
        options["num_players"] = players
    if rounds is not None:
        options["rounds"] = value_of(rounds)
    for text in rule or []:
        name, value = pair(text, "--rule")
        if name in options:
            raise ValueError(f"--rule {text!r}: {name} was given before; give it once")
        options[name] = value_of(value)
    # One number for a rule that takes several: --rule bids=1
    for field in fields(game_class(game_id or DEFAULT_GAME).rules_class):
        if "tuple" in str(field.type) and isinstance(options.get(field.name), int):
            options[field.name] = (options[field.name],)
    return options


def pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
    return name.strip(), value.strip()


def value_of(text: str) -> Any:
    """A number, a list of numbers, true or false as such; anything else is the text itself."""
    text = text.strip()
    if text == "":
        return ()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return tuple(value) if isinstance(value, list) else value
