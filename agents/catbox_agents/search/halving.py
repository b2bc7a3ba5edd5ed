"""Sequential halving: divides a budget of rollouts among actions, so that the better ones get more.

The actions left are tried equally often, then the worse half is dropped, until one is left. Source: Karnin, Koren and
Somekh, "Almost Optimal Exploration in Multi-Armed Bandits" (ICML 2013), algorithm 1. As in Gumbel MuZero (Danihelka et
al., ICLR 2022), the rollouts of earlier rounds still count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: From the number of actions and of worlds to rounds: (actions left, worlds in which each of them is tried).
Schedule = Callable[[int, int], list[tuple[int, int]]]


def halving_schedule(num_actions: int, worlds: int) -> list[tuple[int, int]]:
    """The rounds for ``num_actions``: rows of (actions left, worlds in which each of them is tried).

    The budget is ``worlds * num_actions`` rollouts, as if each action were tried in ``worlds`` worlds. There are
    ``ceil(log2(num_actions))`` rounds, none for a single action. Every round gets an equal share of what is left, and
    at least one world, even if that exceeds the budget.
    """
    rounds = (num_actions - 1).bit_length()
    budget = worlds * num_actions
    schedule: list[tuple[int, int]] = []
    left = num_actions
    for rounds_left in range(rounds, 0, -1):
        count = max(1, budget // rounds_left // left)
        schedule.append((left, count))
        budget -= left * count
        left = (left + 1) // 2
    return schedule


def shared_schedule(num_actions: int, worlds: int) -> list[tuple[int, int]]:
    """As `halving_schedule`, with ``worlds`` worlds in total: each round has an equal share of them, at least one.

    The best action is tried in all of them, the others in those of the rounds that they reach.
    """
    rounds = (num_actions - 1).bit_length()
    schedule: list[tuple[int, int]] = []
    left = num_actions
    for rounds_left in range(rounds, 0, -1):
        count = max(1, worlds // rounds_left)
        schedule.append((left, count))
        worlds -= count
        left = (left + 1) // 2
    return schedule


def flat_schedule(num_actions: int, worlds: int) -> list[tuple[int, int]]:
    """One round, without halving: each action is tried in ``worlds`` worlds."""
    return [(num_actions, worlds)] if num_actions > 1 else []


def best_half(left: NDArray[np.bool_], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The better half, rounded up, of the actions ``left`` (n, A) bool by ``values`` (n, A); ties go to the lower id.

    A row with one action keeps it, a row with none stays empty.
    """
    order = np.argsort(np.where(left, -values, np.inf), axis=1, kind="stable")
    keep = (left.sum(axis=1) + 1) // 2
    kept = np.zeros_like(left)
    np.put_along_axis(kept, order, np.arange(left.shape[1]) < keep[:, None], axis=1)
    return kept
