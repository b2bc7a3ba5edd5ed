"""Options of a game as text: the one grammar of the command line and of files of settings.

| text | value |
|---|---|
| ``7``, ``2_000_000``, ``0x10``, ``5e-4`` | a number |
| ``true``, ``yes``, ``on``; ``false``, ``no``, ``off``; ``none``, ``null`` | True; False; None |
| ``1,3,4`` or ``[1, 3, 4]``; ``1,`` or ``[1]``; nothing or ``[]`` | a list |
| ``{num_players: 3, bids: [1, 3]}``, ``{'module:Class': 0.1}`` | a mapping |
| anything else, or anything in quotes | the text itself |
"""

from __future__ import annotations

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
_CLOSING = {"[": "]", "(": ")", "{": "}"}
#: Brackets inside one another that are read; a text with more of them, which no option takes, stays a text.
_DEEPEST = 4


class QuotedText(str):
    """A text that is no notation of a value, as one in quotes: ``read_value`` leaves it as it is."""


def parse_value(text: str) -> Any:
    """The value that ``text`` stands for (see the table above). Never raises: other text stays a text."""
    text = text.strip()
    items = _items(text)
    if items is not None:
        return [parse_value(item) for item in items]
    if _is_enclosed(text, "{", "}"):
        return _mapping(text)
    if _is_quoted(text):
        return text[1:-1]
    return _number_or_word(text)


def parse_text(text: str) -> str:
    """The text that ``text`` stands for, which may look like a number: without the quotes around it."""
    text = text.strip()
    return text[1:-1] if _is_quoted(text) else text


def parse_texts(text: str) -> list[str]:
    """The texts that ``text`` lists, which may look like numbers; one that is no list is a list of one."""
    items = _items(text.strip())
    return [parse_text(item) for item in ([text] if items is None else items)]


def read_value(value: Any) -> Any:
    """``value`` with the value of every text in it in its place, and lists, which JSON and YAML have, for tuples.

    A text is read once: what is read already goes through ``quoted`` before it gets here again.
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
    """``value`` with every text in it a ``QuotedText``: ``read_value`` gives ``value`` back."""
    if isinstance(value, str):
        return QuotedText(value)
    if isinstance(value, list | tuple):
        return [quoted(item) for item in value]
    if isinstance(value, dict):
        return {name: quoted(item) for name, item in value.items()}
    return value


def read_options(game_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` of ``make_game``, which may be written as text, as values: see ``read_value``.

    One value for a rule that takes several is a list of one. The values are not checked: ``make_game`` does that. The
    options of an unknown game are only read. Raises ``ValueError`` for ``rules``, an object that no text stands for.
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
            return read(text)
        except ValueError:
            continue
    return text


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] in "'\"" and text.find(text[0], 1) == len(text) - 1


def _is_enclosed(text: str, opening: str, closing: str) -> bool:
    """Whether the first character is the bracket ``opening``, and the last one closes it."""
    enclosed = text.startswith(opening) and text.endswith(closing)
    return enclosed and _parts(text) is not None and _parts(text[1:-1]) is not None


def _items(text: str) -> list[str] | None:
    """The items of a list; None where ``text`` is none. Nothing after the last comma is no item."""
    bracketed = _is_enclosed(text, "[", "]") or _is_enclosed(text, "(", ")")
    parts = _parts(text[1:-1] if bracketed else text)
    if parts is None or (len(parts) == 1 and text and not bracketed):
        return None
    return parts if parts[-1] else parts[:-1]


def _mapping(text: str) -> Any:
    """The mapping that ``text``, in braces, lists as ``name: value``; the text itself where it does not."""
    pairs = [_pair(part) for part in _parts(text[1:-1]) or [] if part]
    return text if None in pairs else {name: parse_value(value) for name, value in filter(None, pairs)}


def _pair(text: str) -> tuple[str, str] | None:
    """The name and the text of the value of one ``name: value``; None where ``text`` is none.

    A name with a colon in it, ``module:Class``, stands in quotes or has a space after the colon that ends it.
    """
    if found := re.fullmatch(r"""(['"])(.*?)\1\s*:(.*)""", text, re.DOTALL):
        return found[2], found[3]
    if found := re.fullmatch(r"""([^][(){}'"]*?):\s(.*)""", text, re.DOTALL):
        return found[1].strip(), found[2]
    name, colon, value = text.partition(":")
    return (name.strip().strip("'\""), value) if colon else None


def _parts(text: str) -> list[str] | None:
    """What stands between the commas that are in no brackets and no quotes; None where these do not match."""
    parts, begin, quote, previous = [], 0, "", ""
    expected: list[str] = []  # the brackets that are open, as what closes them
    for place, character in enumerate(text):
        before, previous = previous, previous if character == " " else character
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and before in ("", *",[({:"):  # elsewhere it is an apostrophe
            quote = character
        elif character in _CLOSING:
            expected.append(_CLOSING[character])
            if len(expected) > _DEEPEST:
                return None
        elif expected and character == expected[-1]:
            expected.pop()
        elif character in "])}":
            return None
        elif character == "," and not expected:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return None if expected or quote else [*parts, text[begin:].strip()]
