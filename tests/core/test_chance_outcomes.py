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
from catbox_env.games.petrify.deals import _boards
from catbox_env.petrify_v0 import Rules as PetrifyRules
from tests.core.bad_values import VALUES, is_one_of

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


def test_boards_of_petrify_are_laid_out_as_often_as_physical_cards() -> None:
    deck, specials, cells = Counter({"1.1": 2, "2.1": 1, "3.1": 1}), Counter({"W": 1, "*": 2}), 5
    cards = list(deck.elements())
    ways: Counter[tuple[str, ...]] = Counter()
    for kept in itertools.permutations(range(len(cards)), cells - specials.total()):
        tiles = [cards[i] for i in kept] + list(specials.elements())
        # the numbers come in the order of ``kept`` already, and equal special tiles are one
        for places in itertools.permutations(range(cells)):
            if list(places[:2]) == sorted(places[:2]) and places[3] < places[4]:
                board = [""] * cells
                for tile, place in zip(tiles, places, strict=True):
                    board[place] = tile
                ways[tuple(board)] += 1
    listed = list(_boards(deck, specials, cells))
    assert dict(listed) == ways
    assert len(listed) == len(ways)


def test_a_limit_and_games_that_do_not_list_their_deals() -> None:
    assert len(TINY.chance_outcomes(55)) == 55
    with pytest.raises(ValueError, match="more than limit=54 deals"):
        TINY.chance_outcomes(54)
    with pytest.raises(ValueError, match=r"has 190,694,571,947,880 deals, which are too many to list"):
        make_game("cat_te_v0", num_players=2).chance_outcomes()
    with pytest.raises(ValueError, match=r"has 7,627,782,877,915,200 deals"):
        make_game("cat_te_v0", num_players=2, side_pot=1).chance_outcomes()
    with pytest.raises(ValueError, match="cat_in_the_box_v0 does not list its deals"):
        Game.weighted_deals(TINY)  # of a game that does not define it
    for value in VALUES:
        if not is_one_of(value, [99_999]):
            with pytest.raises(ValueError, match="limit="):
                TINY.chance_outcomes(value)


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
                assert vector.shape == (TINY.observation_layout.size + 2 * TINY.history_length,)
                taken = state.history()
                discards = [action if seat == player else -1 for seat, action in enumerate(taken[:2])]
                everything = (tuple(deal.hands[player]), *discards, *taken[2:])
                known.setdefault((player, vector.tobytes()), set()).add(everything)
    assert all(len(different) == 1 for different in known.values())
    assert len(known) == len({(player, *one) for (player, _), (one,) in known.items()})
