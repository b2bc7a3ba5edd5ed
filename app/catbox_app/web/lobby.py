"""The choices for a new table, the game that a page has chosen, and the agents that it may name.

Those are the bundled agents, and those that the server was started with. A page must not be able to load a file, import
a module or name a server, which a spec can do: a path, ``package.module:Class``, ``llm:...``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

import catbox_env
from catbox_agents import known_agents
from catbox_agents.settings import CONFIGURED, read_options
from catbox_agents.specs import LEVELS
from catbox_app.rules import ABOUT, REWARD, RuleField, player_counts, rule_fields
from catbox_app.web.messages import MAX_ACTIONS, Message, text_of
from catbox_env import Game
from catbox_env.core import compilation
from catbox_env.core.checks import short_repr, unknown
from catbox_env.core.text import game_title

#: The rounds to choose from; a match has as many as players.
ROUNDS = [1, 2, 3, 4, 5, 6, 8, 10, "match"]
#: The longest rules that a page may give, in characters of JSON.
LONGEST_RULES = 2000
#: The agents that play every game: group -> spec -> title.
_TITLES = {
    "levels": {"easy": "Easy", "normal": "Normal", "hard": "Hard"},
    "agents": {"best": "The trained agent", "heuristic": "The heuristic", "random": "Random moves"},
    "search": {
        "search:fast": "Search, 20 ms a move",
        "search:normal": "Search, 100 ms a move",
        "ismcts": "Tree search (ISMCTS)",
        "pimc": "Search in sampled worlds (PIMC)",
    },
}

#: Tells people who open a table why some agents are missing if catbox is not compiled.
NOT_COMPILED = (
    "catbox is not compiled here. Agents that search, the level hard and estimated points play hundreds of games per "
    "move, which is too slow without Numba: the command catbox web has them."
)


def lobby(also: Sequence[str], theme: str) -> Message:
    """The message ``lobby``. ``also``: agents that the host offers; ``theme``: of the pictures of the games."""
    offered = [(spec, spec, "yours") for spec in also]
    for group, titles in _TITLES.items():
        offered += [(spec, title, group) for spec, title in titles.items() if not _is_too_slow(spec)]
    return {
        "type": "lobby",
        "games": [_game(game_id, theme) for game_id in catbox_env.GAMES],
        "agents": [{"spec": spec, "title": title, "group": group} for spec, title, group in offered],
        "estimates": compilation.HAS_NUMBA,
        "note": None if compilation.HAS_NUMBA else NOT_COMPILED,
    }


def game_of(message: Message) -> Game:
    """The game that a message ``open`` asks for. Raises ``ValueError``."""
    game_id = text_of(message, "game")
    rules = message.get("rules") or {}
    if not isinstance(rules, dict):
        raise ValueError(f"rules={short_repr(rules)}: expected an object of names and values")
    given = {"reward": REWARD, **rules}
    if message.get("players") is not None:
        given["num_players"] = message["players"]
    if len(json.dumps(given)) > LONGEST_RULES:
        raise ValueError(f"rules={short_repr(given)}: expected at most {LONGEST_RULES} characters")
    try:
        game = catbox_env.make_game(game_id, **read_options(game_id, given))
    except TypeError as error:  # a value of a type that no rule has
        raise ValueError(f"rules={short_repr(rules)}: {error}") from None
    if game.max_game_length > MAX_ACTIONS:
        raise ValueError(
            f"this game may take {game.max_game_length} actions; a table in the browser allows at most {MAX_ACTIONS}: "
            "choose fewer rounds"
        )
    return game


def _is_too_slow(spec: str) -> bool:
    """Whether an agent searches, and catbox is not compiled."""
    return not compilation.HAS_NUMBA and LEVELS.get(spec, spec).partition(":")[0] in CONFIGURED


def check_opponent(spec: str, also: Sequence[str] = ()) -> None:
    """Raise ``ValueError`` unless a page may name ``spec``. ``also``: specs that the host allows."""
    if _is_too_slow(spec):
        raise ValueError(f"agent {short_repr(spec)}: {NOT_COMPILED}")
    known = [*also, *dict.fromkeys([*known_agents(), *_TITLES["search"]])]
    if spec not in known:
        raise ValueError(
            f"{unknown('agent', spec, known)}; others, such as a checkpoint, must be given when the server is started: "
            "catbox web --agent SPEC"
        )


@functools.cache
def _game(game_id: str, theme: str) -> dict[str, Any]:
    """A game to choose; ``svg`` shows it halfway through, all hands open."""
    game, rng = catbox_env.make_game(game_id), np.random.default_rng(0)
    states = [game.new_initial_state(seed=0)]
    while not states[-1].is_terminal() and len(states) <= game.max_game_length // 2:
        states.append(states[-1].clone())
        states[-1].apply_action(int(rng.choice(states[-1].legal_actions())))
    shown = states[-2] if states[-1].is_terminal() else states[-1]
    by_players = [catbox_env.make_game(game_id, num_players=count) for count in player_counts(game_id)]
    rules = [
        {
            "name": rule.name,
            "type": rule.kind,
            "default": list(rule.default) if isinstance(rule.default, tuple) else rule.default,
            "usual": [one.options[rule.name] for one in by_players],
            "choices": _choices(rule),
            "help": rule.help,
        }
        for rule in rule_fields(game_id).values()
        if rule.name != "num_players"
    ]
    return {
        "id": game_id,
        "title": game_title(game_id),
        "about": ABOUT.get(game_id, ""),
        "rules_texts": ["\n\n".join(one.describe_rules()) for one in by_players],
        "players": [one.num_players for one in by_players],
        "rules": rules,
        "svg": game.render_svg(shown, None, 360, theme),
    }


def _choices(rule: RuleField) -> list[Any] | None:
    """The values that a page offers for a rule; None: whatever is typed."""
    if rule.name == "rounds" and rule.default in ROUNDS:
        return ROUNDS
    return rule.words if rule.kind == "str" and rule.words else None
