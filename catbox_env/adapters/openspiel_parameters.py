"""Options of ``make_game`` as parameters of OpenSpiel, which have one type each. Nothing here imports OpenSpiel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from catbox_env.core.kernels import REWARDS

#: Parameter values that stand for None, and for "no word".
OPEN_NUMBER, OPEN_LIST, NO_WORD = -1, "open", "none"
WORD = "_word"


def rule_types(rules_class: type) -> dict[str, set[type]]:
    """The types of each rule: of bool, float, int, str, tuple for a list of integers, and None if it can be open.

    Raises ``ValueError`` for a rule of a type that OpenSpiel's parameters do not have.
    """
    hints, found = get_type_hints(rules_class), {}
    for field in fields(rules_class):
        types = _types(hints[field.name]) | ({NoneType} if field.default is None else set())
        if types not in ({bool}, {float}) and types - {NoneType} not in ({int}, {str}, {int, str}, {tuple}):
            raise ValueError(
                f"option {field.name} of {rules_class.__module__}: OpenSpiel has no parameter of type "
                f"{hints[field.name]}; expected bool, float, int, str, int | str or a list of integers, and None only "
                "with the last four"
            )
        found[field.name] = types
    return found


def _types(hint: Any) -> set[type]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return set().union(*map(_types, arguments))
    if origin is Literal:
        return {type(value) for value in arguments}
    return {tuple} if origin in (tuple, list, Sequence) and {*arguments} <= {int, Ellipsis} else {hint}


def parameters_of(rules_class: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters for all ``options`` of a game. Errors as in `rule_types`."""
    parameters = {"reward": options["reward"]}
    for rule, types in rule_types(rules_class).items():
        name, value = "players" if rule == "num_players" else rule, options[rule]
        if types >= {int, str}:
            is_literal = isinstance(value, str)
            parameters[name + WORD], value = (value, None) if is_literal else (NO_WORD, value)
        if value is None:
            value = OPEN_LIST if tuple in types else OPEN_NUMBER if int in types else NO_WORD
        elif tuple in types:
            text = " ".join(map(str, value))
            value = text if len(value) > 1 else f"[{text}]"
        parameters[name] = value
    return parameters


def options_of(rules_class: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The options for all ``parameters``; what is no integer in a list stays text, which the rules refuse."""
    options = {"reward": parameters["reward"]}
    for rule, types in rule_types(rules_class).items():
        name = "players" if rule == "num_players" else rule
        value = parameters[name]
        if types >= {int, str} and parameters[name + WORD] != NO_WORD:
            value = parameters[name + WORD]
        elif NoneType in types and value in (OPEN_NUMBER, OPEN_LIST, NO_WORD):
            value = None
        elif tuple in types:
            items = value.strip("[]").replace(",", " ").split()
            value = tuple(int(item) if re.fullmatch(r"-?\d+", item) else item for item in items)
        options[rule] = value
    return options


def default_parameters(rules_class: type) -> dict[str, Any]:
    """The parameters of a game with their default values. Errors as in `rule_types`."""
    standard = rules_class()
    defaults = {
        field.name: getattr(standard, field.name) if field.default is MISSING else field.default
        for field in fields(rules_class)
    }
    return parameters_of(rules_class, {**defaults, "reward": REWARDS[0]})
