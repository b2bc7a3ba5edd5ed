"""What a person types for an action: its name in full, shortened, or its id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from catbox_env import Game

#: Actions that an unclear text could mean that are listed.
MOST_SUGGESTED = 8


def parse_action(game: Game, legal: Sequence[int], text: str) -> int:
    """The action that a person means by ``text``.

    A shortened form has to fit exactly one legal action or, where it fits none, exactly one action of the game, which
    is then illegal. Raises ValueError saying what was not understood, or which actions it could mean.
    """
    wanted = text.strip().lower()
    if match := re.fullmatch(r"(?:#|id\s*)(\d+)", wanted):
        return game.check_action_id(int(match[1]))
    fitting = [action for action in legal if _fits(wanted, game.action_to_string(action).lower())]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        could_be = ", ".join(game.action_to_string(action) for action in fitting[:MOST_SUGGESTED])
        more = ", ..." if len(fitting) > MOST_SUGGESTED else ""
        raise ValueError(f"{text!r} could be: {could_be}{more}; say more")
    illegal = [
        action for action in range(game.num_actions) if _fits(wanted, game.action_to_string(action).lower())
    ]
    if len(illegal) == 1:
        return illegal[0]
    return game.string_to_action(text)


def shortened(game: Game, legal: Sequence[int]) -> str:
    """A short form of the first of the ``legal`` actions that is understood, as an example."""
    name = game.action_to_string(legal[0])
    *words, last = name.split()
    initials = "".join(word[0] for word in words) + last
    for short in (last, initials):
        with suppress(ValueError):
            if parse_action(game, legal, short) == legal[0]:
                return short.lower()
    return name


def _fits(wanted: str, name: str) -> bool:
    """Whether the words of ``wanted`` begin words of ``name``, in order; numbers have to be equal ("y7": "play
    yellow 7")."""
    words = iter(re.findall(r"[a-z]+|\d+|[^a-z\d\s]", name))
    given = re.findall(r"[a-z]+|\d+|[^a-z\d\s]", wanted)

    def begins(word: str, part: str) -> bool:
        return word == part if part.isdigit() else word.startswith(part)

    return bool(given) and all(any(begins(word, part) for word in words) for part in given)
