"""What a page shows of a game: the messages ``joined``, ``position`` and ``events`` of docs/protocol.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from catbox_agents.match import with_names
from catbox_app.web.coach import Coach, named
from catbox_app.web.reading import LARGEST, Message
from catbox_env import Event, Game, GameState
from catbox_env.core.show import game_title

#: The files of the page.
STATIC = Path(__file__).parent / "static"
#: The longest game that a page shows, in actions: after a reload everything about it is sent at once.
MAX_ACTIONS = 2000


@dataclass(eq=False)
class Viewer:
    """One page that shows a table: how to send it messages, how to draw its pictures, and the name of its user."""

    send: Callable[[Message], None]
    coach: Coach
    theme: str = "light"
    size: int = 720
    seat: int | None = None
    name: str = ""


def joined(
    game: Game, mode: str, names: Sequence[str], seat: int | None, seed: int | None, command: str | None
) -> Message:
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
        "command": command,
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
        {"text": with_names(event.text, names), "kind": event.kind, "seat": event.seat} for event in told
    ]
    return {"type": "events", "number": number, "lines": lines}
