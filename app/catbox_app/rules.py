"""Games and their rules in words: titles, what each rule means, and the command that plays a game again."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Sequence

import catbox_env
from catbox_env import Game

DEFAULT_GAME = "cat_in_the_box_v0"
#: What the seats are paid unless --rule reward says otherwise: agents are compared by it.
REWARD = "margin"
#: Words of a title that begin small.
_SMALL = {"in", "of", "the"}


def game_title(game_id: str) -> str:
    """What people call the game: ``"Cat in the Box"``."""
    words = game_id.rpartition("_v")[0].split("_")
    return " ".join(
        word if word in _SMALL and place else word.capitalize() for place, word in enumerate(words)
    )


def rule_help(rules_class: type) -> dict[str, str]:
    """What the docstring of a ``Rules`` says of each field, under "Attributes:"; several fields may share an entry."""
    text = (inspect.getdoc(rules_class) or "").partition("\nAttributes:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+(?:, \w+)*): (.*(?:\n     .*)*)", text, re.MULTILINE)
    return {
        name: " ".join(described.replace("``", "").split())
        for names, described in entries
        for name in names.split(", ")
    }


def command_line(command: str, agents: Sequence[str], game: Game, seed: int, seat: int = 0) -> str:
    """What is typed to play ``game`` from ``seed`` again."""
    words = ["catbox", command, *agents, "--seed", str(seed)]
    if seat:
        words += ["--seat", str(seat)]
    if game.id != DEFAULT_GAME:
        words += ["--game", game.id]
    defaults = catbox_env.make_game(game.id, num_players=game.num_players, reward=REWARD).options
    if game.num_players != catbox_env.make_game(game.id).num_players:
        words += ["--players", str(game.num_players)]
    for name, value in game.options.items():
        if value != defaults[name]:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words += ["--rounds", text] if name == "rounds" else ["--rule", f"{name}={text}"]
    return shlex.join(words)
