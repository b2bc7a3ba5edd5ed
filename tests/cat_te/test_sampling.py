"""Cat Te: the worlds drawn from an observation are those that can be, each as likely as any other."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from catbox_env import make_game, make_vec
from catbox_env.core.state import GameState
from tests.cat_te.positions import play, start
from tests.cat_te.reference import DECK
from tests.cat_te.worlds import Profile, Table, cards_in, draw, hidden, of_suits
from tests.core.chance import chance_of

RULES: list[dict[str, Any]] = [
    {"num_players": 3, "region": "khmer", "side_pot": 1},
    {"num_players": 3, "region": "laos", "side_pot": 2},
    {"num_players": 2, "region": "khmer", "side_pot": 1, "instant_wins": False},
    {"num_players": 4, "region": "laos", "side_pot": 1},
    {"num_players": 3, "region": "khmer", "offsuit_faceup": False, "side_pot": 1},
    {"num_players": 4, "region": "khmer"},
]

#: What everybody knows of a state; by seat.
PUBLIC = (
    "current_player", "dealer", "leader", "led", "trick", "upturned", "claimed", "claim_trick", "rounds_left", "pot",
    "winners",
)  # fmt: skip
BY_SEAT = ("fold_tricks", "faceup", "void_since", "in_round", "scores")


def revealing_state(options: dict[str, Any], seed: int) -> GameState:
    """Late in the last round of players who like to show cards off suit, to fold, and to claim at some time."""
    rng = np.random.default_rng(seed)
    game = make_game("cat_te_v0", **options)
    state = game.new_initial_state(seed=seed)
    claim_trick, stop = rng.integers(4), rng.integers(2 * game.num_players, 5 * game.num_players)
    stop += 5 * game.num_players * (game.num_rounds - 1)
    while True:
        before, legal = state.clone(), state.legal_actions()
        off = [a for a in legal if a < 52 and state.record.led >= 0 and a % 4 != state.record.led]
        folds = [a for a in legal if 52 <= a < 104]
        if 104 in legal and state.record.trick >= claim_trick:
            choice = [104]
        elif off and rng.random() < 0.7:
            choice = off
        else:
            choice = folds if folds and rng.random() < 0.5 else [a for a in legal if a < 104]
        state.apply_action(int(rng.choice(choice)))
        if state.is_terminal():
            return before
        if len(state.history()) >= stop:
            return state


def positions(
    options: dict[str, Any], number: int
) -> Iterator[tuple[int, GameState, int, Table, list[set[Profile]]]]:
    """So many positions that tell something of suits: seed, state, observer, what it sees, the others' profiles."""
    for seed in range(1000):
        state = revealing_state(options, seed)
        observer = seed % state.game.num_players
        table = Table(state.game, state.observation(observer))
        sizes = [4 ** (table.num_held(s) / 2 + table.num_folded(s)) for s in range(1, table.players)]
        if not table.tells_suits() or max(sizes) > 300:
            continue
        profiles = [table.profiles(seat) for seat in range(1, table.players)]
        if prod(len(each) for each in profiles) < 1_000:
            yield seed, state, observer, table, profiles
            number -= 1
        if not number:
            return
    raise AssertionError(f"{number} positions are missing")


def counted(table: Table, records: Iterable[Any], observer: int) -> Counter:
    """How often each combination of profiles has come up."""
    others = range(1, table.players)
    return Counter(tuple(table.profile_of(record, s, observer) for s in others) for record in records)


@pytest.mark.parametrize(
    "options", [*RULES[:3], pytest.param(RULES[3], marks=pytest.mark.slow), *RULES[4:]], ids=str
)
@pytest.mark.slow
def test_worlds_come_up_as_often_as_their_number_says(options: dict[str, Any]) -> None:
    """Suits by seat, hand and folds, and the place of the claimed card, against counting by trying every order."""
    for seed, state, observer, table, profiles in positions(options, 4 if options["num_players"] < 4 else 2):
        drawn = draw(state.game, table.observation, 2000, seed)
        assert chance_of(counted(table, drawn, observer), table.weights(profiles)) > 1e-5


def test_with_a_history_worlds_come_up_as_often_as_their_folds_can_have_been_ordered() -> None:
    """The suits of the folds: each order in which cards can have been folded counts as one, all cards told apart."""
    tested = 0
    for _, state, observer, table, (profiles,) in positions({"num_players": 2, "region": "khmer"}, 40):
        orders = {each: len(table.fold_orders(1, *map(of_suits, each[:2]))) for each in profiles}
        if len({*orders.values()}) == 1:
            continue
        tested += 1
        weights: Counter = Counter()
        for (profile,), number in table.weights([profiles]).items():
            weights[profile[1]] += number * orders[profile]
        history = state.history_observation(observer)
        worlds = [state.game.sample_state(table.observation, seed, history) for seed in range(600)]
        found = Counter(table.profile_of(world.record, 1, observer)[1] for world in worlds)
        assert chance_of(found, weights) > 1e-5
    assert tested > 2


@pytest.mark.slow
def test_each_of_the_possible_worlds_is_as_likely_as_any_other() -> None:
    """Card by card: seat 1 has shown hearts on clubs and diamonds on spades, folded before and claimed between."""
    hands = ["AC AS KC QC JC 10C", "9H 2D 5H 7D 3H 8S"]
    state = start(hands, upturned="2H", side_pot=1, region="khmer", instant_wins=False)
    play(state, "AC, 9H", "AS, fold 8S", "KC, claim, 5H", "QC, fold 7D", "JC")
    game, table = state.game, Table(state.game, state.observation(0))
    possible = set()
    others = [card for card in table.unseen if card[-1] != "C" and card != "3H"]
    for spot in range(4):
        for three in permutations(others, 3):
            four = [*three[:spot], "3H", *three[spot:]]
            if table.agrees(1, four[:2], four[2:]):
                possible.add((frozenset(four[:2]), frozenset(four[2:])))
    counts = Counter(
        (frozenset(cards_in(record.hand[1])), frozenset(cards_in(record.folded[1])))
        for record in draw(game, table.observation, 20_000)
    )
    assert all("3H" in held or "3H" in folds for held, folds in counts)
    assert set(counts) <= possible
    # Too many worlds for each to come up often; sorted by what they hold of a few cards they are few enough.
    for card in ("2D", "3H", "AH", "7S"):
        where = Counter(place(card, world) for world in counts.elements())
        expected = Counter(place(card, world) for world in possible)
        scale = counts.total() / len(possible)
        keys = sorted(expected)
        assert chisquare([where[k] for k in keys], [scale * expected[k] for k in keys]).pvalue > 1e-4


def place(card: str, world: tuple[frozenset[str], frozenset[str]]) -> str:
    held, folds = world
    return "held" if card in held else "folded" if card in folds else "neither"


@pytest.mark.parametrize("observer", range(5))
def test_a_position_that_tells_much_is_drawn_with_every_seed(observer: int) -> None:
    """Four seats have none of three suits, folded before and after, and a card claimed and folded at once."""
    hands = [
        "AC AD AH KH 6C QS", "3D QH 4H AS 7S 3S", "6D 8H 9H 6S 2S 8S", "3C 7H 6H 10S KS 4S", "QD JH 10H JS 5S 9S",
    ]  # fmt: skip
    state = start(hands, upturned="2C", region="khmer", side_pot=1, instant_wins=False)
    play(state, "6C, fold 3D, fold 6D, claim, fold 3C, fold QD", "AC, QH, 8H, 7H, JH", "AD, 4H, 9H, 6H, 10H")
    play(state, "AH, AS, 6S, 10S, JS", "KH, fold 7S, fold 2S, fold KS")
    for seed in range(200):
        drawn = state.game.sample_state(state.observation(observer), seed)
        assert observer == 3 or "3C" in cards_in(drawn.record.folded[3])
        for seat in {1, 2, 3, 4} - {observer}:
            assert {card[-1] for card in cards_in(drawn.record.hand[seat])} == {"S"}


@pytest.mark.parametrize("options", [*RULES, {"num_players": 5, "side_pot": 1, "rounds": 3}], ids=str)
def test_a_world_is_the_state_except_for_what_is_hidden(options: dict[str, Any]) -> None:
    """The tricks are played again from what is seen: who won and led, who is out, who has run out of which suit."""
    for seed in range(20):
        state = revealing_state(options, seed)
        known, players = state.record, state.game.num_players
        for seat in range(players):
            (world,) = draw(state.game, state.observation(seat), 1, seed)
            for name in PUBLIC:
                assert np.array_equal(world[name], known[name]), name
            for name in BY_SEAT:
                assert np.array_equal(world[name][:players], known[name][:players]), name
            assert all(world[name][seat] == known[name][seat] for name in ("hand", "folded", "chosen"))
            assert np.array_equal(world["chosen"] != -1, known["chosen"] != -1)


# What the current trick, the claim and a match tell ---------------------------------------------------------------


def test_scores_and_side_pot_of_a_long_match_are_drawn_as_they_are() -> None:
    """Far more than an int8 holds: they are told in full, and only where they can come up."""
    for options in (
        {},
        {"num_players": 6, "rounds": "match"},
        {"num_players": 2, "rounds": 2, "side_pot": 62},
    ):
        assert "exact_scores" not in make_game("cat_te_v0", **options).observation_layout
    game = make_game("cat_te_v0", num_players=6, side_pot=100, rounds=127, region="khmer")
    assert list(game.observation_layout)[-1] == list(game.state_layout)[-1] == "exact_scores"
    state = game.new_initial_state(seed=0)
    rng = np.random.default_rng(0)
    while state.record.rounds_left > 0:
        claims = 104 in state.legal_actions() and state.record.rounds_ended >= 100
        legal = [104] if claims else [a for a in state.legal_actions() if a < 104]
        state.apply_action(int(rng.choice(legal)))
        if state.round_ended:
            assert [state.info(seat)["score"] for seat in range(6)] == state.rewards()
            assert sum(state.returns()) == 600 - state.record.pot, (
                "what is paid in is won or still in the pot"
            )
        if state.round_ended and state.record.rounds_ended % 21 == 0:
            for seat in range(6):
                (drawn,) = draw(game, state.observation(seat), 1)
                assert drawn.scores.tolist() == state.record.scores.tolist()
                assert drawn.pot == state.record.pot
    assert max(state.record.scores) > 2**15
    assert min(state.record.scores) < -(2**13)


# Pasts -----------------------------------------------------------------------------------------------------------


def check_past(state: GameState, world: np.record, seed: int) -> list[float]:
    """Compare 300 pasts of one world with the orders of its folds, found by trying; how even they come, by seat."""
    game, observer = state.game, state.current_player
    table, history = Table(game, state.observation(observer)), state.history_observation(observer)
    worlds = make_vec("cat_te_v0", 300, seed=seed, auto_deal=False, **game.options)
    worlds.set_states([world.clone() for _ in range(300)])  # each has a generator of its own
    past = game.rewind(worlds, history)
    movers, chances, orders, unordered = history[: len(state.history()), 0], [], 1, 1
    for seat in range(1, table.players):
        held, folded, _ = hidden(world.record, (seat + observer) % table.players)
        wanted = table.fold_orders(seat, held, folded)
        rows = past.actions[:, : len(movers)][:, movers == seat]
        found = Counter(tuple(DECK[a - 52] for a in row if 52 <= a < 104) for row in rows.tolist())
        assert set(found) <= set(wanted)
        orders *= len(wanted)
        unordered *= factorial(len(folded))
        if len(wanted) > 1:
            chances.append(float(chisquare([found[order] for order in wanted]).pvalue))
    assert past.importance_weights.tolist() == [orders] * 300
    assert past.acceptance == pytest.approx(orders / unordered)
    return chances


def test_a_past_has_any_order_of_folds_that_can_have_been_as_often_and_counts_them() -> None:
    chances = []
    for seed in range(30):
        state = revealing_state(RULES[seed % 3], seed)
        world = state.game.sample_state(state.observation(state.current_player), seed)
        chances += check_past(state, world, seed)
    assert len(chances) > 15
    assert min(chances) > 1e-5


def test_in_a_past_the_claimed_card_is_folded_after_the_claim() -> None:
    """In the second trick or the third: 6C tells that no spade is left in the fourth."""
    hands = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 6C 10H"]
    state = start(hands, upturned="4S", side_pot=1, region="khmer", instant_wins=False)
    play(state, "AS, fold 2C", "KS, claim, fold 5S", "QS, fold 3C", "JS, 6C")
    world = state.game.sample_state(state.observation(0), 0)
    assert "5S" in cards_in(world.record.folded[1])
    table = Table(state.game, state.observation(0))
    held, folded, _ = hidden(world.record, 1)
    assert len(table.fold_orders(1, held, folded)) == 4  # of six
    assert min(check_past(state, world, 1)) > 1e-5
