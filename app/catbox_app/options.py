"""Options that several commands share: the game and its rules, agents, the seed."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import catbox_env
from catbox_app.completion import complete_game, complete_words
from catbox_app.rules import DEFAULT_GAME, REWARD, rule_help
from catbox_env.core.registry import game_class

GAME_PANEL = "The game"
#: Rules that have an option in every command already.
COMMON_RULES = ("num_players", "rounds")

#: What may stand for an agent.
AGENTS = (
    "easy, normal, hard, random, heuristic, best, zoo:NAME, a search such as search:fast or pimc:samples=64, a "
    "checkpoint's path, package.module:Class"
)


def _in_each_game(told: Callable[[type], Any], between: str) -> str:
    """What ``told`` says of the rules of each game, games of which it says the same together; None: nothing."""
    found: dict[str, list[str]] = {}
    for game_id in catbox_env.GAMES:
        if (text := told(game_class(game_id).rules_class)) is not None:
            found.setdefault(str(text).rstrip("."), []).append(game_id)
    alone = len(found) == 1
    return between.join(
        text if alone else f"{text} in {' and '.join(games)}" for text, games in found.items()
    )


def _of_each_game(name: str) -> str:
    """What the games say of the rule ``name``, such as how many players they take."""
    return _in_each_game(lambda rules: rule_help(rules).get(name), "; ")


def _defaults(name: str) -> str:
    """The default of the rule ``name`` in each game that has it."""
    return _in_each_game(lambda rules: getattr(rules, name, None), ", ")


def _game_option(default: str) -> Any:
    return typer.Option(
        "--game",
        help=f"Id of the game: {', '.join(catbox_env.GAMES)}.",
        autocompletion=complete_game,
        show_default=default,
        rich_help_panel=GAME_PANEL,
    )


#: Of a command that shows a game alone.
GameId = Annotated[str, _game_option(DEFAULT_GAME)]
#: Of a command whose agents may be trained for one.
GameOfAgents = Annotated[str | None, _game_option(f"that of a trained agent, else {DEFAULT_GAME}")]
#: Of a command whose preset has a game.
GameOfPreset = Annotated[str | None, _game_option(DEFAULT_GAME)]
Players = Annotated[
    int | None,
    typer.Option(
        "--players",
        "--num-players",
        "-p",
        help=f"Number of players: {_of_each_game('num_players')}.",
        show_default=_defaults("num_players"),
        rich_help_panel=GAME_PANEL,
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="ADDRESS",
        help="Of a Ray cluster: HOST:PORT of its head, or auto for the cluster of this machine.",
    ),
]
Rounds = Annotated[
    str | None,
    typer.Option(
        "--rounds",
        metavar="INT|match",
        help=f"Rounds of a game: {_of_each_game('rounds')}.",
        show_default=_defaults("rounds"),
        autocompletion=complete_words(["match"]),
        rich_help_panel=GAME_PANEL,
    ),
]
RuleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="NAME=VALUE",
        help="An option of the game by its name: --rule num_ranks=7 is --num-ranks 7; also "
        "reward=score, reward=margin, reward=win.",
        show_default=f"reward={REWARD}",
        rich_help_panel=GAME_PANEL,
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Same seed, same game.", show_default="new every time")
]


SaveGame = Annotated[
    Path | None,
    typer.Option(
        "--save", help="Write the game to this new file, for catbox replay.", show_default="it is not kept"
    ),
]


def with_rules(command: Callable[..., None]) -> Callable[..., None]:
    """``command`` with an option for every rule of every game: ``--region laos`` is ``--rule region=laos``.

    A rule that is named like an option of the command itself has none: ``--rule`` sets it.
    """
    signature = inspect.signature(command, eval_str=True)
    taken = _option_names(command)
    options = {
        name: option
        for name, option in _rule_parameters().items()
        if name not in signature.parameters and _dashed(name) not in taken
    }
    parameters = [*signature.parameters.values(), *options.values()]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        named = {name: given.pop(name) for name in options}
        rule = list(given["rule"] or [])
        before = {pair(text, "--rule")[0] for text in rule}
        for name, value in named.items():
            if value is None:
                continue
            if name in before:
                raise ValueError(f"{_dashed(name)} {value!r}: {name} was given before; give it once")
            rule.append(f"{name}={value}")
        command(**{**given, "rule": rule})

    # What typer reads the options from.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _option_names(command: Callable[..., None]) -> set[str]:
    """The options of ``command`` as they are typed."""
    alone = typer.Typer(add_completion=False)
    alone.command()(command)
    parameters = typer.main.get_command(alone).params
    return {"--help"}.union(*([*parameter.opts, *parameter.secondary_opts] for parameter in parameters))


def _dashed(name: str) -> str:
    """The option of the rule ``name`` as it is typed."""
    return f"--{name.replace('_', '-')}"


def _rule_parameters() -> dict[str, inspect.Parameter]:
    """A parameter of a command for each rule, by name, in the order of the games."""
    games: dict[str, list[str]] = {}
    for game_id in catbox_env.GAMES:
        for field in fields(game_class(game_id).rules_class):
            if field.name not in COMMON_RULES:
                games.setdefault(field.name, []).append(game_id)
    return {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, _rule_option(name, game_ids)],
        )
        for name, game_ids in games.items()
    }


def _rule_option(name: str, game_ids: list[str]) -> Any:
    """The option of the rule ``name`` of these games, described as their ``Rules`` describe it."""
    helps: list[str] = []
    types: list[str] = []
    defaults: list[str] = []
    words: list[str] = []
    for game_id in game_ids:
        rules_class = game_class(game_id).rules_class
        field = next(field for field in fields(rules_class) if field.name == name)
        described = rule_help(rules_class).get(name, "")
        helps.append(described[:1].upper() + described[1:])
        types += str(field.type).replace("tuple[int, ...]", "INT,INT,...").replace(" ", "").split("|")
        words += ["true", "false"] if field.type in (bool, "bool") else re.findall(r'"(\w+)"', described)
        defaults.append("" if field.default in (None, MISSING) else str(field.default))
    kinds = [kind.upper() for kind in dict.fromkeys(types) if kind not in ("str", "bool")]
    return typer.Option(
        _dashed(name),
        metavar="|".join([*kinds, *dict.fromkeys(words)]) or "STR",
        help=escape(" / ".join(dict.fromkeys(helps))),
        show_default=" / ".join(dict.fromkeys(defaults)) or False,
        autocompletion=complete_words(words),
        rich_help_panel=f"Rules of {', '.join(game_ids)}",
    )


def rule_options(players: int | None, rounds: str | None, rule: list[str] | None) -> dict[str, Any]:
    """The rules that the options of a command name, as typed. Raises ValueError for text that is not NAME=VALUE."""
    options: dict[str, Any] = {}
    if players is not None:
        options["num_players"] = players
    if rounds is not None:
        options["rounds"] = rounds
    add_pairs(options, rule, "--rule")
    return options


def add_pairs(into: dict[str, Any], texts: list[str] | None, option: str) -> None:
    """Add the NAME=VALUE of each text to ``into``. Raises ValueError, naming ``option``, for a name that is there."""
    for text in texts or []:
        name, value = pair(text, option)
        if name in into:
            raise ValueError(f"{option} {text!r}: {name} was given before; give it once")
        into[name] = value


def pair(text: str, option: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE. Raises ValueError, naming ``option``, for anything else."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
    return name.strip(), value.strip()


def fill(agents: Sequence[str], seats: int) -> list[str]:
    """One agent for each of ``seats``, the last one repeated. Raises ValueError for none or too many."""
    if not 1 <= len(agents) <= seats:
        raise ValueError(
            f"{len(agents)} agents for {seats} seats: name 1 to {seats} (the last fills those left)"
        )
    return [*agents, *[agents[-1]] * (seats - len(agents))]
