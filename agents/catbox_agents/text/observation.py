"""What one seat sees, in words.

Every text is written about a world that is sampled from the seat's observation, so it cannot contain anything else.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_env import Game, GameState
from catbox_env.core.checks import check_choice, check_integers, check_seat, short_repr
from catbox_env.core.kernels import HIDDEN, UNUSED
from catbox_env.core.text import game_title

#: A state, of which only the observation of one seat is read, or that observation (O,) itself.
Position = GameState | NDArray[np.int8]

LONG, SHORT = FORMS = ("long", "short")
#: What a seat is paid for, by the game's ``reward``.
GOALS = {
    "score": "your score",
    "margin": "your score minus the mean of the others' scores",
    "win": "1 for a win, shared between equals",
}
#: Worlds to sample for one with the observer in its seat: where the start player is random, it may sit in any.
MANY_SEATS = 256


def text_observation(
    position: Position,
    seat: int | None = None,
    *,
    game: Game | None = None,
    form: str = LONG,
    history: NDArray[np.int8] | None = None,
    list_actions: bool = False,
) -> str:
    """What ``seat`` sees of a position before the end of the game, as a prompt in English.

    Args:
        position: a state, of which only the seat's observation is read; or the observation, int8 (O,).
        seat: the seat; None: the seat to move.
        game: the game of an observation; a state has its own.
        form: ``"long"`` begins with the rules, the reward, the actions and the form of an answer; ``"short"`` is the
            position and how to answer.
        history: int8 (T, 2), the seat's `history_observation`: all actions so far, as the seat saw them, follow.
        list_actions: whether a prompt for the seat to move lists the legal actions.

    Raises ``ValueError`` for an observation that ``seat`` cannot have, for one after the end of the game, and for
    arguments outside these.
    """
    check_choice("form", form, FORMS)
    world, seat = seen_world(position, seat, game)
    game = world.game
    parts = [f"You are player_{seat}."]
    if form == LONG:
        parts = [
            f"You are player_{seat} of {game.num_players} in a game of {game_title(game.id)}.",
            "",
            "Rules:",
        ]
        parts += [f"- {paragraph}" for paragraph in game.describe_rules()]
        parts += ["", f"Your reward: {GOALS[game.reward]}.", f"Actions: {action_names(game)}."]
    if history is not None:
        past = "; ".join(told_history(game, history, seat)) or "none"
        parts += ["", f"Actions so far (seat: action): {past}."]
    position_lines = [line.rstrip() for line in game.render_text(world, seat).splitlines()]
    parts += ["", *position_lines, "", call_to_act(world, seat, list_actions)]
    return "\n".join(parts)


def seen_world(position: Position, seat: int | None, game: Game | None) -> tuple[GameState, int]:
    """A state in which ``seat`` (None: the seat to move) sees ``position``, and the seat.

    All that is hidden from the seat is sampled anew, always alike. Errors as in `text_observation`.
    """
    if isinstance(position, GameState):
        if position.is_terminal():
            raise ValueError("position: the game is over; there is nothing left to decide")
        game, mover = position.game, position.current_player
        seat = mover if seat is None else check_seat("seat", seat, game.num_players)
        seen: NDArray[np.int8] = position.observation(seat)
    elif game is None:
        raise ValueError(f"position={short_repr(position)}: give the game of this observation, game=GAME")
    else:
        seen = position
        seat = seat if seat is None else check_seat("seat", seat, game.num_players)
    for seed in range(MANY_SEATS):
        world = game.sample_state(seen, seed)
        own = world.current_player if seat is None else seat
        if np.array_equal(world.observation(own), seen):
            return world, own
    whose = "the seat to move; give its seat" if seat is None else f"player_{seat}"
    raise ValueError(f"position: this is not an observation of {whose}")


def call_to_act(world: GameState, seat: int, list_actions: bool) -> str:
    """The end of a prompt: whose turn it is, and how to answer."""
    game = world.game
    if world.current_player != seat:
        return f"It is the turn of player_{world.current_player}."
    call = f"It is your turn. {answer_format(game)}"
    if list_actions:
        call += f"\nLegal actions: {', '.join(map(game.action_to_string, world.legal_actions()))}."
    return call


def answer_format(game: Game) -> str:
    """How to answer, with an example that does not depend on the position."""
    example = json.dumps({"action": game.action_to_string(game.num_actions // 2)})
    return f"End your answer with the action that you choose, as JSON like this: {example}"


def action_names(game: Game) -> str:
    """The names of all actions, first and last of each kind: ``"discard 1 .. discard 9, bid 1 .. bid 4, ..."``."""
    rows = [
        [game.action_to_string(action) for action in sorted({first, last})]
        for first, last, _ in game.describe_actions()
    ]
    return ", ".join(" .. ".join(names) for names in rows)


def told_history(game: Game, history: Any, seat: int) -> list[str]:
    """The used rows of a history (T, 2) of ``seat`` in words, with absolute seats: ``"3: play yellow 7"``.

    Raises ``ValueError`` for another shape.
    """
    rows = check_integers("history", history, (None, 2), UNUSED, game.num_actions - 1)
    return [
        f"{(seat + turn) % game.num_players}: {'hidden' if action == HIDDEN else game.action_to_string(action)}"
        for turn, action in rows.tolist()
        if action != UNUSED
    ]
