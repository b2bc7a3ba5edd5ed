"""Worlds (determinizations): full states sampled from what a seat sees, by the kernel ``sample`` of a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from catbox_env.core.batch import Vec
from catbox_env.core.checks import as_array, brief, is_array
from catbox_env.core.rng import GENERATOR, split_generators

if TYPE_CHECKING:  # a game makes worlds
    from catbox_env.core.game import Game


def sample_worlds(
    game: Game, observations: np.ndarray, counts: np.ndarray, generators: np.ndarray, num_threads: int
) -> Vec:
    """See `Game.sample_states_from`."""
    observations = checked_observations(game, observations, 2)
    shape = (len(observations),)
    if not is_array(counts, shape, np.dtype(np.int64)) or (counts < 1).any():
        raise ValueError(f"counts={brief(counts)}: expected int64 of 1 or more, of shape {shape}")
    if not is_array(generators, shape, GENERATOR):
        raise ValueError(f"generators={brief(generators)}: expected generators, of shape {shape}")
    total = sum(counts.tolist())  # in Python, where it cannot overflow
    try:
        vec = Vec._undealt(game, total, num_threads, auto_deal=False)
    except ValueError as error:
        raise ValueError(f"count: {total} games do not fit in memory; use fewer ({error})") from error
    children = split_generators(generators, counts)
    records = np.zeros(total, game.state_dtype)
    fill_with_worlds(game, observations, counts, children, records)
    vec._fill(records, children)
    return vec


def checked_observations(game: Game, given: Any, ndim: int) -> np.ndarray:
    """``given``, (O,) or with ``ndim`` 2 (M, O), as a writable (M, O) copy. Raises ``ValueError`` for anything else."""
    observations = as_array("observation", given)
    size = game.observation_layout.size
    shape = (size,) if ndim == 1 else (max(1, len(observations) if observations.ndim else 1), size)
    if observations.shape != shape or observations.dtype != np.int8:
        raise ValueError(
            f"observation: {observations.dtype} of shape {observations.shape}; expected int8 of shape "
            f"{f'({size},)' if ndim == 1 else f'(M, {size}), M at least 1'}, as given by state.observation(player)"
        )
    # A copy, because a read-only array has another type, for which the code would be compiled again.
    return observations.reshape(-1, size).copy()


def fill_with_worlds(
    game: Game, observations: np.ndarray, counts: np.ndarray, generators: np.ndarray, records: np.ndarray
) -> None:
    """Fill ``records`` (N,), all zeros, with ``counts[i]`` states of ``observations[i]``, sampled by ``generators``
    (N,)."""
    low, high = game.observation_layout.bounds()
    bounded = ((observations >= low) & (observations <= high)).all(axis=1)
    if bounded.all():
        wrong = game.loops.sample_batch(game.params, observations, counts, generators, records)
    else:
        wrong = int(bounded.argmin())
    if wrong >= 0:
        which = f"observation {wrong}" if len(observations) > 1 else "observation"
        raise ValueError(
            f"{which}: no state of this game agrees with it; expected what a seat sees before the end, "
            "as given by state.observation(player)"
        )
