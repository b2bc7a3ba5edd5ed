"""The action in an answer of a language model. Nothing is guessed: what fails is told apart, and why is said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from catbox_agents.text.observation import Position, answer_format, seen_world
from catbox_env import Game
from catbox_env.core.checks import short_repr
from catbox_env.core.state import illegal_reason

#: What can be wrong with an answer: it names no action in one of the two forms; no action of the game has this name;
#: the action is not legal now.
UNPARSABLE, UNKNOWN, ILLEGAL = FAILURES = ("unparsable", "unknown", "illegal")
#: Only so many characters at the end of an answer are read.
MAX_READ = 10_000


@dataclass(frozen=True)
class ParsedAction:
    """What an answer said.

    Attributes:
        action: the id of a legal action; None: the answer has none.
        failure: None, or ``"unparsable"``, ``"unknown"`` or ``"illegal"``.
        message: what is wrong with the answer, to give back to the model; "" without a failure.
    """

    action: int | None
    failure: str | None = None
    message: str = ""


def parse_action(text: object, position: Position, *, game: Game | None = None) -> ParsedAction:
    """The legal action that the answer ``text`` names.

    The last JSON object in the text counts, such as ``{"action": "play yellow 7"}``; without any, the last line, which
    must be the name of an action and nothing else. Case and extra spaces do not matter. Only the last 10,000
    characters are read.

    Args:
        text: the answer. Anything but a string is unparsable.
        position: what the seat to move sees, as in `text_observation`.
        game: the game of an observation; a state has its own.

    Errors are about ``position`` and ``game``, as in `text_observation`; no answer raises any.
    """
    world, _ = seen_world(position, None, game)
    game = world.game
    found, is_json = read_answer(text)
    name = found.get("action")
    if not isinstance(name, str):
        wrong = f'the last JSON object {short_repr(found)} has no text "action".'
        return ParsedAction(None, UNPARSABLE, f"Unparsable: {wrong} {answer_format(game)}")
    try:
        action = game.string_to_action(name)
    except ValueError as error:
        if is_json:
            return ParsedAction(None, UNKNOWN, f"Unknown: {error}.")
        wrong = "the answer has no JSON object, and its last line is not the name of an action."
        return ParsedAction(None, UNPARSABLE, f"Unparsable: {wrong} {answer_format(game)}")
    if not world.action_mask()[action]:
        return ParsedAction(None, ILLEGAL, f"Illegal: {illegal_reason(world, action)}.")
    return ParsedAction(action)


def read_answer(text: object) -> tuple[dict[str, Any], bool]:
    """The last JSON object in the answer and True; without any, ``{"action": last line}`` and False."""
    tail = text[-MAX_READ:] if isinstance(text, str) else ""
    found = _last_object(tail)
    if found is not None:
        return found, True
    lines = [line for line in tail.splitlines() if line.strip()]
    return {"action": lines[-1] if lines else ""}, False


def _last_object(text: str) -> dict[str, Any] | None:
    """The last JSON object in ``text`` that is in no other; None without any."""
    decoder, last, start = json.JSONDecoder(), None, text.find("{")
    while start >= 0:
        try:
            last, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # no JSON, too long a number; too deep
            end = start + 1
        start = text.find("{", end)
    return last
