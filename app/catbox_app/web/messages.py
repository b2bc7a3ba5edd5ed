"""The messages between a page and a table (docs/protocol.md): what a page sends, which may be anything, is read and
checked; what it is shown of a game is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from catbox_agents.arena.match import with_names
from catbox_agents.system.files import parse_json
from catbox_app.review import Reviewed
from catbox_env import Event, Game, GameState
from catbox_env.core.checks import check_choice, check_integer, check_number, short_repr
from catbox_env.core.text import game_title

Message = dict[str, Any]

#: The longest spec of an agent, id of a game or key that is accepted.
LONGEST_WORD = 200
#: The largest integer that JavaScript writes exactly.
LARGEST = 2**53 - 1
#: The longest game that a page shows, in actions: after a reload everything about it is sent at once.
MAX_ACTIONS = 2000


class Refused(ValueError):
    """A valid request that the rules or the state of the table forbid."""


class Failed(ValueError):
    """A request that cannot be served; ``code`` tells the page why."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


def failed(text: str, code: str | None = None) -> Message:
    """The message that something cannot be done; ``code`` as in `Failed`."""
    return {"type": "failed", "text": text} | ({} if code is None else {"code": code})


def read_message(text: str) -> Message:
    """The message in ``text``. Raises ``ValueError`` unless it is a JSON object."""
    try:
        message = parse_json(text)
    except ValueError as error:
        raise ValueError(f"a message that is not JSON ({error}); expected an object with a type") from None
    if not isinstance(message, dict):
        raise ValueError(f"message {short_repr(message)}: expected an object with a type")
    return message


def text_of(message: Message, name: str, longest: int = LONGEST_WORD, shortest: int = 1) -> str:
    """The text ``name`` of a message, ``shortest`` to ``longest`` characters. All of these raise ``ValueError``."""
    value = message.get(name)
    if not isinstance(value, str) or not shortest <= len(value) <= longest:
        raise ValueError(f"{name}={short_repr(value)}: expected a text of {shortest} to {longest} characters")
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


def joined(game: Game, mode: str, names: Sequence[str], seat: int | None, seed: int | None) -> Message:
    """The first message about a game that a page shows."""
    return {
        "type": "joined",
        "mode": mode,
        "game": game.id,
        "title": game_title(game.id),
        "rules_text": "\n\n".join(game.describe_rules()),
        "names": list(names),
        "seat": seat,
        "seed": None if seed is None else told_seed(seed),
    }


def told_seed(seed: int) -> int | str:
    """The seed as a number, or as text if JavaScript would round it."""
    return seed if seed <= LARGEST else str(seed)


def position(state: GameState, number: int, seat: int | None, theme: str, size: int) -> Message:
    """The position after ``number`` actions as ``seat`` sees it; None: all hands open."""
    game, to_move = state.game, state.current_player
    legal = state.legal_actions() if seat == to_move >= 0 else []
    return {
        "type": "position",
        "number": number,
        "svg": game.render_svg(state, seat, size, theme),
        "legal": [named(game, action) for action in legal],
        "to_move": to_move,
    }


def events(number: int, told: Iterable[Event], names: Sequence[str]) -> Message:
    """What action ``number``, counted from 1, did."""
    lines = [
        {"text": with_names(event.text, names), "kind": event.kind, "seat": event.seat}
        | ({"data": event.data} if event.kind == "score" else {})
        for event in told
    ]
    return {"type": "events", "number": number, "lines": lines}


def advice(number: int, agent: str, values: list[dict[str, Any]]) -> Message:
    """The message ``coach`` about the position after ``number`` actions; ``agent``: whose ``values`` they are."""
    best = max(values, key=lambda value: float(value["value"]), default=None)
    return {
        "type": "coach",
        "number": number,
        "agent": agent,
        "values": values,
        "best": best and best["action"],
    }


def valued(
    game: Game, action: int, value: float, unit: str, interval: float | None = None, alike: bool = False
) -> dict[str, Any]:
    """An action with its value, half of whose 95 % interval is ``interval``; ``alike``: as good as the best."""
    return {**named(game, action), "value": value, "unit": unit, "interval": interval, "alike": alike}


def reviewed(game: Game, decision: Reviewed, done: int, total: int) -> Message:
    """The message ``reviewed``: a decision, the ``done``-th of ``total``."""
    return {
        "type": "reviewed",
        "done": done,
        "total": total,
        "number": decision.number,
        "seat": decision.seat,
        "taken": named(game, decision.action),
        "better": named(game, decision.best) if decision.is_mistake else None,
        "lead": decision.lead,
        "cost": decision.cost,
        "interval": decision.interval,
    }


def probabilities(game: Game, policy: Iterable[tuple[int, float]]) -> list[dict[str, Any]]:
    """The ``values`` of a policy, pairs (action, probability)."""
    return [valued(game, action, float(chance), "probability") for action, chance in policy]


def named(game: Game, action: int) -> dict[str, Any]:
    """An action with its text."""
    return {"action": action, "text": game.action_to_string(action)}
