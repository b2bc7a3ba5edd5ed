"""The past of drawn worlds: how a round can have come to them.

A world is drawn from what a seat sees now (`Game.sample_states`). With the history of that seat it is taken back to the
beginning of its round, and the actions that the seat could not see, such as a discard, get a value that agrees with the
world. A search replays them to ask how likely other seats would have acted so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from catbox_env.core.checks import as_array, shown
from catbox_env.core.kernels import UNUSED
from catbox_env.core.rng import split_generators
from catbox_env.core.saved import check_same_game

if TYPE_CHECKING:
    from catbox_env.core.batch import Vec
    from catbox_env.core.game import Game


class Past(NamedTuple):
    """How worlds (N,) came about, since the beginning of their round.

    - ``beginnings``: a `Vec` of the same worlds at the beginning of the round; ``auto_deal`` is off.
    - ``actions`` (N, T) int64: what was then done, by whoever was to move: the hidden actions too; -2 after the last.
    - ``weights`` (N,) float64: 0 where these actions do not lead to the world, because the history excludes it. Else in
      proportion to P / D: D is the chance with which the world and the hidden actions were drawn, P the chance of the
      deal that they imply. So worlds weigh as they must, by Bayes' rule, when each weight is multiplied by the chances
      of all ``actions``.
    """

    beginnings: Vec
    actions: np.ndarray
    weights: np.ndarray


def rewind(game: Game, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
    """See `Game.rewind`."""
    from catbox_env.core.batch import Vec  # a batch holds its game, and a game makes batches

    if game.kernels.rewind is None:
        raise ValueError(
            f"{game.id} hides nothing, so no world has to be taken back: its history is the past of the one world"
        )
    if not isinstance(worlds, Vec):
        raise ValueError(f"worlds={shown(worlds)}: expected a batch of games, as sample_states returns")
    check_same_game("worlds", worlds.game, game)
    if (worlds.current_player < 0).any():
        raise ValueError(
            f"worlds: game {int((worlds.current_player < 0).argmax())} is over; it has no next seat"
        )
    given = _checked_histories(game, histories)
    of = _checked_places(history_of, len(given), worlds.num_envs)
    records, generators, _ = worlds._copied(0)
    actions = np.empty((worlds.num_envs, game.history_length), np.int64)
    weights = np.empty(worlds.num_envs)
    drawn_by = split_generators(generators.copy(), np.ones(worlds.num_envs, np.int64))
    again = np.zeros(1, game.state_dtype)
    vectors = np.empty((2, game.state_layout.size), np.int8)
    misfit = game.loops.rewind_games(
        game.params, drawn_by, records, given, of, actions, weights, again, vectors
    )
    if misfit >= 0:
        raise ValueError(
            f"histories: row {of[misfit]} is no history of world {misfit}; give that of the seat that the world was "
            f"drawn for, at that moment"
        )
    beginnings = Vec._undealt(game, worlds.num_envs, worlds.num_threads, auto_deal=False)
    beginnings._fill(records, generators)
    longest = int((actions != UNUSED).sum(axis=1).max(initial=0))
    return Past(beginnings, np.ascontiguousarray(actions[:, :longest]), weights)


def _checked_histories(game: Game, histories: np.ndarray) -> np.ndarray:
    given = as_array("histories", histories)
    shape = (game.history_length, 2)
    if given.ndim == 2:
        given = given[None]
    if given.shape[1:] != shape or given.dtype != np.int8 or not len(given):
        raise ValueError(
            f"histories: {given.dtype} of shape {given.shape}; expected int8 of shape {shape} or (M, {shape[0]}, 2)"
        )
    seats, actions = given[..., 0], given[..., 1]
    inside = (
        (seats >= UNUSED) & (seats < game.num_players) & (actions >= UNUSED) & (actions < game.num_actions)
    )
    if not inside.all():
        raise ValueError(
            f"histories: row {int((~inside).any(axis=1).argmax())} holds seats or actions that the game does not have"
        )
    return np.array(given, order="C")  # a copy: a read-only array would have the code compiled again


def _checked_places(history_of: np.ndarray | None, num_histories: int, num_worlds: int) -> np.ndarray:
    if history_of is None:
        if num_histories not in (1, num_worlds):
            raise ValueError(
                f"histories: {num_histories} for {num_worlds} worlds; give one for all, one for each, or history_of"
            )
        return np.arange(num_worlds) if num_histories == num_worlds else np.zeros(num_worlds, np.int64)
    of = as_array("history_of", history_of)
    if of.shape != (num_worlds,) or of.dtype.kind not in "iu" or not ((of >= 0) & (of < num_histories)).all():
        raise ValueError(
            f"history_of={shown(history_of)}: expected integers from 0 to {num_histories - 1}, of shape ({num_worlds},)"
        )
    return np.ascontiguousarray(of, np.int64)
