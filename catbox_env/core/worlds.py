"""Worlds (determinizations): full states that agree with what a seat sees, and how their round can have led to them.

A round's cards are open to everybody when it ends, so worlds and their pasts are about the round under way alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from catbox_env.core.bits import clear, relative_seat
from catbox_env.core.checks import as_array, check_integer, check_integers, is_array, is_integer, short_repr
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import HIDDEN, UNUSED, Kernels, copy_records, history_rows, new_records
from catbox_env.core.loops import make_loops
from catbox_env.core.rng import (
    GENERATOR,
    WORLDS,
    child_seeds,
    new_generators,
    seed_for,
    seed_sequence,
    split_generators,
)
from catbox_env.core.spec import GameSpec, check_same_game
from catbox_env.core.state import GameState
from catbox_env.core.vec import UNDEALT, Vec

#: Worlds to try after which a history counts as impossible, and the most to sample at a time.
MAX_SAMPLED, MAX_AT_ONCE = 1_000_000, 4096


class Past(NamedTuple):
    """How worlds (N,) came about since the beginning of their round.

    - ``round_starts``: a `Vec` of the same worlds at the beginning of the round; ``auto_deal`` is off.
    - ``actions`` (N, T) int64: the actions since then, in order, including hidden ones; -2 after the last.
    - ``importance_weights`` (N,) float64: proportional to P / Q, where Q is the probability with which the world and
      the hidden actions were sampled, and P that of the deal that they imply; 0 if these actions do not lead to the
      world, because the history excludes it. Multiplied by the probabilities of all ``actions`` they are posterior
      weights, by Bayes' rule.
    - ``acceptance`` (N,) float64, probabilities: proportional to the number of pasts that lead to the world, with all
      cards distinct; 0 where the weight is 0. Worlds accepted with these probabilities have uniform pasts.
    """

    round_starts: Vec
    actions: np.ndarray
    importance_weights: np.ndarray
    acceptance: np.ndarray


# These three are methods of `core.game.Game`.


def sample_state(
    game: GameSpec, observation: np.ndarray, seed: Any = None, history: np.ndarray | None = None
) -> GameState:
    """A full state sampled uniformly from all those consistent with one observation, a determinization.

    Args:
        observation: int8 (O,), what one seat sees before the end of the game.
        seed: as in ``new_initial_state``; it also seeds the deals of later rounds. The same seed given for a deal
            and here gives independent numbers.
        history: int8 (T, 2), what that seat has seen of all actions: its ``history_observation``.

    Without ``history`` the state's ``history()`` begins empty. With it the round under way is sampled with the
    state, uniformly from all that agree with observation and history, with cards of equal rank distinct; so what
    only the order of play in this round reveals counts. ``history()`` then holds all actions since the beginning of
    this round, including hidden ones of other seats. Earlier rounds are over, and everybody has seen their cards.
    In a game of perfect information ``history()`` holds the actions of ``history``; whether these lead to the
    position is not checked, because the position determines all that follows.

    Raises ``ValueError`` for a vector that no seat of this game can see or that was made after the end, and for a
    history that contradicts it, which may take a million samples to detect.
    """
    given = _checked_observations(game, observation, 1)
    root = seed_for(WORLDS, seed)
    if history is not None and not game.is_perfect_information:
        return sample_with_history(game, given, _checked_histories(game, history)[0], root)
    generators = new_generators([root])
    records = _draw_worlds(game, given, np.ones(1, np.int64), generators)
    log = empty_log(game)
    if history is not None:
        _log_public_history(game, records, log, given[0], _checked_histories(game, history)[0])
    return GameState(game, records, generators, log)


def sample_states(
    game: GameSpec, observation: np.ndarray, count: Any, seed: Any = None, num_threads: int = 1
) -> Vec:
    """``count`` full states ("worlds"), each sampled as by ``sample_state``, as a batch.

    Args:
        observation: int8 (O,), or (M, O): several observations.
        count: how many for each observation, at least 1; or (M,) int64, as many for each. Those of one observation
            are consecutive in the batch.
        seed: as in ``sample_state``. Of several observations, observation i gets the states that it would get
            alone with the seed ``SeedSequence(seed).spawn(M)[i]``. Or an array (M,) of generators, as
            `core.rng.new_generators` makes them: one for each observation, advanced in place.
        num_threads: threads of the returned batch.

    The batch has ``auto_deal`` off and keeps no history: each of its games begins here. Errors as in
    ``sample_state``; they name the row.
    """
    several = getattr(observation, "ndim", 1) == 2
    given = _checked_observations(game, observation, 2 if several else 1)
    counts = np.full(len(given), check_integer("count", count, 1, 2**31)) if is_integer(count) else count
    if not is_array(counts, (len(given),), np.dtype(np.int64)) or (counts < 1).any():
        raise ValueError(f"count={short_repr(count)}: expected 1 or more, or int64 of shape ({len(given)},)")
    if not isinstance(seed, np.ndarray):
        root = seed_sequence(seed)
        roots = child_seeds(root, len(given)) if several else [root]
        seed = new_generators([seed_for(WORLDS, one) for one in roots])
    elif not is_array(seed, (len(given),), GENERATOR):
        raise ValueError(f"seed={short_repr(seed)}: expected a seed, or generators of shape ({len(given)},)")
    vec = Vec(game, sum(counts.tolist()), UNDEALT, num_threads, auto_deal=False)
    generators = split_generators(seed, counts)
    vec._fill(_draw_worlds(game, given, counts, generators), generators)
    return vec


def rewind(game: GameSpec, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
    """Take worlds back to the beginning of their round, with a past that agrees with what a seat has seen.

    Args:
        worlds: N worlds, sampled by ``sample_states`` from what their seats to move see.
        histories: int8 (T, 2), or (M, T, 2): the histories of these seats, as ``vec.history`` has them.
        history_of: (N,) which of the M histories each world has; None: one for all, or the i-th for world i.

    Returns the worlds at the beginning, the actions since then, and a weight for each: see `Past`. Raises
    ``ValueError`` for a game of perfect information, for arrays of the wrong shape, and for histories that do not
    belong to these worlds at this moment.
    """
    _require_rewind(game)
    if not isinstance(worlds, Vec):
        raise ValueError(f"worlds={short_repr(worlds)}: expected a batch of games, as sample_states returns")
    check_same_game("worlds", worlds.game, game)
    seats = worlds.current_player.astype(np.int64)
    if (seats < 0).any():
        raise ValueError(f"worlds: game {int((seats < 0).argmax())} is over; it has no next seat")
    given, count = _checked_histories(game, histories), worlds.num_envs
    if history_of is not None:
        which = np.ascontiguousarray(
            check_integers("history_of", history_of, (count,), 0, len(given) - 1), np.int64
        )
    elif len(given) in (1, count):
        which = np.arange(count) if len(given) == count else np.zeros(count, np.int64)
    else:
        raise ValueError(
            f"histories: {len(given)} for {count} worlds; give one for all, one for each, or history_of"
        )
    records, actions, weights, acceptance = _rewind_records(
        game, worlds._records, worlds._generators, seats, given, which
    )
    round_starts = Vec(game, count, UNDEALT, worlds.num_threads, auto_deal=False)
    round_starts._fill(records, worlds._generators)
    return Past(round_starts, actions, weights, acceptance)


def empty_log(game: GameSpec) -> np.ndarray:
    """The log (T, 3) of a game without an action."""
    return np.zeros((game.max_game_length, 3), np.int8)


# Sampling and rewinding records.


def _draw_worlds(
    game: GameSpec, observations: np.ndarray, counts: np.ndarray, generators: np.ndarray
) -> np.ndarray:
    """``counts[i]`` consecutive worlds of each of ``observations`` (M, O), one by each of ``generators``: (N,).

    Raises ``ValueError`` for a vector that no seat can see.
    """
    layout, records = game.observation_layout, new_records(game.kernels.state, len(generators))
    seen, bounds = np.empty(layout.size, np.int8), (layout.low, layout.high)
    wrong = make_samplers(game.kernels).sample_worlds(
        game.params, observations, *bounds, counts, generators, records, seen
    )
    if wrong >= 0:
        which = f"observation {wrong}" if len(observations) > 1 else "observation"
        raise ValueError(
            f"{which}: no state of this game agrees with it; expected what a seat sees before the end, "
            "as given by state.observation(player)"
        )
    return records


def _rewind_records(
    game: GameSpec,
    worlds: np.ndarray,
    generators: np.ndarray,
    seats: np.ndarray,
    histories: np.ndarray,
    history_of: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Copies of the records ``worlds`` (N,) at the beginning of their round, and the other fields of a `Past`.

    World i was sampled for the seat ``seats[i]``, which has the history ``histories[history_of[i]]``. Hidden actions
    are drawn by children of ``generators`` (N,). Raises ``ValueError`` for a history of another world.
    """
    count, rewind_worlds = len(worlds), make_samplers(game.kernels).rewind_worlds
    assert rewind_worlds is not None
    records, actions = copy_records(worlds), np.empty((count, game.max_game_length), np.int64)
    weights, acceptance = np.empty(count), np.empty(count)
    drawn_by = split_generators(copy_records(generators), np.ones(count, np.int64))
    again, mask = new_records(game.kernels.state), np.empty(game.num_actions, np.bool_)
    seen = np.empty((2, game.observation_layout.size), np.int8)
    filled = (actions, weights, acceptance)
    misfit = rewind_worlds(
        game.params, drawn_by, records, seats, histories, history_of, *filled, again, seen, mask
    )
    if misfit >= 0:
        raise ValueError(
            f"histories: row {history_of[misfit]} is not a history of world {misfit}; give that of the seat that "
            "the world was sampled for, at that moment"
        )
    longest = int((actions != UNUSED).sum(axis=1).max(initial=0))
    return records, np.ascontiguousarray(actions[:, :longest]), weights, acceptance


def sample_with_history(
    game: GameSpec,
    observation: np.ndarray,
    history: np.ndarray,
    root: np.random.SeedSequence,
    seat: int | None = None,
) -> GameState:
    """`sample_state` of checked arrays (1, O) and (T, 2): worlds are accepted as `Past` says. ``seat``: the observer's,
    if the observation leaves it open."""
    _require_rewind(game)
    generators, rng = new_generators([root]), np.random.default_rng(root)
    tried, at_once = 0, 1
    while tried < MAX_SAMPLED:
        drawn_by = split_generators(generators, np.array([at_once]))
        records = _draw_worlds(game, observation, np.array([at_once]), drawn_by)
        observers, first = _observers(game, records, observation[0]), np.zeros(at_once, np.int64)
        records, actions, _, acceptance = _rewind_records(
            game, records, drawn_by, observers, history[None], first
        )
        accept = rng.random(at_once) < acceptance
        accepted = np.flatnonzero(accept if seat is None else accept & (observers == seat))
        if len(accepted):
            i = int(accepted[0])
            start = copy_records(records[i : i + 1])
            state = GameState(game, start, generators, empty_log(game), [copy_records(start)])
            for action in actions[i][actions[i] != UNUSED].tolist():
                state.apply_action(action)
            return state
        tried += at_once
        at_once = min(4 * at_once, MAX_AT_ONCE)
    raise ValueError(
        f"history: none of {tried:,} samples of this round agree with it; give the observation and the history of "
        "the same seat at the same moment"
    )


def _observers(game: GameSpec, records: np.ndarray, observation: np.ndarray) -> np.ndarray:
    """The seat (N,) of each of ``records`` that sees ``observation`` (O,), the lowest if there are several."""
    rows, out = np.arange(len(records)), np.empty((len(records), len(observation)), np.int8)
    found = np.zeros(len(records), np.int64)
    for seat in reversed(range(game.num_players)):
        game.loops.write_observations(game.params, records, rows, np.full(len(rows), seat), out)
        found[(out == observation).all(axis=1)] = seat
    return found


def _log_public_history(
    game: GameSpec, records: np.ndarray, log: np.ndarray, observation: np.ndarray, history: np.ndarray
) -> None:
    """Log the actions of ``history`` (T, 2) in a state sampled from ``observation`` (O,); all actions are public."""
    used = history[: history_rows(history)].astype(np.int64)
    if (used < 0).any() or (history[len(used) :] != UNUSED).any():
        raise ValueError(
            "history: everybody sees every action of this game; expected rows of a seat and an action, then rows of -2"
        )
    log[: len(used), 0] = (used[:, 0] + _observers(game, records, observation)) % game.num_players
    log[: len(used), 1] = log[: len(used), 2] = used[:, 1]
    records["num_moves"] = len(used)


# Checks.


def _checked_observations(game: GameSpec, given: Any, ndim: int) -> np.ndarray:
    """``given``, int8 (O,) or with ``ndim`` 2 (M, O), as a writable (M, O) copy. Raises ``ValueError`` for anything
    else."""
    size = game.observation_layout.size
    is_int8 = isinstance(given, np.ndarray) and given.dtype == np.int8 and given.ndim == ndim
    if not is_int8 or given.shape[-1] != size or len(given) < 1:
        is_found = isinstance(given, np.ndarray)
        found = f"{given.dtype} of shape {given.shape}" if is_found else type(given).__name__
        expected = f"({size},)" if ndim == 1 else f"(M, {size}), M at least 1"
        raise ValueError(
            f"observation: {found}; expected an int8 array of shape {expected}, as given by "
            "state.observation(player)"
        )
    # A copy, because a read-only array has another type, for which the code would be compiled again.
    return np.array(given, order="C").reshape(-1, size)


def _checked_histories(game: GameSpec, given: Any) -> np.ndarray:
    """``given``, int8 (T, 2) or (M, T, 2), as a writable (M, T, 2) copy. Raises ``ValueError`` for other things."""
    shape, given = (game.max_game_length, 2), as_array("histories", given)
    if given.ndim == 2:
        given = given[None]
    if given.shape[1:] != shape or given.dtype != np.int8 or not len(given):
        raise ValueError(
            f"histories: {given.dtype} of shape {given.shape}; expected int8 of shape {shape} or "
            f"(M, {shape[0]}, 2)"
        )
    inside = ((given >= UNUSED) & (given < (game.num_players, game.num_actions))).all(axis=(1, 2))
    inside &= (given[..., 0] != HIDDEN).all(axis=1)  # only an action can be hidden
    if not inside.all():
        raise ValueError(
            f"histories: row {int(inside.argmin())} holds seats or actions that the game does not have"
        )
    return np.array(given, order="C")  # a copy, as above


def _require_rewind(game: GameSpec) -> None:
    if game.kernels.rewind is None:
        why = "hides nothing, so there is nothing to rewind"
        if not game.is_perfect_information:
            why = "has no kernel `rewind`, so worlds cannot be sampled by histories"
        raise ValueError(f"{game.id} {why}")


# Compiled.


class Samplers(NamedTuple):
    """The compiled functions that sample worlds of one game.

    - ``sample_worlds(params, observations, low, high, counts, generators, states, seen) -> int``: fill ``states`` (N,),
      all zeros, with ``counts[i]`` consecutive worlds of ``observations[i]``, one by each of ``generators`` (N,).
      ``low`` and ``high`` (O,) are the bounds of the layout; ``seen`` (O,) is scratch. Returns -1, or the index of the
      first observation that no seat of this game can see.
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
    def sample_worlds(params, observations, low, high, counts, generators, states, seen):
        end = 0
        for i in range(len(observations)):
            first, end = end, end + counts[i]
            drawn = states[first:end]
            for k in range(len(low)):
                if not low[k] <= observations[i, k] <= high[k]:
                    return i
            if sample(params[0], observations[i], generators[first:end], drawn):
                return i
            # A vector that no seat can see differs from every seat's observation of the state sampled for it.
            same = False
            for seat in range(params[0].num_players):
                clear(seen)
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
            clear(seen[0])
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
                clear(seen[1])
                write_observation(params[0], again[0], seat, seen[1])
                if again[0].current_player == mover and (seen[0] == seen[1]).all():
                    continue
            weights[i], acceptance[i] = 0.0, 0.0
        return -1

    return Samplers(sample_worlds, rewind_worlds)
