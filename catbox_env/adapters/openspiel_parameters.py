"""Conversion between options of ``make_game`` and OpenSpiel parameters, which have one type each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from catbox_env.core.checks import brief
from catbox_env.core.game import Game
from catbox_env.core.kernels import REWARDS
from catbox_agents.option_text import parse_value

#: Parameter values that stand for "derived from the other rules" and "no word".
OPEN_NUMBER, OPEN_LIST, NO_WORD = -1, "open", "none"
WORD = "_word"


def _kind(field: Field) -> str:
    """What a rule takes: ``number``, ``number or word``, ``list``, ``flag`` or ``word``."""
    kind = str(field.type)
    if kind.startswith("tuple"):
        return "list"
    return {"int": "number", "int | str": "number or word", "bool": "flag", "str": "word"}[kind]


def specification_of(rules_class: type) -> dict[str, Any]:
    """The parameters of a game with their default values."""
    specification: dict[str, Any] = {"reward": REWARDS[0]}
    for field in fields(rules_class):
        name, kind, default = field.name, _kind(field), field.default
        if name == "num_players":
            specification["players"] = default
        elif kind == "number" and default is None:
            specification[name] = OPEN_NUMBER
        elif kind == "list":
            specification[name] = OPEN_LIST if default is None else _list_text(default)
        else:
            specification[name] = default
            if kind == "number or word":
                specification[name + WORD] = NO_WORD
    return specification


def options_of(rules_class: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``make_game`` for ``parameters``. Raises ``ValueError`` for an invalid list."""
    options: dict[str, Any] = {"reward": parameters["reward"]}
    for field in fields(rules_class):
        name, kind = field.name, _kind(field)
        value = parameters["players" if name == "num_players" else name]
        if kind == "number" and field.default is None:
            value = None if value == OPEN_NUMBER else value
        elif kind == "list":
            value = None if value == OPEN_LIST else _list_of(name, value)
        elif kind == "number or word" and parameters[name + WORD] != NO_WORD:
            value = parameters[name + WORD]
        options[name] = value
    return options


def parameters_of(game: Game) -> dict[str, Any]:
    """The parameters for the options of ``game``."""
    parameters: dict[str, Any] = {"reward": game.reward}
    for field in fields(game.rules_class):
        name, value = field.name, getattr(game.rules, field.name)
        if _kind(field) == "list":
            parameters[name] = _list_text(value)
        elif _kind(field) == "number or word" and isinstance(value, str):
            parameters[name + WORD] = value
        else:
            parameters["players" if name == "num_players" else name] = value
    return parameters


def _list_text(items: Any) -> str:
    text = " ".join(map(str, items))
    return text if len(items) > 1 else f"[{text}]"


def _list_of(name: str, text: str) -> list[Any]:
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    items = [parse_value(item) for item in inner.replace(",", " ").split()]
    if not all(isinstance(item, int) for item in items):
        raise ValueError(
            f"{name}={brief(text)}: expected integers separated by spaces, such as '1 3 4', '[1]' for one, '[]' "
            f"for none, or {OPEN_LIST!r}"
        )
    return items


def numbers_of_players(rules_class: type) -> list[int]:
    """The numbers of players that a game accepts with all other rules at their defaults."""
    accepted = []
    for number in range(1, 11):
        try:
            rules_class(num_players=number)
        except ValueError:
            continue
        accepted.append(number)
    return accepted
