"""What an action did, in words: the event stream that terminals, browsers and replays show."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from catbox_env.core.checks import check_action
from catbox_env.core.state import GameState, check_own_state

if TYPE_CHECKING:
    from catbox_env.core.game import Game


@dataclass(frozen=True)
class Event:
    """One effect of an action.

    Attributes:
        kind: what happened, such as ``"trick_won"``; the module ``events.py`` of the game lists its kinds.
        seat: the seat that it is about; None: no single one.
        text: one sentence without a full stop, in which seats are called ``player_0``, ``player_1``, ...
        data: the same as JSON-serialisable values, for programs.
    """

    kind: str
    seat: int | None
    text: str
    data: dict[str, Any] = field(default_factory=dict)


def check_step(game: Game, before: Any, action: Any, after: Any) -> int:
    """``action`` as an int. Raises ``ValueError`` unless it led from ``before`` to ``after``, states of ``game``."""
    for name, state in (("before", before), ("after", after)):
        check_own_state(name, state, game)
    action = check_action(action, game.num_actions)
    moves = int(before.record.num_moves)
    follows = int(after.record.num_moves) == moves + 1
    if not follows or after.log[moves, :2].tolist() != [before.current_player, action]:
        raise ValueError(
            f"after: not the state that action {action} ({game.action_to_string(action)}) leads to from before; keep "
            "a copy.deepcopy of the state, apply the action, and pass both"
        )
    return action


def action_seen(after: GameState, seat: int | None) -> bool:
    """Whether ``seat`` (None: sees everything) has seen which action led to ``after``, not only that one did."""
    mover, action, public = after.log[int(after.record.num_moves) - 1].tolist()
    return seat is None or seat == mover or public == action


def last_position(before: GameState, action: int, after: GameState) -> GameState:
    """The position after ``action`` in the round in which it was taken: before a new deal if it ended that round.

    If another round follows, the game counts as over in this position, but ``rounds_left`` in its record still counts
    the rounds to come. For games of several rounds whose record has this field.
    """
    if not after.round_ended or after.is_terminal():
        return after
    position = copy.deepcopy(before)
    position.record.rounds_left = 0
    position.apply_action(action)
    position.record.rounds_left = before.record.rounds_left
    return position


def names(seats: Sequence[int]) -> str:
    """``"player_0, player_1 and player_3"``."""
    listed = [f"player_{seat}" for seat in seats]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def winners_of(state: GameState) -> list[int]:
    """The seats that won the game or share the win; none before its end."""
    return np.flatnonzero(state.record.win_shares).tolist() if state.is_terminal() else []


def won_by(winners: Sequence[int]) -> str:
    """``"player_1 wins"``, ``"player_0 and player_2 share the win"``."""
    return f"{names(winners)} {'wins' if len(winners) == 1 else 'share the win'}"


def counted(number: int, unit: str) -> str:
    """``"1 trick"``, ``"3 tricks"``."""
    return f"{number} {unit}{'' if abs(number) == 1 else 's'}"
