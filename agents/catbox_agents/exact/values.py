"""The values of a policy, best responses and NashConv, computed on a whole tree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from catbox_agents.exact.tree import GameTree

Floats = NDArray[np.float64]


def values(tree: GameTree, policy: Floats) -> Floats:
    """What each seat (P) is paid on average when all play ``policy`` (S,)."""
    return reach(tree, policy)[tree.ends] @ tree.paid


def best_response(tree: GameTree, policy: Floats, seat: int) -> tuple[float, Floats]:
    """The most that ``seat`` can be paid on average while the others play ``policy`` (S,), and how.

    Returns the value, and a policy (S,) in which ``seat`` takes a best action in each of its information states (the
    lowest id among equals) and the others play ``policy``.
    """
    response = policy.copy()

    def take_best(slots: slice, states: slice, worth: Floats) -> Floats:
        first = tree.first_slot[states] - slots.start
        best = np.maximum.reduceat(worth, first)
        widths = np.diff(tree.first_slot[states.start : states.stop + 1])
        is_best = worth == np.repeat(best, widths)
        # The first of the best slots in each information state, by a running count of best slots.
        count = is_best.cumsum()
        before = np.repeat(count[first] - is_best[first], widths)
        own = tree.slot_seat[slots] == seat
        chosen = is_best & (count == before + 1)
        response[slots] = np.where(own, chosen, response[slots])
        return np.where(own, chosen, 1.0)

    value = back_up(tree, reach(tree, policy, without=seat), seat, take_best)
    return value, response


def nash_conv(tree: GameTree, policy: Floats) -> float:
    """The sum over seats of what each could gain by a best response to the others' ``policy`` (S,).

    It is 0 exactly in a Nash equilibrium, with any number of players (Lanctot et al. 2017, "A unified game-theoretic
    approach to multiagent reinforcement learning"). In a two-player zero-sum game it is twice the exploitability.
    """
    gains = [best_response(tree, policy, seat)[0] for seat in range(tree.num_players)] - values(tree, policy)
    return float(gains.sum())


def reach(tree: GameTree, policy: Floats, without: int | None = None) -> Floats:
    """The reach probability of each history (M,) under ``policy`` (S,), leaving out the actions of seat ``without``."""
    factors = policy if without is None else np.where(tree.slot_seat == without, 1.0, policy)
    found = np.empty(tree.num_histories)
    found[: tree.num_deals] = tree.chance
    for level in tree.levels[1:]:
        np.multiply(found[tree.parent[level]], factors[tree.slot[level]], out=found[level])
    return found


def back_up(
    tree: GameTree,
    reached: Floats,
    seat: int,
    choose: Callable[[slice, slice, Floats], Floats],
) -> float:
    """What ``seat`` is paid on average, backed up from the ends of the game to the deals.

    ``reached`` (M,) is `reach` without ``seat``. For the slots and information states of each history length,
    ``choose(slots, states, worth)`` gets the counterfactual value for ``seat`` of each slot and returns the weight of
    each slot: 1 for those of other seats, whose probabilities are in ``reached``, and for its own slots the probability
    with which it takes them.
    """
    worth = np.zeros(tree.num_histories)
    worth[tree.ends] = reached[tree.ends] * tree.paid[:, seat]
    for k in range(len(tree.levels) - 1, 0, -1):
        here, before, states = tree.levels[k], tree.levels[k - 1], tree.state_levels[k - 1]
        slots = slice(int(tree.first_slot[states.start]), int(tree.first_slot[states.stop]))
        through = tree.slot[here] - slots.start
        after = np.bincount(through, worth[here], minlength=slots.stop - slots.start).astype(np.float64)
        taken = worth[here] * choose(slots, states, after)[through]
        worth[before] += np.bincount(
            tree.parent[here] - before.start, taken, minlength=before.stop - before.start
        )
    return float(worth[: tree.num_deals].sum())
