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
from collections.abc import Callable, Mapping
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


class QuotedText(str):
    """Literal text, as if in quotes: ``read_value`` does not parse it."""


def parse_value(text: str) -> Any:
    """The value that ``text`` stands for (see the table above). Never raises: other text stays text."""
    return _parse(text, _number_or_word)


def parse_text(text: str) -> str:
    """``text`` without the quotes around it; never parsed as a number."""
    text = text.strip()
    found = _TOKEN.fullmatch(text)
    return text[1:-1] if found and found["quoted"] else text


def parse_texts(text: str) -> list[str]:
    """The texts that ``text`` lists, never parsed as numbers; text that is not a list becomes a list of one."""
    found = _parse(text, str)
    return found if isinstance(found, list) else [parse_text(text)]


def _parse(text: str, word: Callable[[str], Any]) -> Any:
    """Parse ``text`` as a Python literal, after replacing every unquoted word by the literal of ``word(...)``."""

    def literal(token: re.Match[str]) -> str:
        if token["word"]:
            found = token["word"].rstrip()
            is_name = text[token.end() :].lstrip().startswith(":")
            return repr(found if is_name else word(found))
        return repr(token["quoted"][1:-1]) if token["quoted"] else "?"

    text = text.strip()
    if not text:
        return []
    try:
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


def read_value(value: Any) -> Any:
    """``value`` with every text in it parsed, and with lists for tuples, as in JSON and YAML.

    Parse text only once: pass a parsed value through ``quoted`` before reading it again.
    """
    if isinstance(value, QuotedText):
        return str(value)
    if isinstance(value, str):
        return parse_value(value)
    if isinstance(value, list | tuple):
        return [read_value(item) for item in value]
    if isinstance(value, dict):
        return {name: read_value(item) for name, item in value.items()}
    return value


def quoted(value: Any) -> Any:
    """``value`` with every text in it a ``QuotedText``: ``read_value`` returns ``value`` unchanged."""
    if isinstance(value, str):
        return QuotedText(value)
    if isinstance(value, list | tuple):
        return [quoted(item) for item in value]
    if isinstance(value, dict):
        return {name: quoted(item) for name, item in value.items()}
    return value


def read_options(game_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` of ``make_game``, possibly given as text, as values: see ``read_value``.

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
    read = {name: read_value(value) for name, value in options.items()}
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
