"""Game options as text: the grammar shared by the command line and settings files.

| text | value |
|---|---|
| ``7``, ``2_000_000``, ``0x10``, ``5e-4`` | a number |
| ``true``, ``yes``, ``on``; ``false``, ``no``, ``off``; ``none``, ``null`` | True; False; None |
| ``1,3,4`` or ``[1, 3, 4]``; ``1,`` or ``[1]``; empty text or ``[]`` | a list of these |
| anything else | the text itself |
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from catbox_env.registry import GAMES, game_class

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("none", "null"), None),
}


def parse_value(text: str) -> Any:
    """The value that ``text`` stands for (see the table above). Never raises: other text stays text."""
    text = text.strip()
    has_brackets = text[:1] + text[-1:] in ("[]", "()")
    listed = text[1:-1] if has_brackets else text
    if text and not has_brackets and "," not in text:
        return _number_or_word(text)
    items = [item.strip() for item in listed.split(",")]
    return [_number_or_word(item) for item in (items if items[-1] else items[:-1])]


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
