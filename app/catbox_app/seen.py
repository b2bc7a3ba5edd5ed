"""A game as one seat has seen it: followed action by action, where what the others hold is unknown.

The position is a world that agrees with all that the seat has seen, so that its observation, action mask and history
are those of the true game. If the next action is impossible in that world, another world is sampled in which it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from catbox_env.core.checks import check_seat, is_integer, short_repr
from catbox_env.core.game import Game
from catbox_env.core.kernels import HIDDEN, copy_records
from catbox_env.core.rng import WORLDS, seed_for
from catbox_env.core.state import GameState, Source, illegal_reason
from catbox_env.core.worlds import MAX_AT_ONCE

#: Worlds that are sampled before an action counts as impossible.
MAX_WORLDS = 2**17
#: Worlds that are sampled to see what a seat may do.
TRIED_WORLDS = 256
#: Fields of a record that a sampled world lacks.
_KEPT = ("returns", "rounds_ended", "info", "num_moves")


class Step(NamedTuple):
    """The positions ``before`` and ``after`` an action in one world, and which ``action`` that was there."""

    before: GameState
    action: int
    after: GameState


def state_as_seen(
    game: Game, seat: int, deals: Sequence[Any], actions: Sequence[int], seed: Any = None
) -> GameState:
    """The position as ``seat`` knows it, in a game whose other cards are unknown, such as one on a real table.

    Args:
        game: the game.
        seat: whose view it is.
        deals: what it sees of the deal of each round that has begun, as in ``new_initial_state``, with None for the
            hand of each other seat. In Cat Te, all but the first have the ``dealer``, who won the round before.
        actions: the ids of all actions since the beginning; -1 for one that ``seat`` did not see, such as a
            discard.
        seed: of the worlds, as in ``new_initial_state``.

    The state is a world that agrees with what ``seat`` has seen. Its ``observation(seat)``, ``action_mask(seat)``
    and ``history_observation(seat)`` are those of the true game; the cards of the others are not.

    Raises ``ValueError``, naming the action, for a sequence that the rules forbid with any cards of the others, or
    that fits none of 131,000 sampled worlds, and for a round without a deal.
    """
    random = np.random.default_rng(seed_for(WORLDS, seed))
    if not len(deals):
        raise ValueError("deals=[]: expected what the seat sees of the deal of the first round")
    state, later = begin_as_seen(game, seat, deals[0], random), [*deals[1:]]
    for number, action in enumerate(actions):
        try:
            state = apply_as_seen(state, seat, action, random, later[0] if later else None).after
        except ValueError as error:
            raise ValueError(f"actions[{number}]: {error}") from None
        if state.round_ended and not state.is_terminal():
            if not later:
                raise ValueError(
                    f"deals: {len(deals)}; expected one more, for the round that begins after actions[{number}]"
                )
            later.pop(0)
    hidden = state._log[:, 0] != seat
    state._log[hidden, 1] = state._log[hidden, 2]
    return state


def begin_as_seen(game: Game, seat: int, deal: Any, random: np.random.Generator) -> GameState:
    """The beginning of a game; arguments and errors as in `state_as_seen`."""
    check_seat("seat", seat, game.num_players)
    state = game.new_initial_state(_seed(random), game._complete_deal(deal, random))
    if not game.is_perfect_information:
        state._source = Source.SEEN
    return state


def apply_as_seen(
    state: GameState, seat: int, action: int, random: np.random.Generator, next_deal: Any = None
) -> Step:
    """Take ``action`` in ``state``, which stays as it is, or in another world; arguments and errors as in
    `state_as_seen`.

    ``next_deal``: that of the next round, if the action ends one. Without it the next round is dealt at random.
    """
    game, mover = state.game, state.current_player
    if state.is_terminal():
        raise ValueError(f"action {short_repr(action)}: the game is over")
    if not is_integer(action) or not HIDDEN <= action < game.num_actions or (mover == seat and action < 0):
        raise ValueError(
            f"action {short_repr(action)} of player_{mover}: expected 0 to {game.num_actions - 1}, or {HIDDEN} for one "
            f"that player_{seat} did not see"
        )
    why = f"player_{seat} sees all that player_{mover} can do now"
    for world in _worlds(state, seat, action, random):
        if (taken := _fitting(world, action)) is None:
            if action != HIDDEN:
                reason = illegal_reason(world, action)
                why = f"player_{mover} cannot do this: {reason}"
            continue
        before = world.clone()
        world.apply_action(taken)
        if not world.round_ended or world.is_terminal() or next_deal is None:
            return Step(before, taken, world)
        try:
            game.set_deal(world, game._complete_deal(next_deal, random))
        except ValueError as error:
            why = str(error)
        else:
            return Step(before, taken, world)
    raise ValueError(why)


def possible_actions(state: GameState, seat: int, random: np.random.Generator) -> list[int]:
    """What the seat to move may do in some of `TRIED_WORLDS` worlds, ascending; `HIDDEN`: what ``seat`` would
    not see."""
    game, mover = state.game, state.current_player
    if mover == seat or game.is_perfect_information:
        return state.legal_actions()
    seen = state.observation(seat)
    worlds = game.sample_states(seen, TRIED_WORLDS, _seed(random))
    masks = worlds.action_mask & (worlds.observe(np.full(TRIED_WORLDS, seat)) == seen).all(axis=1)[:, None]
    actions = np.flatnonzero(masks.any(axis=0))
    return np.unique(worlds.public_actions(actions, masks[:, actions].argmax(axis=0))).tolist()


def _worlds(state: GameState, seat: int, action: int, random: np.random.Generator) -> Iterator[GameState]:
    """The world ``state``, and if the game hides anything others in which ``seat`` has seen the same.

    Where ``action`` is legal in none of a batch, one of the batch stands for all.
    """
    game, seen, tried, at_once = state.game, state.observation(seat), 0, 64
    yield state.clone()
    while tried < MAX_WORLDS and not game.is_perfect_information:
        worlds = game.sample_states(seen, at_once, _seed(random))
        fitting = (worlds.observe(np.full(at_once, seat)) == seen).all(axis=1)  # not what another seat sees
        able = fitting & (worlds.action_mask[:, action] if action != HIDDEN else tried == 0)
        rows = np.flatnonzero(able) if able.any() else np.flatnonzero(fitting)[:1]
        for row in rows.tolist():
            yield _continued(worlds.get_state(row), state)
        tried, at_once = tried + at_once, min(8 * at_once, MAX_AT_ONCE)


def _fitting(world: GameState, action: int) -> int | None:
    """``action``, if it is legal in ``world``; for `HIDDEN` the first legal action that the others do not see."""
    legal = np.array(world.legal_actions())
    if action == HIDDEN:
        game, public = world.game, np.empty(len(legal), np.int64)
        game.loops.public_actions(game.params, world._records, np.zeros(len(legal), np.int64), legal, public)
        legal = legal[public == HIDDEN]
        return int(legal[0]) if len(legal) else None
    return action if action in legal else None


def _continued(world: GameState, state: GameState) -> GameState:
    """The sampled ``world`` as the position to which the actions of ``state`` led."""
    records = copy_records(world._records)
    for name in _KEPT:
        records[name] = state._records[name]
    return GameState(state.game, records, world._generators, state._log.copy(), source=Source.SEEN)


def _seed(random: np.random.Generator) -> int:
    return int(random.integers(2**63))
