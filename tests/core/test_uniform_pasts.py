"""Of the pasts that a state can be drawn with, every one is as likely, with all cards told apart."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from catbox_env import Game, GameState, make_game
from catbox_env.core.kernels import HIDDEN, UNUSED
from catbox_env.core.past import sample_past
from tests.core.game_cases import played

# Cat in the Box: every deal and every discard, with each card told apart.


def multiplicity(state: GameState, action: int) -> int:
    """From how many cards ``action`` takes one."""
    rules = state.game.rules
    if action < rules.num_ranks:
        return int(state.record.hand[state.current_player, action])
    if rules.first_play <= action < rules.paradox:
        return int(state.record.hand[state.current_player, (action - rules.first_play) % rules.num_ranks])
    return 1


def replayed(
    game: Game, deal: Any, shown: np.ndarray, observer: int, later: GameState | None
) -> dict[tuple, float]:
    """How many times each list of actions that looks like ``shown`` (n, 2) can be played, with all cards told apart.

    ``later``: the round that follows has to have this seat to move, and these scores; None: the round goes on.
    """
    found: dict[tuple, float] = {}

    def follow(state: GameState, done: list[int], ways: float) -> None:
        if len(done) == len(shown):
            if (later is not None) == state.round_ended:
                found[tuple(done)] = found.get(tuple(done), 0.0) + ways
            return
        seat, action = shown[len(done)]
        if (state.current_player - observer) % game.num_players != seat or (done and state.round_ended):
            return
        legal = state.legal_actions()
        for each in [action] if action != HIDDEN else [a for a in legal if a < game.rules.num_ranks]:
            if each in legal:
                after = state.clone()
                after.apply_action(int(each))
                follow(after, [*done, int(each)], ways * multiplicity(state, int(each)))

    follow(game.new_initial_state(seed=0, deal=deal), [], 1.0)
    return found


def compared(drawn: Counter, weights: dict[Any, float]) -> float:
    """The chance of numbers like ``drawn`` under ``weights``; fails for what cannot be drawn."""
    assert set(drawn) <= set(weights), "drawn, but not possible"
    total, number = sum(weights.values()), drawn.total()
    expected = {key: number * weight / total for key, weight in weights.items()}
    often = [key for key in weights if expected[key] >= 5]
    observed, wanted = [drawn[key] for key in often], [expected[key] for key in often]
    if number - sum(wanted) > 1e-6:
        observed, wanted = [*observed, number - sum(observed)], [*wanted, number - sum(wanted)]
    return float(chisquare(observed, wanted).pvalue) if len(wanted) > 1 else 1.0


def dealt(deal: Any, game: Game) -> tuple:
    """A deal of Cat in the Box or its dict as a key."""
    if isinstance(deal, dict):
        return (*map(tuple, deal["hands"]), tuple(deal.get("revealed", ())))
    return (*map(tuple, deal.hands), tuple(deal.revealed))


def begun_deals(game: Game) -> list[tuple[Any, float, list[np.ndarray]]]:
    """Every deal with its probability, and what each seat sees of it."""
    found = []
    for deal, probability in game.chance_outcomes():
        state = game.new_initial_state(seed=0, deal=deal)
        found.append((deal, probability, [state.observation(seat) for seat in range(game.num_players)]))
    return found


SMALL = {
    "num_players": 2,
    "num_ranks": 3,
    "num_colors": 2,
    "copies": 3,
    "hand_size": 4,
    "revealed_cards": 0,
    "bids": (),
}
SHORT = {**SMALL, "num_ranks": 4, "copies": 2, "hand_size": 3, "revealed_cards": 1}


def check_round(
    game: Game, state: GameState, observer: int, start: np.ndarray, deals: list, count: int
) -> float:
    """The chance of what is drawn for ``observer``, who saw ``start`` at the beginning of the only round."""
    seen, history = state.observation(observer), state.history_observation(observer)
    shown = history[history[:, 0] != UNUSED]
    weights: dict[tuple, float] = {}
    for deal, probability, seen_first in deals:
        if np.array_equal(seen_first[observer], start):
            for actions, ways in replayed(game, deal, shown, observer, None).items():
                weights[dealt(deal, game), actions] = probability * ways
    drawn = Counter()
    for seed in range(count if len(weights) > 1 else 1):
        _, (round_,) = sample_past(game, seen[None], seed, history)
        drawn[dealt(round_.deal, game), tuple(round_.actions)] += 1
    return compared(drawn, weights)


@pytest.mark.parametrize("options", [
    pytest.param(SMALL, marks=pytest.mark.slow),
    {**SHORT, "bids": (0, 1)},
    pytest.param({**SMALL, "num_players": 3, "hand_size": 3}, marks=pytest.mark.slow),
])  # fmt: skip
def test_every_past_of_a_round_of_cat_in_the_box_is_as_likely(options: dict[str, Any]) -> None:
    game = make_game("cat_in_the_box_v0", **options)
    deals = begun_deals(game)
    for seed in range(10):
        state, (begun,) = played(game, seed)
        observer = seed % game.num_players
        assert check_round(game, state, observer, begun.observation(observer), deals, 300) > 1e-5


@pytest.mark.slow
def test_a_past_with_a_red_lead_that_was_forced_is_as_likely_as_any_other() -> None:
    """The observation tells the others which ranks are left to the leader, so the history excludes no world."""
    options = {"num_players": 3, "num_ranks": 5, "num_colors": 2, "copies": 3, "hand_size": 5, "bids": ()}
    game = make_game("cat_in_the_box_v0", **options)
    deals = begun_deals(game)
    for seed in (258, 9236):
        state, (begun,) = played(game, seed, 9)
        assert state.record.forced_leader >= 0
        for observer in (state.current_player, int(state.record.forced_leader)):
            assert check_round(game, state, observer, begun.observation(observer), deals, 500) > 1e-5
        worlds = game.sample_states(state.observation(state.current_player), 200, seed=1)
        assert (
            game.rewind(worlds, state.history_observation(state.current_player)).importance_weights > 0
        ).all()


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True])
def test_every_past_of_an_earlier_round_of_cat_in_the_box_is_as_likely(known: bool) -> None:
    game = make_game("cat_in_the_box_v0", **SHORT, rounds=2)
    deals, smallest, tested = begun_deals(game), 1.0, 0
    for seed in range(12):
        state, begun = played(game, seed, 6)
        if len(begun) != 2:
            continue
        observer = seed % 2
        history = state.history_observation(observer)
        first = len(begun[1].history())
        weights: dict[tuple, float] = {}
        for deal, probability, seen_first in deals:
            if known and not np.array_equal(seen_first[observer], begun[0].observation(observer)):
                continue
            for actions, ways in replayed(game, deal, history[:first], observer, state).items():
                weights[dealt(deal, game), actions] = probability * ways
        drawn = Counter()
        seen = np.stack([each.observation(observer) for each in begun]) if known else None
        for i in range(300):
            _, rounds = sample_past(game, state.observation(observer)[None], i, history, seen)
            drawn[dealt(rounds[0].deal, game), tuple(rounds[0].actions)] += 1
        tested += len(weights) > 1
        smallest = min(smallest, compared(drawn, weights))
    assert tested > 3
    assert smallest > 1e-5


# Cat Te: too many cards to list; against drawing all hidden cards at random until they can be.


def deal_at_random(
    game: Game, state: GameState, begun: GameState, observer: int, rng: np.random.Generator, own: bool
) -> list[int] | None:
    """The actions of a random deal of the round from ``begun`` to ``state``, if it looks the same to ``observer``."""
    first = len(begun.history())
    last = first + len(state.history()[first:])
    shown = state.history_observation(observer)[first:last]
    hands: list[list[int]] = [[] for _ in range(game.num_players)]
    slots: list[int] = []
    for i, (seat, action) in enumerate(shown):
        if action == HIDDEN:
            slots.append(i)
        elif action < 104:
            hands[(seat + observer) % game.num_players].append(int(action) % 52)
    if own:
        hands[observer] = game.deal_of(begun.record)["hands"][observer]
    unseen = sorted(set(range(52)) - {card for hand in hands for card in hand})
    order = rng.permutation(unseen).tolist()
    actions = [int(action) for action in shown[:, 1]]
    for i in slots:
        card = order.pop()
        hands[(int(shown[i, 0]) + observer) % game.num_players].append(card)
        actions[i] = card + 52  # khmer: nothing is chosen blind
    deal = {"hands": [hand + [order.pop() for _ in range(6 - len(hand))] for hand in hands]}
    trial = begun.__deepcopy__({})
    game.set_deal(trial.record, deal)
    for action in actions:
        if action not in trial.legal_actions():
            return None
        trial.apply_action(action)
    same = np.array_equal(trial.history_observation(observer), state.history_observation(observer))
    if same and not trial.round_ended:
        same = np.array_equal(trial.observation(observer), state.observation(observer))
    return actions if same else None


def suits_of_folds(actions: list[int], shown: np.ndarray) -> tuple[int, ...]:
    """The suits of the hidden folds, in their order, as far as the third."""
    return tuple(a % 4 for a, hidden in zip(actions, shown[:, 1] == HIDDEN, strict=True) if hidden)[:3]


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [False, True])
def test_every_past_of_cat_te_is_as_likely(earlier: bool) -> None:
    game = make_game("cat_te_v0", num_players=2, region="khmer", rounds=2, instant_wins=False)
    tested, smallest = 0, 1.0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        state, begun = game.new_initial_state(seed=seed), []
        begun.append(state.clone())
        while len(state.history()) < (13 if earlier else 9):
            legal = state.legal_actions()
            off = [a for a in legal if a < 52 and state.record.led >= 0 and a % 4 != state.record.led]
            folds = [a for a in legal if a >= 52]
            state.apply_action(
                int(rng.choice(off if off else folds if folds and rng.random() < 0.5 else legal))
            )
            if state.round_ended:
                begun.append(state.clone())
        observer = seed % 2
        end = begun[1] if earlier else state
        shown = end.history_observation(observer)[: len(end.history())]
        void = any(a >= 0 and a < 52 for a in shown[1::2, 1]) and (shown[:, 1] == HIDDEN).sum() in (2, 3)
        if not void:
            continue
        wanted: Counter = Counter()
        for _ in range(4000):
            actions = deal_at_random(game, end, begun[0], observer, rng, own=not earlier)
            if actions is not None:
                wanted[suits_of_folds(actions, shown)] += 1
        if wanted.total() < 200 or len(wanted) < 3:
            continue
        tested += 1
        found: Counter = Counter()
        history = state.history_observation(observer)
        for i in range(wanted.total()):
            _, rounds = sample_past(game, state.observation(observer)[None], i, history)
            found[suits_of_folds(rounds[0].actions[: len(shown)], shown)] += 1
        keys = [key for key in wanted | found if wanted[key] + found[key] >= 10]
        table = [[wanted[key] for key in keys], [found[key] for key in keys]]
        smallest = min(smallest, chi2_contingency(table).pvalue)
        if tested == 2:
            break
    assert tested == 2
    assert smallest > 1e-4


# Petrify: every board and every place.


@pytest.mark.parametrize("options", [
    {"num_players": 2, "size": 3, "move_rule": "up_to"},
    pytest.param({"num_players": 3, "size": 3, "wildcards": 4}, marks=pytest.mark.slow),
    pytest.param({"num_players": 2, "size": 3, "zeros": 2, "wildcards": 7}, marks=pytest.mark.slow),
    {"num_players": 2, "size": 3, "teleports": 2, "wildcards": 5},
])  # fmt: skip
def test_every_board_that_a_game_of_petrify_can_have_begun_on_is_as_likely(options: dict[str, Any]) -> None:
    game = make_game("petrify_v0", **options)
    several, smallest = 0, 1.0
    for seed in range(12):
        state, _ = played(game, seed)
        actions, seen = state.history(), state.observation(0)
        names = [name for row in game.deal_of(state.record)["tiles"] for name in row]
        zeros, weights = options.get("zeros", 0) - names.count("0"), dict[tuple, float]()
        for cells in itertools.combinations(range(9), zeros):
            tiles = ["0" if cell in cells else name for cell, name in enumerate(names)]
            rows = [tiles[first : first + 3] for first in (0, 3, 6)]
            for positions in itertools.permutations(range(9), game.num_players):
                try:
                    trial = game.new_initial_state(seed=0, deal={"tiles": rows, "positions": positions})
                    for action in actions:
                        trial.apply_action(action)
                except ValueError:
                    continue
                if np.array_equal(trial.observation(0), seen):
                    weights[tuple(tiles), positions] = 1.0
        assert weights
        drawn = Counter()
        for i in range(60):
            _, (round_,) = sample_past(game, seen[None], i, state.history_observation(0))
            tiles = tuple(name for row in round_.deal["tiles"] for name in row)
            drawn[tiles, tuple(round_.deal["positions"])] += 1
        several += len(weights) > 1
        smallest = min(smallest, compared(drawn, weights))
    assert several
    assert smallest > 1e-4
