"""The worlds of a search: sampled from observations, each row by its own generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed
from catbox_env import Game, Vec
from catbox_env.core.rng import SEARCHES, new_generators, seed_for, split_generators
from catbox_env.core.state import illegal_reason


def sample_worlds(
    game: Game,
    seen: NDArray[np.int8],
    left: NDArray[np.bool_],
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
    generators: NDArray[Any],
    num_threads: int,
) -> Vec:
    """``counts`` (m,) worlds for each of the observations ``seen[rows]``, by their ``generators`` (m,).

    Raises ``ValueError`` for an observation that is not of the seat to move, and if ``left[rows]`` allows an illegal
    action.
    """
    try:
        worlds = game.sample_states(seen[rows], counts, generators, num_threads)
    except ValueError:
        for row in rows.tolist():  # find the row
            try:
                game.sample_state(seen[row], 0)
            except ValueError as error:
                raise ValueError(f"row {row}: {error}") from None
        raise
    first = np.cumsum(counts) - counts
    differs = (worlds.observation[first] != seen[rows]).any(axis=1)
    illegal = (left[rows] & ~worlds.action_mask[first]).any(axis=1)
    if differs.any():
        raise ValueError(
            f"row {rows[differs.argmax()]}: the observation is not of the seat to move; only that seat can be "
            f"searched for"
        )
    if illegal.any():
        row = rows[illegal.argmax()]
        world = int(first[illegal.argmax()])
        action = int((left[row] & ~worlds.action_mask[world]).argmax())
        why = illegal_reason(worlds.get_state(world), action)
        raise ValueError(f"row {row}: the mask allows the illegal action {action} ({why})")
    return worlds


def distinct(*columns: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of equal rows of ``columns`` (n, ...), taken together, in order: (d,), and which of them each row is,
    (n,)."""
    parts = [np.ascontiguousarray(column).reshape(len(column), -1).view(np.uint8) for column in columns]
    rows = np.concatenate(parts, axis=1)
    numbers: dict[bytes, int] = {}
    keys = rows.view(f"V{rows.shape[1]}").ravel().tolist()
    group = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    return np.unique(group, return_index=True)[1].astype(np.int64), group


def numbers_within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For ``counts`` (m,) worlds of each observation, one after the other: each one's number in its observation."""
    return np.arange(counts.sum()) - repeated(np.cumsum(counts) - counts, counts)


def repeated(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """``values`` (m,), each repeated ``counts`` (m,) int64 times.

    On 32-bit platforms, such as browsers, ``np.repeat`` refuses such counts.
    """
    return np.repeat(values, counts.astype(np.intp))


def row_generators(seed: Seed | Sequence[Seed], rows: int) -> NDArray[Any]:
    """A generator for each observation."""
    if isinstance(seed, list):
        if len(seed) != rows:
            raise ValueError(f"seed: a list of {len(seed)}; expected one for each of {rows} observations")
        return new_generators([seed_for(SEARCHES, one) for one in seed])
    return split_generators(new_generators([seed_for(SEARCHES, seed)]), np.array([rows]))  # type: ignore[arg-type]  # one seed


def check_histories(game: Game, histories: Any, rows: int) -> NDArray[np.int8]:
    """``histories`` as an array (``rows``, T, 2) int8. Raises ``ValueError`` for anything else, None included."""
    shape = (rows, game.max_game_length, 2)
    given = None if histories is None else np.asarray(histories)
    if given is None or given.shape != shape or given.dtype != np.int8:
        what = "None" if given is None else f"{given.dtype} of shape {given.shape}"
        raise ValueError(
            f"histories: {what}; expected int8 of shape {shape}, as make_vec(..., history=True) keeps them: a search "
            f"that weights its worlds (beta above 0) needs to know what the other seats did"
        )
    return given
