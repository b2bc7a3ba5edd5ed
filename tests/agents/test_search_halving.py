"""Sequential halving divides the budget, and the policy target says what a search has found out."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest

from catbox_agents.search.halving import best_half, halving_schedule


@pytest.mark.parametrize("num_actions", [2, 5, 9, 50])
@pytest.mark.parametrize("worlds", [1, 7, 64, 1000])
def test_the_budget_is_divided_evenly_and_the_worse_half_dropped(num_actions: int, worlds: int) -> None:
    schedule = halving_schedule(num_actions, worlds)
    assert len(schedule) == ceil(log2(num_actions))
    left = num_actions
    for actions, count in schedule:
        assert actions == left
        assert count >= 1
        left = ceil(left / 2)
    assert left == 1
    budget = num_actions * worlds
    spent = sum(actions * count for actions, count in schedule)
    if worlds >= len(schedule):
        assert budget - 1 <= spent <= budget  # the last two actions share what is left
        costs = [actions * count for actions, count in schedule]
        assert max(costs) - min(costs) <= 2 * num_actions
    assert [count for _, count in schedule] == sorted(count for _, count in schedule)


def test_an_example_of_the_schedule() -> None:
    # Of 8 * 16 = 128 rollouts a third is 42: 8 * 5 = 40; half of the rest is 44: 4 * 11; and 44 are left: 2 * 22.
    assert halving_schedule(8, 16) == [(8, 5), (4, 11), (2, 22)]
    assert halving_schedule(2, 10) == [(2, 10)]
    assert halving_schedule(5, 1) == [(5, 1), (3, 1), (2, 1)]  # at least one world in each round
    assert halving_schedule(1, 64) == []


def test_the_better_half_is_kept_and_the_lower_id_among_equals() -> None:
    left = np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]], bool)
    values = np.array(
        [[0.0, -2.0, 9.0, -1.0, 5.0], [1.0, 1.0, 1.0, 2.0, 2.0], [np.nan] * 3 + [-7.0, np.nan], [np.nan] * 5]
    )
    kept = best_half(left, values)
    assert [np.flatnonzero(row).tolist() for row in kept] == [[0, 4], [0, 1], [3], []]
