"""What a game provides to ``core``: the record of a state, numbers of its rules, and a handful of kernels.

A kernel is a plain scalar function under ``@njit``. It allocates nothing (except scratch memory in ``sample``, once
per call), raises nothing and reads no globals except constants. The same kernels run in a single game, a batch of
games, and every adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from catbox_env.core.compilation import Record, cached_njit, njit
from catbox_env.core.layout import Layout

#: What a game's rewards are; ``params.reward_mode`` is an index into this tuple.
REWARDS = ("score", "margin", "win")

#: In a history: an action that the seat cannot see, and a row without an action yet.
HIDDEN, UNUSED = -1, -2


def record_dtype(fields: Sequence[tuple]) -> np.dtype:
    """An aligned structured dtype whose fields can be read as attributes, in Python and in compiled code.

    The same object for the same fields: Numba compares dtypes at every call, which takes microseconds for two objects.
    Raises ``ValueError`` for a field with the name of an attribute of NumPy's records: compiled code would read the
    field, plain Python the attribute.
    """
    return _record_dtype(tuple(fields))


@cache
def _record_dtype(fields: tuple[tuple, ...]) -> np.dtype:
    for name, *_ in fields:
        if hasattr(np.record, name):
            raise ValueError(
                f"field {name!r}: NumPy's records have an attribute of that name; choose another"
            )
    return np.dtype((Record, np.dtype(list(fields), align=True)))


def new_records(dtype: np.dtype, count: int = 1) -> np.ndarray:
    """An array (count,) of records that are all zeros; ``np.zeros`` takes microseconds longer for such a dtype."""
    return np.ndarray(count, dtype, bytearray(count * dtype.itemsize))


def copy_records(records: np.ndarray) -> np.ndarray:
    """A byte-exact copy of contiguous records (N,): NumPy leaves the padding between fields undefined."""
    return np.ndarray(len(records), records.dtype, bytearray(records.tobytes()))


def as_records(record: np.record, dtype: np.dtype) -> np.ndarray:
    """A copy of ``record`` as an array (1,) of ``dtype``, its own."""
    records = new_records(dtype)
    records[0] = record
    return records


def core_state_fields(max_players: int, num_info: int) -> list[tuple]:
    """The fields that ``core`` reads in every game's state record.

    - ``current_player``: the seat to move, -1 when the game is over.
    - ``terminated``: 1 when the game is over.
    - ``round_ended``: 1 when the last step ended a round.
    - ``rewards`` (max_players): of the last step; the game writes points, ``core`` turns them into rewards.
    - ``win_shares`` (max_players): set by the game when it is over; they sum to 1.
    - ``info`` (num_info, max_players): statistics of the last finished round, in the order of ``Kernels.info_names``.

    When a game begins, ``core`` clears all but ``current_player`` and ``info``; before every step it clears
    ``round_ended`` and ``rewards``. It maintains the following itself:

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


def part_offsets(layout: Layout, **others: Layout) -> np.ndarray:
    """Where each part of ``layout`` begins: a read-only array (1,) of a record with a field for each of its names.

    The fields of another layout begin with its name and ``_``. -1 for a part that these rules lack, so that the dtype
    is the same under all rules of a game.
    """
    places = {name: layout[name].offset if name in layout else -1 for name in layout.names}
    for prefix, other in others.items():
        places |= {f"{prefix}_{name}": other[name].offset if name in other else -1 for name in other.names}
    offsets = np.array([tuple(places.values())], record_dtype([(name, np.int64) for name in places]))
    offsets.setflags(write=False)
    return offsets


def make_params(rules: Any, **others: Any) -> np.ndarray:
    """What compiled code knows of the rules: a read-only array (1,) of a record.

    Args:
        rules: a frozen dataclass. Its fields that are annotated as int or bool become int64 fields of the same name,
            but not one that NumPy's records have as an attribute, such as ``size``.
        others: further fields, or other values: numbers, arrays of a length that is the same under all rules, and
            arrays (1,) of a record, such as `part_offsets`. All become int64 except uint64 and records.
    """
    # Annotations are compared as they are written: those of other fields may name what only type checkers import.
    names = [field.name for field in fields(rules) if field.type in (int, bool, "int", "bool")]
    values = {name: getattr(rules, name) for name in names if not hasattr(np.record, name)} | others
    arrays = {name: np.asarray(value) for name, value in values.items()}
    columns: list[tuple] = []
    for name, array in arrays.items():
        if array.dtype.names:
            columns.append((name, array.dtype))
        else:
            columns.append((name, np.uint64 if array.dtype == np.uint64 else np.int64, array.shape))
    params = new_records(record_dtype(columns))
    for name, array in arrays.items():
        params[name] = array
    params.setflags(write=False)
    return params


@cached_njit
def history_rows(history) -> int:  # type: ignore[no-untyped-def]  # compiled: (T, 2) int8
    """The number of used rows of a history."""
    used = 0
    while used < len(history) and history[used, 0] != UNUSED:
        used += 1
    return used


@njit
def action_is_public(params, state, action) -> int:  # type: ignore[no-untyped-def]  # compiled: records
    """The default of ``public_action``, for a game in which all actions are public."""
    return action


@njit
def no_next_round(params, generator, state) -> None:  # type: ignore[no-untyped-def]  # compiled: records
    """The default of ``next_round``, for a game of one round."""


@njit
def no_sample(params, observation, generators, states) -> int:  # type: ignore[no-untyped-def]  # compiled
    """The default of ``sample``, for a game that is not searched."""
    return 1


@dataclass(frozen=True)
class Kernels:
    """What a game provides: the record of a state, the statistics of a round, and compiled functions over the record.

    - ``state``: the dtype of a state, made by `record_dtype`; it begins with `core_state_fields`.
    - ``info_names``: the names of the statistics that every seat gets when a round ends, the rows of ``state.info``.
    - ``deal(params, generator, state)``: begin a new game in ``state``.
    - ``apply(params, generator, state, action)``: take a legal action. If it ends a round, the state stays at the end
      of that round, with nobody to move.
    - ``write_mask(params, state, mask)``: write every element of ``mask`` (A,), for the seat to move.
    - ``write_observation(params, state, seat, out)``: write what ``seat`` sees into ``out`` (O,), which
      holds zeros.

    These have defaults:

    - ``next_round(params, generator, state)``: deal the next round, after one that has ended but not the game. The
      default does nothing, for a game of one round.
    - ``write_state(params, state, seat, out)``: write everything, seats relative to ``seat``, into ``out`` (S,), which
      holds zeros. None: use ``write_observation``, for a game of perfect information.
    - ``public_action(params, state, action) -> int``: what the other seats see of ``action`` about to be taken in
      ``state``: the action itself, which is the default, or ``HIDDEN``.
    - ``sample(params, observation, generators, states) -> int``: fill each of ``states`` (M,), all zeros, with an
      independent uniform sample of those consistent with ``observation``, state i with ``generators[i]``; 0, or 1 if
      there is none. ``observation`` is within the bounds of the layout but otherwise arbitrary; the states have to be
      safe to play, because compiled code does not check indices. ``core`` refuses the observation too if no seat of the
      first state sees exactly this. The default returns 1: the game cannot be searched.
    - ``rewind(params, generator, state, observer, history, actions) -> (float, float)``: take ``state``, a world drawn
      by ``sample``, back to the beginning of its round. ``history`` (T, 2) is that of the seat ``observer``;
      ``actions`` (T,), ``UNUSED`` everywhere, receives all actions of the round, including those that the history
      hides, drawn by ``generator`` if the world does not determine them. Returns the importance weight and the
      acceptance probability that `core.worlds.Past` describes; a weight of -1 for a history that contradicts this
      world. ``core`` replays the actions and rejects those that do not lead to the world. None: the history of a
      hidden-information game cannot be used, or nothing is hidden.
    """

    state: np.dtype
    info_names: tuple[str, ...]
    deal: Callable[..., None]
    apply: Callable[..., None]
    write_mask: Callable[..., None]
    write_observation: Callable[..., None]
    write_state: Callable[..., None] = None  # type: ignore[assignment]  # `write_observation`, in __post_init__
    next_round: Callable[..., None] = no_next_round
    public_action: Callable[..., int] = action_is_public
    sample: Callable[..., int] = no_sample
    rewind: Callable[..., tuple[float, float]] | None = None

    def __post_init__(self) -> None:
        if self.write_state is None:
            object.__setattr__(self, "write_state", self.write_observation)
