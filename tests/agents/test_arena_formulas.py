"""The formulas of the arena against plain arithmetic: intervals, ratings; which deals it plays."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents.arena.arena_result import bootstrap_interval, ratings, resampled_sums
from catbox_agents.arena.results import mean_estimates
from catbox_agents.arena.seatings import GROUP, deal_seed, decision_seeds
from tests.agents.arena_agents import Highest, Lowest, Middle, spec

NAMES = ["low", "high", "middle"]
SPECS = [spec(Lowest), spec(Highest), spec(Middle)]
DEALS = 40


def test_the_interval_of_a_mean_is_students() -> None:
    # The table of Student's t at 97.5 %: 2.2622 with 9 degrees of freedom, 2.0423 with 30.
    ten = np.array([[1.0, 0], [2, 0], [3, 0], [4, 0], [5, 0], [6, 0], [7, 0], [8, 0], [9, 0], [10, 0]])
    one, other = mean_estimates(ten)
    assert one.mean == 5.5
    half = 2.2622 * (55 / 6) ** 0.5 / 10**0.5
    assert (one.low, one.high) == pytest.approx((5.5 - half, 5.5 + half), abs=3e-4 * half)
    assert (other.low, other.high) == (0, 0)
    assert mean_estimates(np.arange(31.0)[:, None])[0].half_width == pytest.approx(
        2.0423 * (31 * 32 / 12) ** 0.5 / 31**0.5, rel=3e-4
    )


@pytest.mark.parametrize(("num_deals", "tail"), [(10, 0.00855), (100, 0.02307), (10**6, 0.025)])
def test_a_bootstrap_interval_is_widened_for_few_deals(num_deals: int, tail: float) -> None:
    # Hesterberg 2015: the normal tail at sqrt(n / (n - 1)) times Student's quantile; here of the numbers from 0 to 1.
    low, high = bootstrap_interval(np.linspace(0, 1, 100_001)[:, None], num_deals)
    assert low[0] == pytest.approx(tail, abs=5e-5)
    assert high[0] == pytest.approx(1 - tail, abs=5e-5)


def test_resampling_draws_as_many_deals_with_replacement_and_the_same_for_every_quantity() -> None:
    values = np.random.default_rng(0).normal(size=(50, 3))
    sums = resampled_sums(values)
    assert np.allclose(resampled_sums(values[:, 0] - values[:, 1]), sums[:, 0] - sums[:, 1])
    assert (resampled_sums(np.ones((50, 1))) == 50).all()
    each = resampled_sums(np.eye(50))  # how often each deal is in each draw: by Poisson about 37 % never
    assert (each == 0).mean() == pytest.approx((49 / 50) ** 50, abs=0.01)


def test_400_points_are_odds_of_ten_to_one() -> None:
    strong, weak = ratings(np.array([[0, 10_000.0], [1000, 0]]))
    assert strong - weak == pytest.approx(400, abs=0.5)
    assert strong + weak == pytest.approx(0)
    assert np.isfinite(ratings(np.array([[0, 500.0], [0, 0]]))).all()  # one that never lost


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[catbox_agents.ArenaResult, list[dict]]:
    """An arena of three agents and three seats, and its games."""
    path = tmp_path_factory.mktemp("arena") / "games.jsonl"
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    result = catbox_agents.run_arena(game, SPECS, DEALS, names=NAMES, seed=7, mixed=True, record=Path(path))
    return result, [json.loads(line) for line in path.read_text().splitlines()[1:]]


def test_a_deal_has_the_same_cards_at_every_table_and_is_played_from_every_seat(
    played: tuple[catbox_agents.ArenaResult, list[dict]],
) -> None:
    _, games = played
    cards: dict[int, set[str]] = defaultdict(set)
    line_ups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for game in games:
        cards[game["deal_number"]].add(json.dumps(game["deals"]))
        line_ups[game["deal_number"]].append(tuple(game["agents"]))
    assert set(cards) == set(range(DEALS))
    assert all(len(found) == 1 for found in cards.values())
    assert len(set.union(*cards.values())) == DEALS
    expected = {(name,) * 3 for name in NAMES}
    for one, field in permutations(NAMES, 2):
        expected |= {tuple(one if seat == own else field for seat in range(3)) for own in range(3)}
    for found in line_ups.values():
        pairs = [line_up for line_up in found if len(set(line_up)) < 3]
        assert len(pairs) == len(expected) == 21
        assert set(pairs) == expected
        mixed = [line_up for line_up in found if len(set(line_up)) == 3]
        assert len(mixed) == 3
        assert all(set(seat) == set(NAMES) for seat in zip(*mixed, strict=True))


def test_a_rating_is_fitted_to_who_scored_more_in_each_game(
    played: tuple[catbox_agents.ArenaResult, list[dict]],
) -> None:
    result, games = played
    wins = np.zeros((3, 3))
    for game in games:
        for one, other in permutations(range(3), 2):
            agents = [NAMES.index(game["agents"][seat]) for seat in (one, other)]
            if agents[0] != agents[1]:
                more = game["returns"][one] - game["returns"][other]
                wins[agents[0], agents[1]] += 1 if more > 0 else 0.5 * (more == 0)
    strengths = np.ones(3)
    for _ in range(2000):  # Zermelo's iteration for the model of Bradley and Terry
        rates = (wins + wins.T) / (strengths[:, None] + strengths)
        strengths = wins.sum(1) / rates.sum(1)
        strengths /= np.exp(np.log(strengths).mean())
    found = [summary.rating.mean for summary in result.summaries]
    assert found == pytest.approx(400 * np.log10(strengths), abs=1)
    assert all(s.rating.low < s.rating.mean < s.rating.high for s in result.summaries)


def test_deals_have_seeds_of_their_own_in_groups() -> None:
    root, numbers = np.random.SeedSequence(5), (0, 1, GROUP - 1, GROUP, 2 * GROUP, 2 * GROUP + 1)
    groups = np.random.SeedSequence(5, spawn_key=(1,)).spawn(3)
    deals = [group.spawn(GROUP) for group in groups]
    seeds = {tuple(deal_seed(root, number).generate_state(4)) for number in numbers}
    assert seeds == {tuple(deals[n // GROUP][n % GROUP].generate_state(4)) for n in numbers}
    assert len(seeds) == len(numbers)


def test_every_decision_has_a_seed_of_its_own() -> None:
    root, rows = np.random.SeedSequence(3), np.arange(200)
    seeds = [decision_seeds(root, first, 5, rows, move) for first in (0, 40) for move in range(45)]
    assert len(set(np.concatenate(seeds).tolist())) == 2 * 45 * 200
    ahead = decision_seeds(root, 0, 5, rows + 200, 3)  # the same deals, by their number
    assert ahead.tolist() == seeds[45 + 3].tolist()
