"""Worlds (determinizations): full states that agree with what a seat sees, and how their round can have led to them.

Everything here works on arrays; `core.game.Game` has the methods for users. A round's cards are open to everybody when
it ends, so worlds and their pasts are about the round under way alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from catbox_env.core.bits import relative_seat
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import UNUSED, Kernels, copy_records, history_rows
from catbox_env.core.layout import Layout
from catbox_env.core.loops import make_loops
from catbox_env.core.rng import split_generators

#: Worlds to try after which a history counts as impossible, and the most to sample at a time.
MAX_SAMPLED, MAX_AT_ONCE = 1_000_000, 4096


class Samplers(NamedTuple):
    """The compiled functions that sample worlds of one game.

    - ``sample_worlds(params, observations, counts, generators, states, seen) -> int``: fill ``states`` (N,), all zeros,
      with ``counts[i]`` consecutive worlds of ``observations[i]``, one by each of ``generators`` (N,). ``seen`` (O,) is
      scratch. Returns -1, or the index of the first observation that no seat of this game can see.
    - ``rewind_worlds(params, generators, states, seats, histories, history_of, actions, weights, acceptance, again,
      seen, mask) -> int``: take worlds ``states`` (N,) back to the beginning of their round; world i has the history
      ``histories[history_of[i]]`` of the seat ``seats[i]``. ``actions`` (N, T), ``weights`` and ``acceptance`` (N,) are
      filled; ``again`` (1,), a record of a state, ``seen`` (2, O) and ``mask`` (A,) are scratch. Returns -1, or the
      index of the first world that contradicts its history. None for a game without the kernel ``rewind``.
    """

    sample_worlds: Callable[..., int]
    rewind_worlds: Callable[..., int] | None


@cache
def make_samplers(kernels: Kernels) -> Samplers:
    """The samplers of the games with these kernels, compiled when they are first called."""
    write_mask, write_observation, public_action = (
        kernels.write_mask,
        kernels.write_observation,
        kernels.public_action,
    )
    sample, rewind = kernels.sample, kernels.rewind
    step_game = make_loops(kernels).step_game

    @cached_njit(nogil=True)
    def sample_worlds(params, observations, counts, generators, states, seen):
        end = 0
        for i in range(len(observations)):
            first, end = end, end + counts[i]
            drawn = states[first:end]
            if sample(params[0], observations[i], generators[first:end], drawn):
                return i
            # A vector that no seat can see differs from every seat's observation of the state sampled for it.
            same = False
            for seat in range(params[0].num_players):
                write_observation(params[0], drawn[0], seat, seen)
                same = same or (seen == observations[i]).all()
            if not same:
                return i
        return -1

    if rewind is None:
        return Samplers(sample_worlds, None)

    @njit(inline="always")
    def replays(params, generator, state, observer, rows, actions, mask):
        """Play ``actions`` from ``state``, one for each of ``rows`` of a history (n, 2); whether that is possible, the
        seat ``observer`` sees them as its rows say, and the round goes on after them."""
        no_log = rows[:0]
        for i in range(len(rows)):
            action, mover = actions[i], int(state.current_player)
            if mover < 0 or relative_seat(mover, observer, params.num_players) != rows[i, 0]:
                return False
            write_mask(params, state, mask)
            if action < 0 or action >= len(mask) or not mask[action]:
                return False
            seen = action if mover == observer else public_action(params, state, action)
            if seen != rows[i, 1]:
                return False
            step_game(params, generator, state, no_log, action)
            if state.round_ended:
                return False
        return True

    @cached_njit(nogil=True)
    def rewind_worlds(
        params,
        generators,
        states,
        seats,
        histories,
        history_of,
        actions,
        weights,
        acceptance,
        again,
        seen,
        mask,
    ):
        for i in range(len(states)):
            state = states[i]
            seat, mover = seats[i], int(state.current_player)
            write_observation(params[0], state, seat, seen[0])
            for k in range(actions.shape[1]):
                actions[i, k] = UNUSED
            history = histories[history_of[i]]
            weights[i], acceptance[i] = rewind(params[0], generators[i], state, seat, history, actions[i])
            if weights[i] < 0.0:
                return i
            again[0] = state
            last, count = history_rows(history), 0
            while count < actions.shape[1] and actions[i, count] != UNUSED:
                count += 1
            rows = history[max(0, last - count) : last]
            if replays(params[0], generators[i], again[0], seat, rows, actions[i], mask):
                # Not the full state: what the others know of the observer's hand is not in its own observation.
                write_observation(params[0], again[0], seat, seen[1])
                if again[0].current_player == mover and (seen[0] == seen[1]).all():
                    continue
            weights[i], acceptance[i] = 0.0, 0.0
        return -1

    return Samplers(sample_worlds, rewind_worlds)


def checked_observations(layout: Layout, given: Any, ndim: int) -> np.ndarray:
    """``given``, (O,) or with ``ndim`` 2 (M, O), as a writable (M, O) copy. Raises ``ValueError`` for anything else."""
    is_array = isinstance(given, np.ndarray) and given.dtype == np.int8 and given.ndim == ndim
    if not is_array or given.shape[-1] != layout.size or len(given) < 1:
        found = (
            f"{given.dtype} of shape {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
        )
        expected = f"({layout.size},)" if ndim == 1 else f"(M, {layout.size}), M at least 1"
        raise ValueError(
            f"observation: {found}; expected an int8 array of shape {expected}, as given by state.observation(player)"
        )
    # A copy, because a read-only array has another type, for which the code would be compiled again.
    return np.array(given, order="C").reshape(-1, layout.size)


def sample_records(
    kernels: Kernels,
    params: np.ndarray,
    layout: Layout,
    observations: np.ndarray,
    counts: np.ndarray,
    generators: np.ndarray,
) -> np.ndarray:
    """``counts[i]`` consecutive worlds of each of ``observations`` (M, O), one by each of ``generators`` (N,): (N,).

    Raises ``ValueError`` for a vector that no seat of the game can see.
    """
    records = np.zeros(len(generators), kernels.state)
    bounded = ((observations >= layout.low) & (observations <= layout.high)).all(axis=1)
    if bounded.all():
        seen = np.empty(layout.size, np.int8)
        samplers = make_samplers(kernels)
        wrong = samplers.sample_worlds(params, observations, counts, generators, records, seen)
    else:
        wrong = int(bounded.argmin())
    if wrong >= 0:
        which = f"observation {wrong}" if len(observations) > 1 else "observation"
        raise ValueError(
            f"{which}: no state of this game agrees with it; expected what a seat sees before the end, "
            "as given by state.observation(player)"
        )
    return records


class RewoundRecords(NamedTuple):
    """Worlds at the beginning of their round; see `core.game.Past`."""

    records: np.ndarray
    actions: np.ndarray
    weights: np.ndarray
    acceptance: np.ndarray


def rewind_records(
    kernels: Kernels,
    params: np.ndarray,
    layout: Layout,
    records: np.ndarray,
    generators: np.ndarray,
    seats: np.ndarray,
    histories: np.ndarray,
    history_of: np.ndarray,
) -> RewoundRecords:
    """Take copies of the worlds ``records`` (N,) back to the beginning of their round.

    World i was sampled for the seat ``seats[i]``, which has the history ``histories[history_of[i]]``. Hidden actions
    are drawn by children of ``generators`` (N,). Raises ``ValueError`` for a history that is not one of its world.
    """
    samplers, count = make_samplers(kernels), len(records)
    assert samplers.rewind_worlds is not None
    records, generators = copy_records(records), generators.copy()
    actions = np.empty((count, histories.shape[1]), np.int64)
    weights, acceptance = np.empty(count), np.empty(count)
    drawn_by = split_generators(generators, np.ones(count, np.int64))
    misfit = samplers.rewind_worlds(
        params, drawn_by, records, seats, histories, history_of, actions, weights, acceptance,
        np.zeros(1, kernels.state), np.empty((2, layout.size), np.int8), np.empty(int(params[0].num_actions), np.bool_),
    )  # fmt: skip
    if misfit >= 0:
        raise ValueError(
            f"histories: row {history_of[misfit]} is not a history of world {misfit}; give that of the seat that the "
            "world was sampled for, at that moment"
        )
    longest = int((actions != UNUSED).sum(axis=1).max(initial=0))
    return RewoundRecords(records, np.ascontiguousarray(actions[:, :longest]), weights, acceptance)


class SampledRound(NamedTuple):
    """A round that can have led to an observation: its beginning (1,) and all actions since; the observer's seat."""

    beginning: np.ndarray
    actions: list[int]
    observer: int


def sample_round(
    kernels: Kernels,
    params: np.ndarray,
    layout: Layout,
    observation: np.ndarray,
    history: np.ndarray,
    generators: np.ndarray,
    rng: np.random.Generator,
    seat: int | None = None,
) -> SampledRound:
    """The round under way, sampled uniformly from those in which a seat has seen ``observation`` and ``history``.

    Args:
        observation: (1, O) int8; history: (T, 2) int8, checked.
        generators: (1,), advanced in place, samples the worlds; ``rng`` accepts them.
        seat: the observer's seat, where the observation leaves it open; None: any.

    Raises ``ValueError`` if no world of many agrees with the history.
    """
    tried, at_once = 0, 1
    while tried < MAX_SAMPLED:
        drawn_by = split_generators(generators, np.array([at_once]))
        records = sample_records(kernels, params, layout, observation, np.array([at_once]), drawn_by)
        observers = _observers_of(kernels, params, records, observation[0])
        past = rewind_records(
            kernels, params, layout, records, drawn_by, observers, history[None], np.zeros(at_once, np.int64)
        )
        keep = rng.random(at_once) < past.acceptance
        kept = np.flatnonzero(keep if seat is None else keep & (observers == seat))
        if len(kept):
            i = int(kept[0])
            actions = [int(action) for action in past.actions[i] if action != UNUSED]
            return SampledRound(copy_records(past.records[i : i + 1]), actions, int(observers[i]))
        tried += at_once
        at_once = min(4 * at_once, MAX_AT_ONCE)
    raise ValueError(
        f"history: none of {tried:,} samples of this round agree with it; give the observation and the history of the "
        "same seat at the same moment"
    )


def _observers_of(
    kernels: Kernels, params: np.ndarray, records: np.ndarray, observation: np.ndarray
) -> np.ndarray:
    """The seat (N,) of each world that sees ``observation`` (O,)."""
    rows = np.arange(len(records))
    out = np.empty((len(records), len(observation)), np.int8)
    found = np.zeros(len(records), np.int64)
    for seat in range(int(params[0].num_players) - 1, -1, -1):
        make_loops(kernels).write_observations(params, records, rows, np.full(len(rows), seat), out)
        found[(out == observation).all(axis=1)] = seat
    return found
