"""Worlds (determinizations): full states that agree with what a seat sees, and how their round can have led to them.

`make_samplers` closes over the kernels of a game; `core.game.Game` has the methods for users. A round's cards are open
to everybody when it ends, so worlds and their pasts are about the round under way alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from catbox_env.core.bits import clear, relative_seat
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import UNUSED, Kernels, history_rows
from catbox_env.core.loops import make_loops


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
