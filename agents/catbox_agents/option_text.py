"""Game options as text: the grammar shared by the command line and settings files.

| text | value |
|---|---|
| ``7``, ``2_000_000``, ``0x10``, ``5e-4`` | a number |
| ``true``, ``yes``, ``on``; ``false``, ``no``, ``off``; ``none``, ``null`` | True; False; None |
| ``1,3,4`` or ``[1, 3, 4]``; ``1,`` or ``[1]``; empty text or ``[]`` | a list |
| ``{num_players: 3, bids: [1, 3]}``, ``{'module:Class': 0.1}`` | a mapping |
| anything else, or anything in quotes | the text itself |
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from catbox_env.core.registry import GAMES, game_class

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("none", "null"), None),
}
#: The tokens of a text besides brackets, commas, and the colons of mappings: quoted text, words, and unmatched quotes.
#: A colon within a word, as in ``module:Class``, is part of the word.
_TOKEN = re.compile(
    r"""(?P<quoted>'[^']*'|"[^"]*")(?=\s*(?:[])},:]|$))"""
    r"""|(?P<word>[^][(){},:'"\s](?:[^][(){},:]|:(?![][(){}\s]|$))*)"""
    r"""|['"]"""
)


def parse_value(text: str) -> Any:
    """The value that ``text`` stands for (see the table above). Never raises: other text stays text."""

    def literal(token: re.Match[str]) -> str:
        if token["word"]:
            found = token["word"].rstrip()
            is_name = text[token.end() :].lstrip().startswith(":")
            return repr(found if is_name else _number_or_word(found))
        return repr(token["quoted"][1:-1]) if token["quoted"] else "?"

    text = text.strip()
    if not text:
        return []
    try:  # every unquoted word is replaced by the literal of its value: the rest is Python's
        return _listed(ast.literal_eval(_TOKEN.sub(literal, text)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):  # TypeError: a list as a name
        return text


def _listed(value: Any) -> Any:
    """``value`` with lists for tuples. Raises ``ValueError`` for a set: values in braces without names."""
    if isinstance(value, set):
        raise ValueError("a set")
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _listed(item) for name, item in value.items()}
    return value


def _read(value: Any) -> Any:
    """``value`` with every text in it parsed, and with lists for tuples."""
    if isinstance(value, str):
        return parse_value(value)
    return [_read(item) for item in value] if isinstance(value, list | tuple) else value


def read_options(game_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` of ``make_game``, possibly given as text, as values.

    A single value for a rule that takes several becomes a list of one. The values are not checked: ``make_game`` does
    that. The options of an unknown game are only parsed. Raises ``ValueError`` for ``rules``, which cannot be text.
    """
    several = set()
    if isinstance(game_id, str) and game_id in GAMES:
        rules = fields(game_class(game_id).rules_class)
        if "rules" in options:
            names = ", ".join(field.name for field in rules)
            raise ValueError(f"unknown option 'rules' of {game_id}: expected reward or one of {names}")
        several = {field.name for field in rules if str(field.type).startswith("tuple")}
    read = {name: _read(value) for name, value in options.items()}
    alone = {name for name in several & read.keys() if not isinstance(read[name], list | None)}
    return read | {name: [read[name]] for name in alone}


def _number_or_word(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if re.match("[-+]?0[0-9]", text):  # octal in YAML, decimal to most people
        return text
    for read in (int, float, lambda digits: int(digits, 0)):
        try:
            number: float = read(text)
        except ValueError:
            continue
        return text if number in (math.inf, -math.inf) or number != number else number
    return text
