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


def run(seats, values, rewards, terminated, gamma, gae_lambda, learns=None):
    """The compiled function on one game: advantages (R,), open rows (P,) and what the open decisions were paid (P,)."""
    rewards = np.asarray(rewards, np.float32)[:, None]
    num_rows, num_players = len(seats), rewards.shape[2]
    advantages = np.full((num_rows, 1), np.nan, np.float32)
    open_rows = np.full((num_players, 1), 99, np.int64)
    open_rewards = np.full((num_players, 1), np.nan, np.float32)
    compute_advantages(
        np.asarray(seats, np.int8)[:, None],
        np.asarray([True] * len(seats) if learns is None else learns, bool)[:, None],
        np.asarray(values, np.float32)[:, None],
        rewards,
        np.asarray(terminated, bool)[:, None],
        gamma,
        gae_lambda,
        advantages,
        open_rows,
        open_rewards,
    )
    return advantages[:, 0], open_rows[:, 0], open_rewards[:, 0]


def plain(seats, values, rewards, terminated, gamma, gae_lambda, learns):
    """The definition, written forwards, one seat at a time."""
    num_rows, num_players = len(seats), len(rewards[0])
    advantages = [0.0] * num_rows
    open_rows, open_rewards = [-1] * num_players, [0.0] * num_players
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
                open_rows[seat] = row
                open_rewards[seat] = sum(rewards[step][seat] for step in steps)
        for place, row in enumerate(own):
            weight = 1.0
            for later in own[place:]:
                if later not in errors:
                    break
                advantages[row] += weight * errors[later]
                weight *= gamma * gae_lambda
                if later in last_of_game:
                    break
    return advantages, open_rows, open_rewards


def random_window(rng, num_players, num_rows, end_rate):
    """Decisions in random seat order, with carried rows (each empty or paid for its own seat) in front."""
    seats, rewards = [], []
    for seat in range(num_players):
        held = rng.random() < 0.6
        seats.append(seat if held else -1)
        paid = [0.0] * num_players
        if held:
            paid[seat] = float(rng.integers(-3, 4))
        rewards.append(paid)
    for _ in range(num_rows):
        seats.append(int(rng.integers(num_players)))
        rewards.append([float(x) for x in rng.integers(-3, 4, num_players)])
    values = [float(x) for x in rng.normal(size=len(seats))]
    terminated = [False] * num_players + [bool(x) for x in rng.random(num_rows) < end_rate]
    return seats, values, rewards, terminated


def test_two_seats_by_hand():
    """Seat 0 decides in rows 2 and 4, seat 1 in rows 3 and 5 (rows 0 and 1 are the empty carried ones)."""
    seats = [-1, -1, 0, 1, 0, 1]
    values = [0, 0, 1.0, 2.0, 3.0, 4.0]
    rewards = [[0, 0], [0, 0], [0.5, 0], [0, 1.0], [0, 0], [6.0, -6.0]]
    terminated = [False] * 5 + [True]
    advantages, open_rows, _ = run(seats, values, rewards, terminated, gamma=0.9, gae_lambda=0.5)
    last_0, last_1 = 6.0 - 3.0, -6.0 - 4.0
    first_0 = 0.5 + 0.9 * 3.0 - 1.0 + 0.45 * last_0
    first_1 = 1.0 + 0.9 * 4.0 - 2.0 + 0.45 * last_1
    assert advantages == pytest.approx([0, 0, first_0, first_1, last_0, last_1], abs=1e-6)
    assert open_rows.tolist() == [-1, -1]


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.7), (1.0, 1.0), (0.8, 0.0)])
def test_agrees_with_the_definition(gamma, gae_lambda):
    """Random windows for two to five seats, with carried rows, several games and open ends."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        window = random_window(rng, int(rng.integers(2, 6)), int(rng.integers(1, 40)), end_rate=0.15)
        advantages, open_rows, open_rewards = run(*window, gamma, gae_lambda)
        everyone = [True] * len(window[0])
        expected, expected_rows, expected_rewards = plain(*window, gamma, gae_lambda, everyone)
        assert advantages == pytest.approx(expected, abs=1e-4)
        assert open_rows.tolist() == expected_rows
        assert open_rewards == pytest.approx(expected_rewards, abs=1e-5)


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.7)])
def test_agrees_with_the_definition_where_some_rows_do_not_learn(gamma, gae_lambda):
    """Any row may be an opponent's: it gets no advantage, is never open, and still pays and ends games."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        num_players = int(rng.integers(2, 6))
        window = random_window(rng, num_players, int(rng.integers(1, 40)), end_rate=0.15)
        learns = [True] * num_players + [bool(x) for x in rng.random(len(window[0]) - num_players) < 0.6]
        advantages, open_rows, open_rewards = run(*window, gamma, gae_lambda, learns)
        expected, expected_rows, expected_rewards = plain(*window, gamma, gae_lambda, learns)
        assert advantages == pytest.approx(expected, abs=1e-4)
        assert (advantages[~np.array(learns)] == 0).all()
        assert open_rows.tolist() == expected_rows
        assert all(learns[row] for row in open_rows if row >= 0)
        assert open_rewards == pytest.approx(expected_rewards, abs=1e-5)


def test_games_of_a_batch_do_not_mix():
    """Every game of a batch gets what it gets alone."""
    rng = np.random.default_rng(8)
    windows = [random_window(rng, 3, 17, end_rate=0.2) for _ in range(5)]
    seats, values, rewards, terminated = (
        np.stack([np.asarray(w[k]) for w in windows], axis=1) for k in range(4)
    )
    advantages = np.empty(seats.shape, np.float32)
    open_rows, open_rewards = np.empty((3, 5), np.int64), np.empty((3, 5), np.float32)
    compute_advantages(
        seats.astype(np.int8),
        np.ones_like(terminated),
        values.astype(np.float32),
        rewards.astype(np.float32),
        terminated,
        0.9,
        0.8,
        advantages,
        open_rows,
        open_rewards,
    )
    for game, window in enumerate(windows):
        alone, alone_rows, alone_rewards = run(*window, 0.9, 0.8)
        assert advantages[:, game].tolist() == alone.tolist()
        assert open_rows[:, game].tolist() == alone_rows.tolist()
        assert open_rewards[:, game].tolist() == alone_rewards.tolist()
