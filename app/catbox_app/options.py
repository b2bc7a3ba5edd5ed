"""Options that several commands share: the game and its rules, which a trained agent may imply, agents, the seed."""

from __future__ import annotations

import functools
import glob
import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import catbox_env
from catbox_agents import known_agents
from catbox_agents.agent import same_option
from catbox_agents.features import facts
from catbox_agents.settings import complete_spec, read_options
from catbox_agents.specs import adapted_from, trained_for
from catbox_app.rules import DEFAULT_GAME, REWARD, RuleField, rule_fields
from catbox_env import Game
from catbox_env.core.text import counted
from catbox_env.registry import game_class

GAME_PANEL = "The game"
#: Rules with an option in every command.
COMMON_RULES = ("num_players", "rounds")

#: The ways to name an agent.
AGENTS = (
    "easy, normal, hard, random, heuristic, best, zoo:NAME, a search such as search:fast or pimc:samples=64, a "
    "checkpoint's path, llm:model=NAME, package.module:Class"
)
#: The presets of training, its algorithms and trackers. They stand here too, because training takes seconds to import.
PRESETS = ("quick", "standard", "strong", "gpu")
ALGORITHMS = ("ppo", "dmc", "exit")
TRACKERS = ("mlflow", "wandb")


def complete_agent(incomplete: str) -> list[str]:
    """The names, settings and paths of agents that begin with ``incomplete``."""
    paths = glob.glob(glob.escape(incomplete) + "*") if incomplete else []
    names = [*known_agents(), *complete_spec(incomplete), *paths]
    return [name for name in names if name.startswith(incomplete)]


def complete_words(words: Collection[str]) -> Callable[[str], list[str]]:
    """A completer for ``words``."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def agents_argument(text: str) -> Any:
    """The argument of a command that names agents; ``text`` is its help."""
    return typer.Argument(help=text, autocompletion=complete_agent)


def choice_option(name: str, words: Collection[str], text: str, default: str | None = None) -> Any:
    """An option whose value is one of ``words``; ``text`` is its help, ``default`` what that shows."""
    return typer.Option(name, help=text, autocompletion=complete_words(words), show_default=default or True)


RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="ADDRESS",
        help="Address of a Ray cluster: HOST:PORT of its head node, or auto for the one on this machine.",
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes",
        help="Number of processes; the result does not depend on it.",
        show_default="the physical cores, or the whole Ray cluster",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Same seed, same game.", show_default="random")]
SaveGame = Annotated[
    Path | None,
    typer.Option(
        "--save", help="Write the game to this new file, for catbox replay.", show_default="not saved"
    ),
]


def with_game(
    command: Callable[..., None], default: str = DEFAULT_GAME, shows_rules: bool = False
) -> Callable[..., None]:
    """Add the options of a game to ``command``, which receives them as ``game``, a `GameOptions`.

    These are --game, --players, --rounds, --rule, and an option for every other rule of every game: ``--region laos``
    is ``--rule region=laos``. A rule that shares its name with a parameter of ``command`` has none: ``--rule`` sets it.

    ``default``: the default of --game in the help; ``shows_rules``: whether the help lists the other rules.
    """
    signature = inspect.signature(command, eval_str=True)
    added = {**_common_options(default), **_rule_options(signature.parameters, shows_rules)}
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "game"]
    for name, annotation in added.items():
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        )

    @functools.wraps(command)
    def run(**given: Any) -> None:
        said = {name: given.pop(name) for name in added}
        game_id, pairs = said.pop("game"), said.pop("rule")
        rules = {name: value for name, value in said.items() if value is not None}
        add_pairs(rules, pairs, "--rule")
        command(game=GameOptions(game_id, rules), **given)

    # typer reads the options from these.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _in_each_game(name: str, attribute: str, between: str) -> str:
    """An attribute of the rule ``name`` of each game that has it, equal ones grouped."""
    found: dict[str, list[str]] = {}
    for game_id in catbox_env.GAMES:
        if (rule := rule_fields(game_id).get(name)) is not None:
            found.setdefault(str(getattr(rule, attribute)).rstrip("."), []).append(game_id)
    if len(found) == 1:
        return next(iter(found))
    return between.join(f"{text} in {' and '.join(games)}" for text, games in found.items())


def _common_options(default: str) -> dict[str, Any]:
    """The options of every command that has a game, by the names of their parameters."""
    option = functools.partial(typer.Option, rich_help_panel=GAME_PANEL)
    game = option(
        "--game",
        help=f"Id of the game: {', '.join(catbox_env.GAMES)}.",
        autocompletion=complete_words(catbox_env.GAMES),
        show_default=default,
    )
    players = option(
        "--players",
        "--num-players",
        "-p",
        help=f"Number of players: {_in_each_game('num_players', 'help', '; ')}.",
        show_default=_in_each_game("num_players", "default", ", "),
    )
    rounds = option(
        "--rounds",
        metavar="INT|match",
        help=f"Rounds of a game: {_in_each_game('rounds', 'help', '; ')}.",
        show_default=_in_each_game("rounds", "default", ", "),
        autocompletion=complete_words(["match"]),
    )
    rule = option(
        "--rule",
        metavar="NAME=VALUE",
        help="A rule of the game: --rule num_ranks=7, or --num-ranks 7; catbox info --help lists them. Also "
        "reward=score, reward=margin, reward=win.",
        show_default=f"reward={REWARD}",
    )
    return {
        "game": Annotated[str | None, game],
        "num_players": Annotated[int | None, players],
        "rounds": Annotated[str | None, rounds],
        "rule": Annotated[list[str] | None, rule],
    }


def _rule_options(taken: Collection[str], shown: bool) -> dict[str, Any]:
    """An option for each other rule that is not ``taken``, by name; in the help if ``shown``."""
    found: dict[str, dict[str, RuleField]] = {}
    for game_id in catbox_env.GAMES:
        for name, rule in rule_fields(game_id).items():
            if name not in COMMON_RULES and name not in taken:
                found.setdefault(name, {})[game_id] = rule
    return {name: Annotated[str | None, _rule_option(name, rules, shown)] for name, rules in found.items()}


def _rule_option(name: str, in_games: dict[str, RuleField], shown: bool) -> Any:
    """The option of the rule ``name``, described as the ``Rules`` of its games describe it."""
    rules = in_games.values()
    types = [kind for rule in rules for kind in rule.kind.replace("tuple[int,...]", "INT,INT,...").split("|")]
    kinds = [kind.upper() for kind in dict.fromkeys(types) if kind not in ("str", "bool")]
    words = [word for rule in rules for word in (["true", "false"] if rule.kind == "bool" else rule.words)]
    defaults = ["" if rule.default is None else str(rule.default) for rule in rules]
    return typer.Option(
        f"--{name.replace('_', '-')}",
        metavar="|".join([*kinds, *dict.fromkeys(words)]) or "STR",
        help=escape(" / ".join(dict.fromkeys(rule.help for rule in rules))),
        show_default=" / ".join(dict.fromkeys(defaults)) or False,
        autocompletion=complete_words(words),
        rich_help_panel=f"Rules of {', '.join(in_games)}",
        hidden=not shown,
    )


@dataclass(frozen=True)
class GameOptions:
    """What the options of a command say about its game.

    Attributes:
        game_id: None if none is given.
        rules: the rules that are given, as typed.
    """

    game_id: str | None = None
    rules: dict[str, Any] = field(default_factory=dict)


def choose_game(agents: Sequence[str], named: GameOptions) -> Game:
    """The game that the options of a command give. What they leave out comes from the first trained agent.

    Says, on standard error, which agents were trained for other rules and are adapted to these. Raises ValueError for a
    game that cannot be played, and if the file of an agent cannot be read.
    """
    implied_id, implied = implied_rules(agents)
    if named.game_id not in (None, implied_id):
        implied = {}
    game_id = named.game_id or implied_id or DEFAULT_GAME
    options = read_options(game_id, named.rules) if named.rules else {}
    # An agent is refused for rules that it depends on, by the difference: do not mix them with others of its own.
    kind = game_class(game_id)
    adapted = {*facts(kind).transferable_options, *facts(kind).adaptable_options}
    for name in (options.keys() & implied.keys()) - adapted:
        if not same_option(kind, name, options[name], implied[name]):
            implied = {}
            break
    game = catbox_env.make_game(game_id, **{**implied, "reward": REWARD, **options})
    for agent in dict.fromkeys(agents):
        if rules := adapted_from(agent, game):
            typer.echo(f"catbox: {agent} was trained for {rules}; its policy is adapted.", err=True)
    return game


def implied_rules(agents: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """The game that the first trained agent was trained for, and its rules; None and {} without such an agent.

    Errors as in `choose_game`.
    """
    for agent in agents:
        found = trained_for(agent)
        if found is not None:
            game_id, options = found
            return game_id, {name: value for name, value in options.items() if name != "reward"}
    return None, {}


def add_pairs(into: dict[str, Any], texts: list[str] | None, option: str) -> None:
    """Add the NAME=VALUE of each text to ``into``. Raises ValueError, naming ``option``, for text of another form."""
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
        add_once(into, name.strip(), value.strip(), f"{option} {text!r}")


def add_once(into: dict[str, Any], name: str, value: Any, typed: str) -> None:
    """Add a value to ``into``. Raises ValueError, which begins with ``typed``, for a name that is there already."""
    if name in into:
        raise ValueError(f"{typed}: {name} was given before; give it once")
    into[name] = value


def fill(agents: Sequence[str], seats: int) -> list[str]:
    """One agent for each of ``seats``, the last one repeated. Raises ValueError for none or too many."""
    if not 1 <= len(agents) <= seats:
        some = "one" if seats == 1 else f"1 to {seats} (the last one fills the rest)"
        raise ValueError(f"{len(agents)} agents for {counted(seats, 'seat')}: name {some}, or set --players")
    return [*agents, *[agents[-1]] * (seats - len(agents))]
