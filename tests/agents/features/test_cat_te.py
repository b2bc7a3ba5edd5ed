"""Features of Cat Te against a slow reference, which looks at the state and not at the observation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import GameState, make_game
from catbox_env.games.cat_te.rules import Rules
from tests.agents.features.comparing import check_features, features_of
from tests.cat_te.positions import move_id, play, start
from tests.games.rule_sets import RULES

DECK = range(52)
FOLD, CLAIM, SHOW = 52, 104, 105


def members(cards: int) -> set[int]:
    return {card for card in DECK if int(cards) >> card & 1}


class Position:
    """What ``seat`` knows, from the state."""

    def __init__(self, state: GameState, seat: int, voids: set[tuple[int, int]]) -> None:
        self.seat, self.record, self.rules = seat, state.record, state.game.rules
        record, players = self.record, self.rules.num_players
        self.seats = [(seat + i) % players for i in range(players)]
        self.voids = voids
        self.hand = members(record.hand[seat])
        shown = {int(card) for card in record.faceup[:players].ravel() if card >= 0}
        own = members(record.folded[seat]) | {int(record.chosen[seat]), int(record.upturned)}
        self.unseen = set(DECK) - self.hand - shown - own
        self.trick, self.led = int(record.trick), int(record.led)
        on_table = {s: int(record.faceup[s, self.trick]) for s in self.seats}
        suited = {s: card for s, card in on_table.items() if card >= 0 and card % 4 == self.led}
        self.winner = max(suited, key=lambda s: suited[s], default=None)
        self.best = suited[self.winner] if suited else -1
        turns = [(int(record.leader) + i) % players for i in range(players)]
        later = turns[turns.index(int(record.current_player)) :]
        if self.rules.eliminates and self.trick == 4:
            later = [s for s in turns if s != record.leader or s in later]
        self.rivals = sum(bool(record.in_round[s]) for s in later if s != seat)

    def above(self, cards: set[int], card: int) -> int:
        return sum(other > card and other % 4 == card % 4 for other in cards)

    def swept(self, seat: int) -> bool:
        won = self.record.winners.tolist().count(seat)
        return bool(self.trick and won == self.trick and self.record.in_round[seat])

    def features(self) -> dict[str, list]:
        suits = [{card for card in self.hand if card % 4 == suit} for suit in range(4)]
        return {
            "suit_cards": [len(suit) for suit in suits],
            "unseen": [sum(card % 4 == suit for card in self.unseen) for suit in range(4)],
            "masters": [sum(self.above(self.unseen, card) == 0 for card in suit) for suit in suits],
            "above_best": [self.above(self.unseen, max(suit)) if suit else 13 for suit in suits],
            "voids": [[int((s, suit) in self.voids) for suit in range(4)] for s in self.seats],
            "swept": [int(self.swept(s)) for s in self.seats],
            "others_in": [sum(int(self.record.in_round[s]) for s in self.seats[1:])],
            "winning": [int(s == self.winner) for s in self.seats],
            "best_rank": [self.best // 4 + 1],
            "beaters": [self.above(self.unseen, self.best) if self.best >= 0 else 0],
            "own_beaters": [self.above(self.hand, self.best) if self.best >= 0 else 0],
            "rivals": [self.rivals],
        }

    def action_features(self, action: int) -> dict[str, int]:
        """The features of a legal action that are not 0."""
        if action >= CLAIM:
            return {"claims": 1} if action == CLAIM else {"shows": 1}
        card, face_up = action % FOLD, action < FOLD
        leads = self.led < 0
        wins = face_up and (leads or (card % 4 == self.led and card > self.best))
        above = self.above(self.unseen, card)
        left = self.hand - {card}
        early = self.rules.eliminates and self.trick < 4
        found = {
            "rank": card // 4 + 1,
            "face_up": face_up,
            "follows": leads or card % 4 == self.led,
            "above": above,
            "below": sum(other < card and other % 4 == card % 4 for other in self.unseen),
            "wins_now": wins,
            "rivals": wins * self.rivals,
            "wins_surely": wins and (not self.rivals or not above),
            "stays_in": wins and early and self.seat not in self.record.winners[:4],
            "stops_sweep": wins and early and not leads and self.swept(self.winner),
            "suit_left": sum(other % 4 == card % 4 for other in left),
            "masters_left": sum(self.above(self.unseen, other) == 0 for other in left),
            "above_best_left": min((self.above(self.unseen, other) for other in left), default=13),
        }
        return {name: int(number) for name, number in found.items() if number}


def check_game(rules: Rules, seed: int) -> None:
    voids: set[tuple[int, int]] = set()  # who had to show that it has no card of a suit

    def watch(state: GameState, action: int) -> None:
        record = state.record
        after = state.clone()
        after.apply_action(action)
        blind = rules.eliminates and record.trick == 4
        if record.led >= 0 and action < FOLD and action % 4 != record.led and not blind:
            voids.add((int(record.current_player), int(record.led)))
        if after.round_ended:
            voids.clear()

    game = make_game("cat_te_v0", rules=rules)
    check_features(game, seed, lambda state, seat: Position(state, seat, voids), watch)


@settings(max_examples=60)
@given(rules=RULES["cat_te_v0"], seed=st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_every_rule_set_agrees_with_the_reference(rules: Rules, seed: int) -> None:
    check_game(rules, seed)


@pytest.mark.nojit
def test_the_functions_without_compilation_agree_with_the_reference() -> None:
    check_game(Rules(num_players=3, side_pot=1), seed=0)
    check_game(Rules(num_players=2, region="khmer"), seed=1)


def test_a_card_that_stops_a_sweep_is_marked() -> None:
    state = start(["AS KS QS JS 2C 3C", "10S 9S 8S AC 4D 5D", "7D 8D 9D 10D 2H 3H"])
    play(state, "AS, fold 4D, fold 2H", "KS, fold 5D, 7D")
    parts, _ = features_of(state, 0)
    assert parts["swept"] == [1, 0, 0]
    assert parts["voids"] == [[0] * 4, [0] * 4, [0, 0, 0, 1]]  # seat 2 showed a diamond to a spade
    play(state, "2C")
    _, actions = features_of(state, 1)
    assert actions[move_id("AC")]["stops_sweep"] == 1
    assert actions[move_id("AC")]["stays_in"] == 1
    assert actions[move_id("AC")]["wins_surely"] == 1
    assert "wins_now" not in actions[move_id("fold 8S")]
