"""Cat Te: the engine against the slow reference, move by move: masks, observations, history, rewards and statistics.

The cards are shuffled by the engine, and the reference reads each deal from what the seats see. Instant wins come
up once in some hundred hands, and sweeps never by chance, so some first deals hold such a hand, and the players of
a game have a style: how readily they fold, show and claim, and perhaps a seat to which the others leave every trick.
"""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_env
from catbox_env.core.kernels import REWARDS
from tests.cat_te.positions import cards
from tests.cat_te.reference import (
    ACTIONS,
    CLAIM,
    DECK,
    SHOW,
    Deal,
    ReferenceState,
    Rules,
    next_higher,
    rank_of,
    suit_of,
)
from tests.games.compare import NUMBERS_OF_GAMES, compare_games, play_both
from tests.games.rule_sets import RULES

#: What has to come up in 40 games, and in 130.
COMMON = ("show", "shown by a follower", "claim", "blind choice", "off suit, face up", "sweep", "khmer round")
RARE = ("instant win not shown", "claim of a pot carried over", "claim in a blind choice", "players left: 2")

RULE_SETS: list[dict] = [
    {},
    {"region": "khmer"},
    {"region": "vietnamese", "rounds": 3, "side_pot": 1},
    {"instant_wins_double": True, "rounds": 2},
    {"region": "khmer", "side_pot": 3, "rounds": "match"},
    {"offsuit_faceup": False, "side_pot": 100, "rounds": 2},
    {"instant_wins": False, "dealer": 0},
    {"region": "khmer", "offsuit_faceup": False, "instant_wins_double": True, "dealer": 1},
    {"side_pot": 2, "dealer": 1, "rounds": "match"},
]


def read_deal(state, rules: Rules) -> Deal:
    """The deal that the seats see at the start of a round, checked against the deck."""
    views = [
        state.game.observation_layout.unpack(state.observation(seat)) for seat in range(rules.num_players)
    ]
    hands = [cards(parts["hand"]) for parts in views]
    assert [len(hand) for hand in hands] == [6] * rules.num_players
    upturned = None
    if rules.side_pot > 0:
        (upturned,) = cards(views[0]["upturned"])
    known = [card for hand in hands for card in hand] + [upturned]
    assert len(set(known)) == len(known)
    return Deal([sorted(hand, key=DECK.index) for hand in hands], upturned)


def unusual_deal(rules: Rules, rng: random.Random) -> dict:
    """A deal with an instant win in one hand, and mostly with somebody to claim the side pot."""
    rank, suit = rng.choice(DECK)[:-1], rng.choice("CDHS")
    special = {
        "four of a kind": [card for card in DECK if card[:-1] == rank],
        "one suit": [card for card in DECK if suit_of(card) == suit],
        "ace to five": [card for card in DECK if card[:-1] in ("A", "2", "3", "4", "5")],
    }[rng.choice(["four of a kind", "one suit", "ace to five"])]
    first = rng.sample(special, min(6, len(special)))
    rest = [card for card in rng.sample(DECK, 52) if card not in first]
    while len(first) < 6:
        first.append(rest.pop())
    hands = [first] + [[rest.pop() for _ in range(6)] for _ in range(rules.num_players - 1)]
    rng.shuffle(hands)
    deal: dict = {"hands": hands}
    if rules.side_pot > 0:
        dealt = {card for hand in hands for card in hand}
        deal["upturned"] = next((card for card in rest if next_higher(card) in dealt), rest[0])
    return deal


class Style:
    """How the players of one game choose."""

    def __init__(self, rules: Rules, rng: random.Random) -> None:
        self.rng = rng
        self.chance_to_fold = rng.choice([0.0, 0.1, 0.5])
        self.chance_to_show = rng.choice([0.0, 0.5])
        self.chance_to_claim = rng.choice([0.0, 0.3, 1.0])
        self.claims_late = rng.random() < 0.4  # in trick 5, the card kept till then
        self.strong_seat = rng.choice([None, None, rng.randrange(rules.num_players)])

    def draw_action(self, reference: ReferenceState) -> tuple:
        legal = reference.legal_actions()
        if SHOW in legal:
            if self.rng.random() < self.chance_to_show:
                return SHOW
            legal.remove(SHOW)
        if CLAIM in legal:
            if self.rng.random() < self.chance_to_claim and (reference.trick == 5 or not self.claims_late):
                return CLAIM
            legal.remove(CLAIM)
            if self.claims_late:
                card = next_higher(reference.upturned)
                legal = [action for action in legal if card not in action] or legal
        shown = [action for action in legal if action[0] == "play"]
        folds = [action for action in legal if action[0] == "fold"]
        if self.strong_seat is not None:
            of_led_suit = [a for a in shown if reference.led_suit() in (None, suit_of(a[1]))]
            if reference.current_player == self.strong_seat and of_led_suit:
                return max(of_led_suit, key=lambda action: rank_of(action[1]))
            if reference.current_player != self.strong_seat and folds:
                return self.rng.choice(folds)
        if folds and (not shown or self.rng.random() < self.chance_to_fold):
            return self.rng.choice(folds)
        return self.rng.choice(shown)


def note(reference: ReferenceState, action: tuple, seen: Counter) -> Callable[[], None]:
    """Count what is rare, so that a test can say that it was met."""
    player = reference.current_player
    if action in (SHOW, CLAIM):
        seen[action[0]] += 1
    if action == CLAIM and reference.side_pot > len(reference.players) * reference.rules.side_pot:
        seen["claim of a pot carried over"] += 1
    if reference.chooses_blind():
        seen["blind choice"] += 1
        seen["claim in a blind choice"] += action == CLAIM
    elif action[0] == "play" and reference.led_suit() not in (None, suit_of(action[1])):
        seen["off suit, face up"] += 1
    if SHOW in reference.legal_actions() and action[0] in ("play", "fold"):
        seen["instant win not shown"] += 1
    if action == SHOW and player != reference.leader:
        seen["shown by a follower"] += 1

    def note_after() -> None:
        trick = reference.trick if reference.round_ended else None
        seen[f"players left: {len(reference.in_round)}"] += reference.eliminates and trick == 6
        seen["sweep"] += reference.eliminates and trick == 4
        seen["khmer round"] += not reference.eliminates and trick == 6

    return note_after


def compare_game(options: dict, reward: str, seed: int, seen: Counter) -> None:
    """Play one game on both and compare after every action."""
    rng, rules = random.Random(seed), Rules(**options)
    style = Style(rules, rng)
    game = catbox_env.make_game("cat_te_v0", reward=reward, **options)
    given_deal = unusual_deal(rules, rng) if rng.random() < 0.5 else None
    assert [game.action_to_string(action) for action in range(game.num_actions)] == [*map(" ".join, ACTIONS)]
    state = game.new_initial_state(seed=seed, deal=given_deal)
    deal = read_deal(state, rules)
    if given_deal is not None:
        assert [set(hand) for hand in deal.hands] == [set(hand) for hand in given_deal["hands"]]
        assert deal.upturned == given_deal.get("upturned")
    play_both(
        state,
        ReferenceState(rules, deal, reward),
        rng,
        choose=style.draw_action,
        note=lambda reference, action: note(reference, action, seen),
        read_deal=lambda state: read_deal(state, rules),
    )


@pytest.mark.parametrize("games", NUMBERS_OF_GAMES)
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_seeded_games_agree_move_by_move(players, games):
    seen = compare_games(compare_game, players, RULE_SETS, games)
    situations = list(COMMON if games >= 40 else ())
    if games >= 130:
        situations += [*RARE, *(f"players left: {left}" for left in (3, 4) if players >= left)]
    for situation in situations:
        assert seen[situation] > 0, f"{situation} never happened: {dict(seen)}"


@settings(max_examples=40)
@given(rules=RULES["cat_te_v0"], reward=st.sampled_from(REWARDS), seed=st.integers(0, 2**32 - 1))
def test_games_over_random_rule_sets_agree_move_by_move(rules, reward, seed):
    compare_game(vars(rules), reward, seed, Counter())


@pytest.mark.slow
def test_a_long_match_agrees_to_the_end():
    """127 rounds with the largest side pot: scores and pot are shown as far as they fit."""
    compare_game({"num_players": 3, "rounds": 127, "side_pot": 100, "region": "khmer"}, "score", 1, Counter())
    compare_game({"num_players": 6, "rounds": 12, "side_pot": 100}, "margin", 2, Counter())
