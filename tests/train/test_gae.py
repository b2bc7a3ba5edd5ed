"""Advantages against independent arithmetic in plain Python.

The plain version follows the definition: for each seat, list its decisions; the error of one is what the seat was
paid until its next decision, plus gamma times the value there, minus the value here; the advantage is the sum of
the later errors of the same game weighted by (gamma * lambda)^k. Rows that do not learn are no decisions, but pay
and end games as all others.
"""

from __future__ import annotations

import numpy as np
import pytest
from catbox_train.algorithms.ppo.gae import compute_advantages

pytestmark = pytest.mark.nojit


def plain(seats, values, rewards, terminated, gamma, gae_lambda, learns):
    """The definition, written forwards, one seat at a time."""
    num_rows, num_players = len(seats), len(rewards[0])
    advantages = [0.0] * num_rows
    pending_rows, pending_rewards = [-1] * num_players, [0.0] * num_players
    for seat in range(num_players):
        own = [row for row in range(num_rows) if seats[row] == seat and learns[row]]
        errors: dict[int, float] = {}
        last_of_game: set[int] = set()
        for place, row in enumerate(own):
            following = own[place + 1] if place + 1 < len(own) else num_rows
            steps = range(row, following)
            end = next((step for step in steps if terminated[step] and seats[step] >= 0), None)
            if end is not None:
                errors[row] = sum(rewards[step][seat] for step in range(row, end + 1)) - values[row]
                last_of_game.add(row)
            elif following < num_rows:
                errors[row] = (
                    sum(rewards[step][seat] for step in steps) + gamma * values[following] - values[row]
                )
            else:
                pending_rows[seat] = row
                pending_rewards[seat] = sum(rewards[step][seat] for step in steps)
        for place, row in enumerate(own):
            weight = 1.0
            for later in own[place:]:
                if later not in errors:
                    break
                advantages[row] += weight * errors[later]
                weight *= gamma * gae_lambda
                if later in last_of_game:
                    break
    return advantages, pending_rows, pending_rewards


def random_window(rng, num_players, num_rows, learning):
    """Decisions in random seat order, with carried rows (each empty or paid for its own seat) in front; ``learning`` is
    the share of the rows that learn."""
    held = rng.random(num_players) < 0.6
    carried = np.where(held, np.arange(num_players), -1)
    pay = np.diag(held * rng.integers(-3, 4, num_players))
    ends, learns = rng.random(num_rows) < 0.15, rng.random(num_rows) < learning
    return (
        np.append(carried, rng.integers(num_players, size=num_rows)),
        rng.normal(size=num_players + num_rows),
        np.concatenate([pay, rng.integers(-3, 4, (num_rows, num_players))]),
        np.append(np.zeros(num_players, bool), ends),
        np.append(np.ones(num_players, bool), learns),
    )


@pytest.mark.parametrize("learning", [1.0, 0.6], ids=["all learn", "some learn"])
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.7), (1.0, 1.0), (0.8, 0.0)])
def test_agrees_with_the_definition(gamma, gae_lambda, learning):
    """Batches of games for two to five seats, with carried rows, ends of games and open decisions.

    A row that does not learn gets no advantage, is never open, and still pays and ends games.
    """
    rng = np.random.default_rng(5)
    for _ in range(20):
        num_players, num_rows = int(rng.integers(2, 6)), int(rng.integers(1, 40))
        windows = [random_window(rng, num_players, num_rows, learning) for _ in range(3)]
        types = (np.int8, np.float32, np.float32, bool, bool)
        seats, values, rewards, terminated, learns = (
            np.stack(parts, axis=1).astype(kind)
            for parts, kind in zip(zip(*windows, strict=True), types, strict=True)
        )
        advantages = np.full(seats.shape, np.nan, np.float32)
        pending_rows = np.full((num_players, 3), 99, np.int64)
        pending_rewards = np.full((num_players, 3), np.nan, np.float32)
        compute_advantages(
            *(seats, learns, values, rewards, terminated, gamma, gae_lambda),
            *(advantages, pending_rows, pending_rewards),
        )  # fmt: skip
        for game, window in enumerate(windows):
            expected, expected_rows, expected_rewards = plain(*window[:4], gamma, gae_lambda, window[4])
            assert advantages[:, game] == pytest.approx(expected, abs=1e-4)
            assert (advantages[~learns[:, game], game] == 0).all()
            assert pending_rows[:, game].tolist() == expected_rows
            assert pending_rewards[:, game] == pytest.approx(expected_rewards, abs=1e-5)
