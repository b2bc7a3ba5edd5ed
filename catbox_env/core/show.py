"""How a game is put into words: the defaults, and what the modules that show the games share.

The module that a game names as ``Game.show`` may define any of

- ``action_to_string(game, action) -> str``: ``action``, in ``0 .. A-1``, in words.
- ``why_illegal(game, record, action) -> str``: the rule that forbids ``action`` in ``record``.
- ``describe_actions(game)``, ``describe_rules(game)``: see `Game`.
- ``pieces(game, record, seat)``: the position as (text, rich style) pieces, with what ``seat`` sees; everything for
  None, only what everybody sees for ``PUBLIC``. The first line summarises it without hidden information, because
  ``repr(state)`` shows it.
- ``events(before, action, after, seat)``: see `Game.events`; the arguments have been checked.

The functions of these names here serve a game that does not. They show a seat no more than its observation and its
history do.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence

import numpy as np

from catbox_env.core.checks import PUBLIC
from catbox_env.core.game import Event, Game, GameState
from catbox_env.core.layout import Layout

Piece = tuple[str, str]

#: Characters in a line of text.
LINE_LENGTH = 48
#: Words of a title without a capital letter.
_SMALL = {"in", "of", "the"}


def action_to_string(game: Game, action: int) -> str:
    """A number instead of a name."""
    return f"action {action}"


def why_illegal(game: Game, record: np.record, action: int) -> str:
    """A list of the legal actions."""
    mask = np.zeros(game.num_actions, np.int8)
    game.loops.mask_one(game.params, _as_array(game, record), mask)
    legal = [game.action_to_string(other) for other in np.flatnonzero(mask).tolist()]
    listed = ", ".join(map(repr, legal[:5])) + (f" and {len(legal) - 5} more" if len(legal) > 5 else "")
    return f"it is not legal now; legal actions: {listed}"


def describe_actions(game: Game) -> list[tuple[int, int, str]]:
    """A row for each action."""
    return [(action, action, game.action_to_string(action)) for action in range(game.num_actions)]


def describe_rules(game: Game) -> list[str]:
    """The first paragraph of the docstring of the game's class ``Rules``."""
    text = inspect.getdoc(game.rules_class) or game.rules_class.__name__
    return [" ".join(text.partition("\n\n")[0].split())]


def pieces(game: Game, record: np.record, seat: int | None) -> list[Piece]:
    """Who is to move, and the parts of the observation, or for None of the full state."""
    mover = int(record.current_player)
    whose = f"player_{mover} to move" if mover >= 0 else "the game is over"
    lines = [(f"{game_title(game.id)}: {whose}\n", "bold")]
    return lines + [(f"{line}\n", "") for line in vector_lines(game, record, seat)]


def events(before: GameState, action: int, after: GameState, seat: int | None) -> list[Event]:
    """The name of ``action`` unless it is hidden from ``seat``, and at the end the winners."""
    mover, seen = before.current_player, action_seen(after, seat)
    words = before.game.action_to_string(action) if seen else "a hidden action"
    found = [Event("action", mover, f"player_{mover}: {words}", {"action": action if seen else None})]
    winners = winners_of(after)
    if winners:
        alone = winners[0] if len(winners) == 1 else None
        found.append(Event("game_end", alone, won_by(winners), {"winners": winners}))
    return found


# For everybody who shows a game.


def styled_text(state: GameState, seat: int | None) -> list[Piece]:
    """What ``seat`` (as for `Game.render_text`) sees of ``state``, as (text, rich style) pieces.

    Raises ``ValueError`` for a seat that the game does not have.
    """
    return state.game._pieces(state, seat)


def explain_refusal(state: GameState, action: int) -> str:
    """Why the illegal ``action``, any integer, cannot be taken in ``state``."""
    return state.game._why_illegal(state.record, action)


def game_title(game_id: str) -> str:
    """What people call the game: ``"Cat in the Box"``."""
    words = game_id.rpartition("_v")[0].split("_")
    return " ".join(
        word if word in _SMALL and place else word.capitalize() for place, word in enumerate(words)
    )


def action_seen(after: GameState, seat: int | None) -> bool:
    """Whether ``seat`` (None: sees everything) has seen which action led to ``after``, not only that one did."""
    mover, action, public = after._log[int(after.record.num_moves) - 1].tolist()
    return seat is None or seat == mover or public == action


def last_action(state: GameState, seat: int | None) -> tuple[int, int] | None:
    """The seat that moved last and its action, -1 if ``seat`` did not see it (None: sees everything).

    None before the first action, and if the history is unknown.
    """
    moves = int(state.record.num_moves)
    if not 0 < moves <= len(state._log):
        return None
    mover, action, public = state._log[moves - 1].tolist()
    return mover, action if seat in (None, mover) else public


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


def vector_lines(game: Game, record: np.record, seat: int | None) -> list[str]:
    """The named parts of what ``seat`` sees of ``record``, or for None those of the full state, as lines of text.

    None for ``PUBLIC``: which parts everybody sees is not known.
    """
    if seat == PUBLIC:
        return []
    layout = game.state_layout if seat is None else game.observation_layout
    write = game.loops.state_one if seat is None else game.loops.observe_one
    vector = np.empty(layout.size, np.int8)
    write(game.params, _as_array(game, record), seat or 0, vector)
    return part_lines(layout, vector)


def part_lines(layout: Layout, vector: np.ndarray) -> list[str]:
    """The named parts of ``vector`` (O,) as lines of text. A part of several rows omits those of zeros."""
    lines = []
    for name, values in layout.unpack(vector).items():
        part = layout[name]
        digits = max(len(str(part.low)), len(str(part.high)))
        for index in np.ndindex(values.shape[:-1]):
            row = np.atleast_1d(values[index]).tolist()
            head = " ".join([name, *map(str, index)]) + ":"
            most = max(1, (LINE_LENGTH - len(head)) // (digits + 1))
            for first in range(0, len(row) if any(row) or values.ndim < 2 else 0, most):
                lines.append(" ".join(["   " if first else head, *map(str, row[first : first + most])]))
    return lines


def winners_of(state: GameState) -> list[int]:
    """The seats that have won; none before the end."""
    shares = state.record.win_shares[: state.game.num_players].tolist()
    return [seat for seat, share in enumerate(shares) if share > 0] if state.is_terminal() else []


def won_by(winners: Sequence[int]) -> str:
    """Who has won, in words."""
    return f"{names(winners)} {'wins' if len(winners) == 1 else 'share the win'}"


def winners_event(after: GameState, totals: Sequence[int], last_round: Sequence[int], unit: str) -> Event:
    """The end of a game that adds up points over rounds: who has won, with how many, and why.

    ``totals`` and ``last_round`` (P): each seat's points in total and in the last round.
    """
    winners = winners_of(after)
    best = totals[winners[0]]
    level = [seat for seat, total in enumerate(totals) if total == best]
    if len(winners) > 1:
        text = f"{names(winners)} share the win with {counted(best, unit)} each"
    elif len(level) > 1:
        others = names([seat for seat in level if seat != winners[0]])
        text = (
            f"player_{winners[0]} wins with {counted(best, unit)}: {others} "
            f"{'has' if len(level) == 2 else 'have'} as many, but fewer in the last round"
        )
    else:
        text = f"player_{winners[0]} wins with {counted(best, unit)}"
    data = {"winners": winners, "totals": list(totals), "last_round": list(last_round)}
    return Event("game_end", winners[0] if len(winners) == 1 else None, text, data)


def names(seats: Sequence[int]) -> str:
    """``"player_0, player_1 and player_3"``."""
    listed = [f"player_{seat}" for seat in seats]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def counted(number: int, unit: str) -> str:
    """``"1 trick"``, ``"3 tricks"``."""
    return f"{number} {unit}{'' if abs(number) == 1 else 's'}"


def _as_array(game: Game, record: np.record) -> np.ndarray:
    """A copy of ``record`` as an array (1,)."""
    records: np.ndarray = np.zeros(1, game.kernels.state)
    records[0] = record
    return records
