"""What can be chosen for a new table, and the game that a page has chosen."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

import numpy as np

import catbox_env
from catbox_agents.zoo import zoo_agents
from catbox_app.rules import REWARD, game_title, rule_help
from catbox_app.web.opponents import NOT_COMPILED, is_offered
from catbox_app.web.pages import MOST_ACTIONS
from catbox_app.web.reading import Message, integer_of, text_of
from catbox_env import Game
from catbox_env.core import compilation
from catbox_env.core.checks import shown
from catbox_env.core.options import read_options
from catbox_env.core.registry import game_class

#: Numbers of players that are tried, to find those that a game has.
_PLAYERS = range(1, 11)
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


def lobby(also: Sequence[str], theme: str) -> Message:
    """The message ``lobby``. ``also``: agents that the host offers; ``theme``: of the pictures of the games."""
    yours = [{"spec": spec, "title": spec, "games": None, "players": None, "group": "yours"} for spec in also]
    return {
        "type": "lobby",
        "games": [_game(game_id, theme) for game_id in catbox_env.GAMES],
        "agents": [*yours, *(agent for agent in _agents() if is_offered(agent["spec"]))],
        "estimates": compilation.HAS_NUMBA,
        "note": None if compilation.HAS_NUMBA else NOT_COMPILED,
    }


def game_of(message: Message) -> Game:
    """The game that a message ``open`` asks for. Raises ``ValueError``."""
    game_id = text_of(message, "game")
    if game_id not in catbox_env.GAMES:
        raise ValueError(f"game={shown(game_id)}: expected one of {', '.join(catbox_env.GAMES)}")
    rules = message.get("rules") or {}
    if not isinstance(rules, dict):
        raise ValueError(f"rules={shown(rules)}: expected an object of names and values")
    given = {"reward": REWARD, **rules}
    if message.get("players") is not None:
        given["num_players"] = integer_of(message, "players", 1, _PLAYERS[-1])
    try:
        game = catbox_env.make_game(game_id, **read_options(game_id, given))
    except TypeError as error:  # a value of a type that no rule has
        raise ValueError(f"rules={shown(rules)}: {error}") from None
    if game.history_length > MOST_ACTIONS:
        raise ValueError(
            f"this game may take {game.history_length} actions; at a table in the browser at most {MOST_ACTIONS}: "
            "give fewer rounds"
        )
    return game


@functools.cache
def _game(game_id: str, theme: str) -> dict[str, Any]:
    game = catbox_env.make_game(game_id)
    rules_class = game_class(game_id).rules_class
    described = rule_help(rules_class)
    return {
        "id": game_id,
        "title": game_title(game_id),
        "players": _numbers_of_players(game_id),
        "rules": [
            _rule(field, described.get(field.name, ""))
            for field in fields(rules_class)
            if field.name != "num_players"
        ],
        "svg": _middle(game, theme),
    }


def _rule(field: Field[Any], described: str) -> dict[str, Any]:
    kind = str(field.type).replace(" ", "")
    words = re.findall(r'"(\w+)"', described)
    default = None if field.default is MISSING else field.default
    return {
        "name": field.name,
        "type": kind,
        "default": list(default) if isinstance(default, tuple) else default,
        "choices": words if words and kind == "str" else None,
        "help": described[:1].upper() + described[1:],
    }


def _numbers_of_players(game_id: str) -> list[int]:
    possible = []
    for number in _PLAYERS:
        try:
            catbox_env.make_game(game_id, num_players=number)
        except ValueError:
            continue
        possible.append(number)
    return possible


def _middle(game: Game, theme: str) -> str:
    """A picture of a game in its middle, all hands open."""
    state, rng = game.new_initial_state(seed=0), np.random.default_rng(0)
    for _ in range(game.history_length // 2):
        if not state.is_terminal():
            before, state = state, state.clone()
            state.apply_action(int(rng.choice(state.legal_actions())))
    return game.render_svg(before if state.is_terminal() else state, None, 480, theme)


@functools.cache
def _agents() -> tuple[dict[str, Any], ...]:
    """The agents that come with catbox; ``games`` and ``players`` say which games a trained one plays, null: all."""
    found: list[dict[str, Any]] = [
        {"spec": spec, "title": title, "games": None, "players": None, "group": group}
        for group, titles in _TITLES.items()
        for spec, title in titles.items()
    ]
    for agent in zoo_agents():
        plays = {"games": [agent.game_id], "players": [agent.game.num_players]}
        found.append({"spec": agent.spec, "title": agent.name, **plays, "group": "trained"})
    return tuple(found)
