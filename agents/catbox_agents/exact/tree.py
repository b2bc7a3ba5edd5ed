"""The whole tree of a small game, enumerated once: every deal, every history, every information state."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_env import Game, GameState, Vec
from catbox_env.core.checks import check_integer
from catbox_env.core.game import check_game_object

#: The largest tree that is enumerated by default.
MAX_HISTORIES = 10_000_000
#: Before the deals are listed, the estimated size of a tree may be too high by this factor.
SLACK = 4
#: Random games for the estimate of the size of a tree.
DIVES = 200
#: Most games side by side during the walk, which bounds its memory.
GAMES_AT_ONCE = 8192


class GameTree:
    """Every history of a game, a deal and the actions since: M histories, in I information states.

    An information state is all that the seat to move has seen and done: what it sees now, its history, and its last
    information state and action, so that no seat forgets anything (perfect recall). A *slot* is a legal action in an
    information state; there are S. A policy of all seats is an array (S,) float64 of the probabilities of the slots,
    which sum to 1 in every information state.

    Histories are sorted by length: those of k actions are ``histories[k]:histories[k+1]`` of the arrays below, and the
    deals come first. Information states are sorted likewise, and slots by information state.

    Attributes:
        game, num_players: the game and its number of seats P.
        num_deals: how many deals there are.
        levels: list of slices: the histories of 0, 1, 2 .. actions.
        parent: (M,) int64, the history before the last action; -1 for a deal.
        slot: (M,) int64, the slot of the last action; -1 for a deal.
        state: (M,) int64, the information state of the seat to move; -1 where the game is over.
        chance: (num_deals,) float64, the probability of each deal.
        ends, paid: (E,) int64 and (E, P) float64, the histories where the game is over and what each seat was paid.
        seats: (I,) int64, the seat to move.
        observations, action_masks, history_views: (I, O) int8, (I, A) bool, (I, T, 2) int8: what an agent gets.
        own_slot: (I,) int64, the slot of the seat's previous decision; -1 for its first.
        first_slot: (I + 1,) int64, the slots of information state i are ``first_slot[i]`` to ``first_slot[i+1]``.
        state_levels: list of slices: the information states after 0, 1, 2 .. actions.
        slot_state, slot_action, slot_seat: (S,) int64, of each slot.

    Args:
        game: a game of one round that lists its deals (`Game.chance_outcomes`).
        max_histories: the most histories to enumerate, at least 1.

    Raises ``ValueError`` for a tree with more histories, before the walk by an estimate from random games (Knuth 1975,
    "Estimating the efficiency of backtrack programs"), during it if the estimate was too low; also for a game with
    random events after the deal, and for one that does not list its deals.
    """

    def __init__(self, game: Game, max_histories: int = MAX_HISTORIES) -> None:
        check_game_object(game)
        limit = check_integer("max_histories", max_histories, 1)
        self.game, self.num_players = game, game.num_players
        per_deal = histories_per_deal(game)
        most_deals = min(int(SLACK * limit / per_deal), 2**62)
        if most_deals == 0:
            raise ValueError(_too_large(game, f"every deal has about {per_deal:.1g} histories", limit))
        try:
            deals = game.chance_outcomes(most_deals)
        except ValueError:
            size = f"there are more than {most_deals:,} deals, each with about {per_deal:.1g} histories"
            raise ValueError(_too_large(game, size, limit)) from None
        estimate = len(deals) * histories_per_deal(game, [deal for deal, _ in deals])
        if estimate > limit:
            size = f"there are {len(deals):,} deals and about {estimate:.2g} histories"
            raise ValueError(_too_large(game, size, limit))
        self.num_deals = len(deals)
        self.chance = np.array([probability for _, probability in deals])
        walk = _Walk(game, limit)
        for first in range(0, len(deals), GAMES_AT_ONCE):
            some = deals[first : first + GAMES_AT_ONCE]
            walk.begin([game.new_initial_state(seed=0, deal=deal) for deal, _ in some])
        self._take(walk)

    def _take(self, walk: _Walk) -> None:
        """Take the arrays of a finished walk, with information states and slots in order."""
        order = np.argsort(walk.depth, kind="stable")
        place = np.argsort(order)
        self.observations = np.concatenate(walk.observations)[order]
        self.action_masks = np.concatenate(walk.masks)[order]
        self.history_views = np.concatenate(walk.histories)[order]
        self.seats = np.array(walk.seats)[order]
        depths = np.array(walk.depth)[order]
        self.state_levels = _slices(np.bincount(depths, minlength=len(walk.levels)))
        actions = self.action_masks.sum(axis=1)
        self.first_slot = np.concatenate([[0], actions.cumsum()])
        self.slot_state, self.slot_action = np.nonzero(self.action_masks)
        self.slot_seat = self.seats[self.slot_state]
        # What the walk called slot first_slot[i] + k is slot k of information state place[i].
        moved = np.repeat(self.first_slot[place] - np.array(walk.first_slot), actions[place])
        slot_now = np.append(np.arange(len(moved)) + moved, -1)  # -1, no slot, stays -1
        self.own_slot = slot_now[np.array(walk.own_slot)[order]]
        self.levels = _slices([level.size for level in walk.levels])
        parents, slots, states, ends, paid = [], [], [], [], []
        before = 0
        for level, here in zip(walk.levels, self.levels, strict=True):
            parents.append(np.concatenate(level.parents) + (before if here.start else 0))
            slots.append(slot_now[np.concatenate(level.slots)])
            state = np.concatenate(level.states)
            states.append(np.where(state < 0, -1, place[state]))
            ends.append(here.start + np.flatnonzero(state < 0))
            paid.extend(level.paid)
            before = here.start
        self.parent, self.slot, self.state = (np.concatenate(part) for part in (parents, slots, states))
        self.ends, self.paid = np.concatenate(ends), np.concatenate(paid)

    @property
    def num_histories(self) -> int:
        """The number of histories M, including deals and ends."""
        return len(self.parent)

    @property
    def num_information_states(self) -> list[int]:
        """The number of information states of each seat (P)."""
        return np.bincount(self.seats, minlength=self.num_players).tolist()

    @property
    def num_slots(self) -> int:
        """The number of slots S."""
        return len(self.slot_state)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of ``values`` (S,) over the slots of each information state: (I,)."""
        return np.add.reduceat(values, self.first_slot[:-1])

    def uniform_policy(self) -> NDArray[np.float64]:
        """The policy (S,) that takes every legal action with the same probability."""
        return 1.0 / np.diff(self.first_slot)[self.slot_state]

    def rows_of(self, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """``policy`` (S,) as a row of A probabilities for each information state: (I, A)."""
        rows = np.zeros(self.action_masks.shape)
        rows[self.slot_state, self.slot_action] = policy
        return rows

    def policy_of(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The policy (S,) of ``rows`` (I, A), probabilities that are 0 for illegal actions."""
        return np.asarray(rows, np.float64)[self.slot_state, self.slot_action]

    def with_seats(self, policies: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The policy (S,) in which each seat plays its own of ``policies``, one (S,) for each seat."""
        return np.choose(self.slot_seat, policies)


class _Level:
    """The histories of one length found so far, in pieces, each an array."""

    def __init__(self) -> None:
        self.size = 0
        self.parents: list[NDArray[np.int64]] = []  # indices in the level before
        self.slots: list[NDArray[np.int64]] = []
        self.states: list[NDArray[np.int64]] = []
        self.paid: list[NDArray[np.float64]] = []  # of the histories where the game is over


class _Walk:
    """Visits all histories, depth first in batches, and numbers information states as it meets them."""

    def __init__(self, game: Game, limit: int) -> None:
        self.game, self.limit, self.size = game, limit, 0
        self.levels: list[_Level] = []
        self.known: dict[bytes, int] = {}
        self.seats: list[int] = []
        self.depth: list[int] = []
        self.own_slot: list[int] = []
        self.first_slot: list[int] = []
        self.num_slots = 0
        self.observations: list[NDArray[np.int8]] = []
        self.masks: list[NDArray[np.bool_]] = []
        self.histories: list[NDArray[np.int8]] = []

    def begin(self, states: list[GameState]) -> None:
        """Visit all histories from these initial states."""
        vec = Vec(self.game, len(states), seed=0, history=True, auto_deal=False)
        vec.set_states(states)
        nothing = np.full(len(states), -1)
        own = np.full((len(states), self.game.num_players), -1)
        self.visit(vec, 0, nothing, nothing, own, np.zeros(own.shape))

    def visit(
        self,
        vec: Vec,
        depth: int,
        parents: NDArray[np.int64],
        slots: NDArray[np.int64],
        own: NDArray[np.int64],
        paid: NDArray[np.float64],
    ) -> None:
        """Visit the histories in ``vec``, all of ``depth`` actions, and all that follow.

        ``parents``, ``slots`` (N,): as in `_Level`; ``own`` (N, P): the slot of each seat's last decision;
        ``paid`` (N, P): what each seat was paid so far.
        """
        if depth == len(self.levels):
            self.levels.append(_Level())
        level = self.levels[depth]
        first = level.size
        running = vec.current_player >= 0
        states = np.full(len(running), -1)
        rows = np.flatnonzero(running)
        states[rows] = self.information_states(vec, rows, depth, own)
        level.parents.append(parents)
        level.slots.append(slots)
        level.states.append(states)
        level.paid.append(paid[~running])
        level.size += len(running)
        self.size += len(running)
        if self.size > self.limit:
            raise ValueError(
                _too_large(self.game, f"there are more than {self.limit:,} histories", self.limit)
            )
        taken_in, actions = np.nonzero(vec.action_mask & running[:, None])
        ordinal = np.arange(len(taken_in)) - np.searchsorted(taken_in, taken_in)
        chosen = np.array(self.first_slot)[states[taken_in]] + ordinal
        for start in range(0, len(taken_in), GAMES_AT_ONCE):
            here = taken_in[start : start + GAMES_AT_ONCE]
            through = chosen[start : start + GAMES_AT_ONCE]
            after = vec.take(here)
            after.step(actions[start : start + GAMES_AT_ONCE])
            own_after = own[here]
            own_after[np.arange(len(here)), vec.current_player[here]] = through
            self.visit(after, depth + 1, first + here, through, own_after, paid[here] + after.rewards)

    def information_states(
        self, vec: Vec, rows: NDArray[np.int64], depth: int, own: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The information state of the seat to move of each of ``rows``; new ones get the next numbers."""
        if not len(rows):
            return rows
        seats, histories = vec.current_player[rows], vec.history[rows]
        own_slots = own[rows, seats]
        # Its last decision stands for all that it saw and did until then, in case its observation forgets any of that.
        remembered = np.stack([seats, own_slots], axis=1).view(np.int8)
        parts = (remembered, vec.observation[rows], histories.reshape(len(rows), -1))
        seen = np.ascontiguousarray(np.concatenate(parts, axis=1))
        known, number = self.known, len(self.known)
        keys = seen.view(np.dtype((np.void, seen.shape[1])))[:, 0].tolist()
        states = np.array([known.setdefault(key, len(known)) for key in keys])
        met, places = np.unique(states, return_index=True)
        new = places[met >= number]
        masks = vec.action_mask[rows[new]]
        self.observations.append(vec.observation[rows[new]])
        self.masks.append(masks)
        self.histories.append(histories[new])
        self.seats.extend(seats[new].tolist())
        self.depth.extend([depth] * len(new))
        self.own_slot.extend(own_slots[new].tolist())
        counts = masks.sum(axis=1)
        self.first_slot.extend((self.num_slots + counts.cumsum() - counts).tolist())
        self.num_slots += int(counts.sum())
        return states


def histories_per_deal(game: Game, deals: Sequence[Any] | None = None, dives: int = DIVES) -> float:
    """About how many histories follow a deal, the deal included, estimated from ``dives`` random games.

    The mean over ``deals``, all weighted equally, or by default over random deals.

    Raises ``ValueError`` for a game with random events after the deal.
    """
    generator = np.random.default_rng(0)
    total = 0.0
    for dive in range(dives):
        deal = None if deals is None else deals[int(generator.integers(len(deals)))]
        state, width = game.new_initial_state(seed=dive, deal=deal), 1.0
        total += width
        while not state.is_terminal():
            legal = state.legal_actions()
            width *= len(legal)
            total += width
            before = state._generators.tobytes()
            state.apply_action(int(generator.choice(legal)))
            if state._generators.tobytes() != before:
                raise ValueError(
                    f"{game.id} with {game.rules}: cards are dealt during the game, but the exact solver needs all "
                    "deals at the beginning; use rules with a single round"
                )
    return total / dives


def _too_large(game: Game, size: str, limit: int) -> str:
    such = ", such as Rules.tiny()" if hasattr(game.rules_class, "tiny") else ""
    return (
        f"{game.id} with {game.rules} is too large to be solved exactly: {size}, and the limit is {limit:,} histories; "
        f"use smaller rules{such}, or a larger max_histories"
    )


def _slices(sizes: Sequence[int] | NDArray[np.int64]) -> list[slice]:
    bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    return [slice(first, last) for first, last in itertools.pairwise(bounds)]
