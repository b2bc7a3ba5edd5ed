"""Games and their rules in words: titles, what each rule means, and the command that plays a game again."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import catbox_env
from catbox_env import Game
from catbox_env.core.registry import game_class

DEFAULT_GAME = "cat_in_the_box_v0"
#: Each game in a sentence, for people who do not know it.
ABOUT = {
    "cat_in_the_box_v0": "A trick-taking game in which a card has no colour until you play it.",
    "cat_te_v0": "Six tricks, no trump: follow suit or fold, because only the last trick pays.",
    "petrify_v0": "Walk over tiles that close behind you; if you cannot move, you turn to stone.",
}
#: The default reward: agents are compared by it.
REWARD = "margin"
#: The largest number of players to try.
MAX_PLAYERS = 10


@dataclass(frozen=True)
class RuleField:
    """A field of a ``Rules`` as its class describes it.

    Attributes:
        kind: its type as written, without spaces.
        default: None if there is none.
        words: the values of a text, which the description quotes.
        help: the description, capitalised.
    """

    name: str
    kind: str
    default: Any
    words: list[str]
    help: str


def rule_fields(game_id: str) -> dict[str, RuleField]:
    """The rules of a game by name, in the order of its ``Rules``, as its docstring describes them."""
    rules_class = game_class(game_id).rules_class
    text = (inspect.getdoc(rules_class) or "").partition("\nAttributes:\n")[2].partition("\n\n")[0]
    helps: dict[str, str] = {}
    for names, described in re.findall(r"^    (\w+(?:, \w+)*): (.*(?:\n     .*)*)", text, re.MULTILINE):
        helps |= dict.fromkeys(names.split(", "), " ".join(described.replace("``", "").split()))
    found = {}
    for field in fields(rules_class):
        told = helps.get(field.name, "")
        found[field.name] = RuleField(
            field.name,
            kind=str(getattr(field.type, "__name__", field.type)).replace(" ", ""),
            default=None if field.default is MISSING else field.default,
            words=re.findall(r'"(\w+)"', told),
            help=told[:1].upper() + told[1:],
        )
    return found


def player_counts(game_id: str) -> list[int]:
    """The numbers of players, up to `MAX_PLAYERS`, that a game accepts."""

    def is_possible(players: int) -> bool:
        try:
            catbox_env.make_game(game_id, num_players=players)
        except ValueError:
            return False
        return True

    return [players for players in range(1, MAX_PLAYERS + 1) if is_possible(players)]


def command_line(command: str, agents: Sequence[str], game: Game, seed: int, seat: int = 0) -> str:
    """The command that plays ``game`` from ``seed`` again."""
    words = ["catbox", command, *agents, "--seed", str(seed)]
    if seat:
        words += ["--seat", str(seat)]
    return shlex.join([*words, *game_arguments(game)])


def game_arguments(game: Game) -> list[str]:
    """The options by which a command plays ``game``: those that are not the defaults."""
    words = []
    if game.id != DEFAULT_GAME:
        words += ["--game", game.id]
    defaults = catbox_env.make_game(game.id, num_players=game.num_players, reward=REWARD).options
    if game.num_players != catbox_env.make_game(game.id).num_players:
        words += ["--players", str(game.num_players)]
    for name, value in game.options.items():
        if value != defaults[name]:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words += ["--rounds", text] if name == "rounds" else ["--rule", f"{name}={text}"]
    return words
