"""Deals with their probabilities, against physical cards one by one and against random deals; information states."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import catbox_env
from catbox_env import Game, GameState, make_game
from catbox_env.cat_in_the_box_v0 import Rules
from catbox_env.core.kernels import REWARDS
from catbox_env.petrify_v0 import Rules as PetrifyRules
from tests.games.test_conformance import VARIANTS

TINY = make_game("cat_in_the_box_v0", rules=Rules.tiny())


@pytest.mark.parametrize("options", [
    {"num_players": 2, "num_ranks": 2, "copies": 4, "hand_size": 3, "revealed_cards": 1, "bids": ()},
    {"num_players": 3, "num_ranks": 3, "copies": 3, "hand_size": 3, "start_player": "random"},
    {"num_players": 2, "num_ranks": 4, "copies": 2, "hand_size": 3, "revealed_cards": 2, "rounds": 3},
])  # fmt: skip
def test_the_deals_of_cat_in_the_box_are_those_of_physical_cards(options: dict[str, Any]) -> None:
    game = make_game("cat_in_the_box_v0", **options)
    rules = game.rules
    sizes = [rules.hand_size] * rules.num_players + [rules.revealed_cards]
    ways: Counter[tuple] = Counter()

    def deal_on(cards: frozenset[int], parts: tuple) -> None:
        if len(parts) == len(sizes):
            ways[parts] += 1
            return
        for taken in itertools.combinations(sorted(cards), sizes[len(parts)]):
            ranks = tuple(sorted(card % rules.num_ranks + 1 for card in taken))
            deal_on(cards - set(taken), (*parts, ranks))

    deal_on(frozenset(range(rules.num_ranks * rules.copies)), ())
    starts = range(rules.num_players) if rules.start_player == "random" else [None]
    expected = {
        (parts, start): Fraction(count, ways.total() * len(starts))
        for parts, count in ways.items()
        for start in starts
    }
    outcomes = game.chance_outcomes()
    listed = {((*map(tuple, deal.hands), tuple(deal.revealed)), deal.start_player): p for deal, p in outcomes}
    assert len(outcomes) == len(listed)
    assert listed.keys() == expected.keys()
    for key, probability in listed.items():
        assert probability == pytest.approx(float(expected[key]), abs=1e-15)


@pytest.mark.parametrize("game", [TINY, make_game("petrify_v0", rules=PetrifyRules.tiny())])
def test_random_deals_come_up_as_often_as_listed(game: Game) -> None:
    outcomes = game.chance_outcomes()
    probabilities = {
        game.new_initial_state(seed=0, deal=deal).state_vector().tobytes(): probability
        for deal, probability in outcomes
    }
    assert len(probabilities) == len(outcomes)
    assert sum(probabilities.values()) == pytest.approx(1.0)
    num_games = 60_000
    vec = catbox_env.make_vec(game.id, num_games, seed=7, state=True, **game.options)
    assert not np.ptp(vec.current_player)  # the same seat looks at every game
    found = Counter(row.tobytes() for row in vec.state)
    assert found.keys() <= probabilities.keys()
    counts = [found[key] for key in probabilities]
    assert chisquare(counts, [p * num_games for p in probabilities.values()]).pvalue > 1e-3


def test_more_deals_than_the_limit_are_refused() -> None:
    assert len(TINY.chance_outcomes(55)) == 55
    with pytest.raises(
        ValueError, match="has 55 deals, more than limit=54; take smaller rules or a larger limit"
    ):
        TINY.chance_outcomes(54)


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_too_many_deals_are_counted_and_not_listed(game_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game(game_id)
    monkeypatch.setattr(game.draws, "weights", None)
    with pytest.raises(
        ValueError, match=rf"{game_id} with Rules.* has \d.*e\+\d\d deals, more than limit=100,000"
    ):
        game.chance_outcomes()


@pytest.mark.parametrize(("game_id", "options"), [
    ("cat_in_the_box_v0", {"rules": Rules.tiny()}),
    ("cat_in_the_box_v0", {"num_players": 2, "num_ranks": 3, "copies": 3, "hand_size": 3, "revealed_cards": 2}),
    ("cat_in_the_box_v0", {"num_players": 2, "num_ranks": 2, "hand_size": 3, "start_player": "random"}),
    ("petrify_v0", {"rules": PetrifyRules.tiny()}),
    ("petrify_v0", {"size": 3, "zeros": 1, "wildcards": 7}),
    ("petrify_v0", {"size": 3, "walls": 3, "wildcards": 5, "teleports": 1}),
])  # fmt: skip
def test_the_count_of_the_deals_is_that_of_all_draws(game_id: str, options: dict[str, Any]) -> None:
    draws = make_game(game_id, **options).draws
    assert draws is not None

    def count(drawn: list[int]) -> int:
        following = draws.weights(drawn, True)
        return sum(count([*drawn, draw]) for draw, _ in following) if following else 1

    assert draws.count() == count([]) > 20


def follow_draws(game: Game, first_round: bool, rng: np.random.Generator) -> list[int]:
    """A random deal, draw by draw."""
    drawn = list[int]()
    while outcomes := game.draws.outcomes(drawn, first_round):
        draws, probabilities = zip(*outcomes, strict=True)
        assert list(draws) == sorted(set(draws))
        assert 0 <= draws[0] <= draws[-1] < game.draws.num_values
        assert min(probabilities) > 0
        assert sum(probabilities) == pytest.approx(1.0)
        names = {game.draws.to_string(drawn, draw, first_round) for draw in draws}
        assert len(names) == len(draws)
        i = int(rng.choice(len(draws), p=np.array(probabilities) / sum(probabilities)))
        drawn.append(draws[i])
    assert len(drawn) <= game.draws.length
    return drawn


@pytest.mark.parametrize(("game_id", "options"), VARIANTS, ids=str)
def test_a_deal_is_drawn_card_by_card_and_its_draws_can_be_told_from_it(game_id: str, options: dict) -> None:
    game, rng = make_game(game_id, **options), np.random.default_rng(0)
    longest = 0
    for first_round in [True, False] if options.get("rounds") else [True]:
        for _ in range(20):
            drawn = follow_draws(game, first_round, rng)
            longest = max(longest, len(drawn))
            if not game.draws.is_possible(drawn):
                continue
            deal = game.draws.to_deal(drawn, first_round)
            state = game.new_initial_state(seed=0)
            game.set_deal(state, deal)
            assert game.draws.from_deal(game.deal_of(state), first_round) == drawn
    assert longest == game.draws.length


def test_the_draws_lead_to_every_deal_with_its_probability() -> None:
    for game in (TINY, make_game("petrify_v0", rules=PetrifyRules.tiny())):
        for deal, probability in game.chance_outcomes()[::7]:
            state = game.new_initial_state(seed=0, deal=deal)
            drawn = game.draws.from_deal(game.deal_of(state), True)
            along = 1.0
            for i, draw in enumerate(drawn):
                along *= dict(game.draws.outcomes(drawn[:i]))[draw]
            assert along == pytest.approx(probability)


def test_random_deals_of_the_kernels_come_up_as_the_draws_say() -> None:
    """The first draws of Cat Te and of a large board, which cannot be listed."""
    for game, places in (
        (make_game("cat_te_v0", num_players=3), [0, 5, 17]),
        (make_game("petrify_v0"), [0, 7]),
    ):
        for place in places:
            expected = np.zeros(game.draws.num_values)
            found = np.zeros(game.draws.num_values)
            for seed in range(600):
                deal = game.deal_of(game.new_initial_state(seed=seed))
                drawn = game.draws.from_deal(deal, True)
                # Given all draws before, so that each is a test of its own.
                for draw, probability in game.draws.outcomes(drawn[:place]):
                    expected[draw] += probability
                found[drawn[place]] += 1
            often = expected >= 5
            assert found[~often].sum() == pytest.approx(expected[~often].sum(), abs=15)
            scale = found[often].sum() / expected[often].sum()
            assert chisquare(found[often], expected[often] * scale).pvalue > 1e-3


def test_draws_of_a_deal_that_are_none_are_refused() -> None:
    # The fourth of three equal cards, a hand that does not ascend, cards that leave no ascending hand.
    for drawn in ([0, 0, 0, 0], [2, 1], [1, 1, 0], [2, 2, 2, 1, 1, 0]):
        with pytest.raises(
            ValueError, match=r"drawn=.*: draw \d is \d; after those before it, expected one of"
        ):
            TINY.draws.outcomes(drawn)
    with pytest.raises(ValueError, match="drawn="):
        make_game("petrify_v0", rules=PetrifyRules.tiny()).draws.outcomes([0, 0, 0])
    for drawn in ([-1], [3], [0] * 7):
        with pytest.raises(ValueError, match="drawn="):
            TINY.draws.outcomes(drawn)


@pytest.mark.parametrize(("game_id", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("reward", REWARDS)
def test_returns_sum_to_the_utility_sum(game_id: str, options: dict, reward: str) -> None:
    game, rng = make_game(game_id, **options | {"reward": reward}), np.random.default_rng(1)
    sums = set()
    for seed in range(4):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        sums.add(round(sum(state.returns()), 4))
    assert game.utility_sum is None or sums == {game.utility_sum}
    assert (game.utility_sum is None) == (game_id.startswith("cat_in") and reward == "score")


def histories(state: GameState) -> Any:
    """Every state that follows, this one included."""
    yield state
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        yield from histories(after)


def test_an_information_state_is_the_hand_that_was_dealt_and_what_was_seen_since() -> None:
    """Of all seats, to move or not, over the whole tiny game: told apart exactly as by everything that they saw."""
    known: dict[tuple, set[tuple]] = {}
    for deal, _ in TINY.chance_outcomes():
        for state in histories(TINY.new_initial_state(seed=0, deal=deal)):
            for player in range(2):
                vector = state.information_state(player)
                assert vector.dtype == np.int8
                assert vector.shape == (TINY.observation_layout.size + 2 * TINY.max_game_length,)
                taken = state.history()
                discards = [action if seat == player else -1 for seat, action in enumerate(taken[:2])]
                everything = (tuple(deal.hands[player]), *discards, *taken[2:])
                known.setdefault((player, vector.tobytes()), set()).add(everything)
    assert all(len(different) == 1 for different in known.values())
    assert len(known) == len({(player, *one) for (player, _), (one,) in known.items()})
