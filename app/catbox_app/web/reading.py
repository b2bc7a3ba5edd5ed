"""Reads and validates the messages of a page, which may be anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catbox_agents.files import parse_json
from catbox_env.core.checks import brief, check_choice, check_flag, check_integer, check_number

Message = dict[str, Any]

#: The longest spec of an agent, id of a game or key that is accepted.
LONGEST_WORD = 200
#: The largest integer that JavaScript writes exactly.
LARGEST = 2**53 - 1


class Refused(ValueError):
    """A valid request that the rules or the state of the table forbid."""


class Failed(ValueError):
    """A request that cannot be served; ``code`` tells the page why."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


def read_message(text: str) -> Message:
    """The message in ``text``. Raises ``ValueError`` unless it is a JSON object."""
    try:
        message = parse_json(text)
    except ValueError as error:
        raise ValueError(f"a message that is not JSON ({error}); expected an object with a type") from None
    if not isinstance(message, dict):
        raise ValueError(f"message {brief(message)}: expected an object with a type")
    return message


def text_of(message: Message, name: str, longest: int = LONGEST_WORD, shortest: int = 1) -> str:
    """The text ``name`` of a message, ``shortest`` to ``longest`` characters. All of these raise ``ValueError``."""
    value = message.get(name)
    if not isinstance(value, str) or not shortest <= len(value) <= longest:
        raise ValueError(f"{name}={brief(value)}: expected a text of {shortest} to {longest} characters")
    return value


def choice_of(message: Message, name: str, choices: Sequence[str]) -> str:
    """The text ``name``, one of ``choices``."""
    return str(check_choice(name, message.get(name, ""), choices))


def integer_of(message: Message, name: str, low: int, high: int = LARGEST) -> int:
    """The integer ``name`` from ``low`` to ``high``."""
    return check_integer(name, message.get(name), low, high)


def number_of(message: Message, name: str, low: float, high: float) -> float:
    """The number ``name`` from ``low`` to ``high``."""
    return check_number(name, message.get(name), f"a number from {low:g} to {high:g}", low, high)


def flag_of(message: Message, name: str) -> bool:
    """Whether ``name`` is true; False if it is left out."""
    return check_flag(name, message.get(name, False))
