"""What a game provides to ``core``: a state record, a parameter record, and a handful of kernels.

A kernel is a plain scalar function under ``@njit``. It allocates nothing (except scratch memory in ``sample``, once
per call), raises nothing and reads no globals except constants. The same kernels run in a single game, a batch of
games, and every adapter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from catbox_env.core.compilation import Record, njit

#: How a game's rewards are paid; ``params.reward_mode`` is an index into this tuple.
REWARDS = ("score", "margin", "win")

#: In a history: an action that the seat cannot see, and a row without an action yet.
HIDDEN, UNUSED = -1, -2


def record_dtype(fields: list[tuple]) -> np.dtype:
    """An aligned structured dtype whose fields can be read as attributes, in Python and in compiled code.

    Raises ``ValueError`` for a field with the name of an attribute of NumPy's records: compiled code would read the
    field, plain Python the attribute.
    """
    for name, *_ in fields:
        if hasattr(np.record, name):
            raise ValueError(
                f"field {name!r}: NumPy's records have an attribute of that name; choose another"
            )
    return np.dtype((Record, np.dtype(fields, align=True)))


def core_state_fields(max_players: int, num_info: int) -> list[tuple]:
    """The fields that ``core`` reads in every game's state record.

    - ``current_player``: the seat to move, -1 when the game is over.
    - ``terminated``: 1 when the game is over.
    - ``round_ended``: 1 when the last step ended a round.
    - ``rewards`` (max_players): what the last step paid; the game writes points, ``core`` turns them into rewards.
    - ``win_shares`` (max_players): set by the game when it is over; they sum to 1.
    - ``info`` (num_info, max_players): statistics of the last finished round, in the order of ``Game.info_names``.

    ``core`` clears the first five when a game begins, and ``round_ended`` and ``rewards`` before every step. It
    maintains the following itself:

    - ``num_moves``: actions taken so far.
    - ``rounds_ended``: rounds finished so far.
    - ``returns`` (max_players): sum of the rewards so far.
    """
    return [
        ("current_player", np.int8),
        ("terminated", np.int8),
        ("round_ended", np.int8),
        ("rewards", np.float32, (max_players,)),
        ("win_shares", np.float32, (max_players,)),
        ("info", np.int32, (num_info, max_players)),
        ("num_moves", np.int32),
        ("rounds_ended", np.int32),
        ("returns", np.float64, (max_players,)),
    ]


#: The fields that ``core`` reads in every game's parameter record.
CORE_PARAMS: list[tuple] = [("num_players", np.int64), ("num_actions", np.int64), ("reward_mode", np.int64)]


def new_params(
    dtype: np.dtype, *, num_players: int, num_actions: int, reward: str, **rules: int
) -> np.ndarray:
    """An array (1,) of ``dtype``, which begins with `CORE_PARAMS`; ``rules``: the values of the game's own fields."""
    params = np.zeros(1, dtype)
    core = {"num_players": num_players, "num_actions": num_actions, "reward_mode": REWARDS.index(reward)}
    for name, value in (core | rules).items():
        params[name] = value
    return params


@njit
def history_rows(history) -> int:  # type: ignore[no-untyped-def]  # compiled: (T, 2) int8
    """The number of used rows of a history."""
    used = 0
    while used < len(history) and history[used, 0] != UNUSED:
        used += 1
    return used


@njit
def accept_state(params, state) -> bool:  # type: ignore[no-untyped-def]  # compiled: records
    """The default of ``check_state``, for a game that can continue from every state within its bounds."""
    return True


@njit
def show_action(params, state, action) -> int:  # type: ignore[no-untyped-def]  # compiled: records
    """The default of ``public_action``, for a game in which all actions are public."""
    return action


@njit
def sample_none(params, observation, generators, states) -> int:  # type: ignore[no-untyped-def]  # compiled
    """The default of ``sample``, for a game that is not searched."""
    return 1


@dataclass(frozen=True)
class Kernels:
    """The compiled functions of one game.

    - ``deal(params, generator, state)``: begin a new game in ``state``.
    - ``apply(params, generator, state, action)``: take a legal action; may deal the next round of the same game.
    - ``write_mask(params, state, mask)``: write every element of ``mask`` (A,), for the seat to move.
    - ``write_observation(params, state, seat, out)``: write what ``seat`` sees, every element of ``out`` (O,).

    These have defaults:

    - ``write_state(params, state, seat, out)``: write everything, seats relative to ``seat``, into ``out`` (S,). None:
      use ``write_observation``, for a game that hides nothing.
    - ``public_action(params, state, action) -> int``: what the other seats see of ``action`` about to be taken in
      ``state``: the action itself, which is the default, or ``HIDDEN``.
    - ``sample(params, observation, generators, states) -> int``: fill each of ``states`` (M,), all zeros, with an
      independent uniform sample of those consistent with ``observation``, state i with ``generators[i]``; 0, or 1 if
      there is none. ``observation`` is within the bounds of the layout but otherwise arbitrary. The default returns
      1: the game cannot be searched.
    - ``check_state(params, state) -> bool``: whether an external state can safely be played to its end. Every field is
      within ``Game.state_bounds``; the kernel checks what bounds cannot express and the other kernels rely on, such as
      the number of cards in a hand. It need not check whether the position is reachable. The default accepts every
      state.
    - ``rewind(params, generator, state, observer, history, actions) -> (float, float)``: take ``state``, a world drawn
      by ``sample``, back to the beginning of its round. ``history`` (T, 2) is that of the seat ``observer``;
      ``actions`` (T,), ``UNUSED`` everywhere, receives all actions of the round, including those that the history
      hides, drawn by ``generator`` if the world does not determine them. Returns the importance weight and the
      acceptance probability that ``core.past.Past`` describes; a weight of -1 for a history that contradicts this
      world. ``core`` replays the actions and rejects those that do not lead to the world. None: the game hides
      nothing, and there is one world.
    - ``draw_round(params, generator, state, observer, known, history, first, actions) -> int``: deal an earlier round
      of several. ``state`` is at the beginning of that round; the rows of ``history`` (T, 2) from ``first`` on are its
      actions as the seat ``observer`` saw them. The kernel redeals it, with every seen card in the hand it was played
      from; it draws all other cards and the hidden actions by ``generator``, with all places of a card equally likely.
      With ``known`` the hand of the observer and the open cards stay as they are in ``state``. ``actions`` (T,)
      receives the actions from its row ``first`` on. Returns their number; -1 for rows that no round can begin with.
      ``core`` plays them, and redraws until they are legal and lead to the next round. None: the game has one round,
      or hides nothing.
    """

    deal: Callable[..., None]
    apply: Callable[..., None]
    write_mask: Callable[..., None]
    write_observation: Callable[..., None]
    write_state: Callable[..., None] | None = None
    public_action: Callable[..., int] = show_action
    sample: Callable[..., int] = sample_none
    check_state: Callable[..., bool] = accept_state
    rewind: Callable[..., tuple[float, float]] | None = None
    draw_round: Callable[..., int] | None = None

    def __post_init__(self) -> None:
        if self.write_state is None:
            object.__setattr__(self, "write_state", self.write_observation)
