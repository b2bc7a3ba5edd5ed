"""What an observation of Cat Te allows the hidden cards to be, found by trying everything, in plain Python.

A card is its name; where only its suit matters, "?S" stands for any spade. Seats are relative: 0 is the observer.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, permutations, product
from math import comb
from typing import Any

import numpy as np

from catbox_env.core.game import Game
from tests.cat_te.positions import cards
from tests.cat_te.reference import DECK, RANKS, SUITS, next_higher, rank_of

#: Suits of the cards in hand and folded (by suit), and whether the claimed card is in the hand (None: not hidden here).
Profile = tuple[tuple[int, ...], tuple[int, ...], bool | None]


@dataclass
class Table:
    """What one seat sees, put in words."""

    game: Game
    observation: np.ndarray

    def __post_init__(self) -> None:
        self.parts = self.game.observation_layout.unpack(self.observation)
        self.players = self.game.num_players
        self.eliminates = self.game.rules.region != "khmer"  # type: ignore[attr-defined]
        self.trick = int(np.argmax(self.parts["trick"]))
        self.shown = [[self.name(row) for row in rows] for rows in self.parts["faceup"]]
        self.leaders = [(int(np.argmax(self.parts["dealer"])) + 1) % self.players]
        for trick in range(self.trick):
            suit = self.shown[self.leaders[-1]][trick][-1]
            best = [s for s in range(self.players) if self.shown[s][trick][-1:] == suit]
            self.leaders.append(max(best, key=lambda s: rank_of(self.shown[s][trick])))
        self.claim: tuple[int, int] | None = None
        self.claimed_card = ""
        if "claimed" in self.parts and self.parts["claimed"].any():
            self.claim = int(np.argmax(self.parts["claimed"])), int(np.argmax(self.parts["claim_trick"]))
            self.claimed_card = next_higher(cards(self.parts["upturned"]).pop()) or ""

    @staticmethod
    def name(row: np.ndarray) -> str:
        return RANKS[np.argmax(row[:13])] + SUITS[np.argmax(row[13:])] if row.any() else ""

    def turns(self, seat: int) -> int:
        """Tricks in which a seat has had its turn."""
        if not self.parts["in_round"][seat]:
            return 4
        leader, mover = self.leaders[-1], int(np.argmax(self.parts["to_move"]))
        return self.trick + ((seat - leader) % self.players < (mover - leader) % self.players)

    def is_blind(self, trick: int) -> bool:
        return self.eliminates and trick == 4

    def num_folded(self, seat: int) -> int:
        return int(self.parts["num_folded"][seat])

    def num_held(self, seat: int) -> int:
        """Cards in hand, a blind choice among them."""
        return 6 - self.num_folded(seat) - sum(card != "" for card in self.shown[seat])

    @cached_property
    def unseen(self) -> list[str]:
        own = cards(self.parts["hand"]) | cards(self.parts["folded"]) | cards(self.parts["chosen"])
        seen = own | {card for row in self.shown for card in row}
        if "upturned" in self.parts:
            seen |= cards(self.parts["upturned"])
        return [card for card in DECK if card not in seen]

    def agrees(self, seat: int, held: list[str], folds: list[str]) -> bool:
        """Whether a seat that holds these cards now, and folded those in this order, can have played as it did."""
        hand = held + folds + [card for card in self.shown[seat] if card]
        waiting = list(folds)
        for trick in range(self.turns(seat) + 1):
            if self.claim == (seat, trick) and self.claimed_card not in hand:
                return False
            if trick == self.turns(seat) or (self.is_blind(trick) and not self.shown[seat][trick]):
                continue
            card = self.shown[seat][trick]
            if not card:
                hand.remove(waiting.pop(0))
                continue
            led = self.shown[self.leaders[trick]][trick][-1]
            off = card[-1] != led and not self.is_blind(trick)
            if off and any(other[-1] == led for other in hand):
                return False
            hand.remove(card)
        return True

    def fold_orders(self, seat: int, held: list[str], folded: list[str]) -> list[tuple[str, ...]]:
        """The orders in which a seat that holds these cards can have folded those."""
        return [order for order in permutations(folded) if self.agrees(seat, held, list(order))]

    def profiles(self, seat: int) -> set[Profile]:
        """Every profile of a seat's hidden cards that agrees with what it did."""
        found = set()
        claims = self.claim is not None and self.claim[0] == seat and self.claimed_card in self.unseen
        num_held, num_folded = self.num_held(seat), self.num_folded(seat)
        for held in combinations_with_replacement([f"?{suit}" for suit in SUITS], num_held):
            for folds in product([f"?{suit}" for suit in SUITS], repeat=num_folded):
                places = range(num_held + num_folded) if claims else [-1]
                for place in places:
                    all_cards = [*held, *folds]
                    if place >= 0:
                        if all_cards[place][-1] != self.claimed_card[-1]:
                            continue
                        all_cards[place] = self.claimed_card
                    if self.agrees(seat, all_cards[:num_held], all_cards[num_held:]):
                        found.add(
                            (by_suit(held), by_suit(folds), place < num_held if claims else None),
                        )
        return found

    def weights(self, profiles: list[set[Profile]]) -> Counter:
        """The number of states for each combination of profiles of the other seats, 1 upwards."""
        unseen = Counter(card[-1] for card in self.unseen)
        total: Counter = Counter()
        for combination in product(*profiles):
            total[combination] = self.number_of_states(combination, dict(unseen))
        return +total

    def tells_suits(self) -> bool:
        """Whether somebody has claimed, or shown a card off suit."""
        return self.claim is not None or any(
            card and not self.is_blind(trick) and card[-1] != self.shown[self.leaders[trick]][trick][-1]
            for row in self.shown
            for trick, card in enumerate(row[: self.trick + 1])
        )

    def number_of_states(self, combination: tuple[Profile, ...], left: dict[str, int]) -> int:
        """Sets of cards with these profiles; any card in hand may be the blind choice."""
        number = 1
        if any(in_hand is not None for _, _, in_hand in combination):
            left[self.claimed_card[-1]] -= 1
        for held, folded, in_hand in combination:
            for counts, has_claimed in ((held, in_hand is True), (folded, in_hand is False)):
                for suit, count in zip(SUITS, counts, strict=True):
                    free = count - (has_claimed and suit == self.claimed_card[-1])
                    if left.get(suit, 0) < free:
                        return 0
                    number *= comb(left.get(suit, 0), free)
                    left[suit] = left.get(suit, 0) - free
        return number

    def profile_of(self, record: Any, seat: int, observer: int) -> Profile:
        """The profile of a seat in a full state."""
        held, folded, _ = hidden(record, (observer + seat) % self.players)
        claims = self.claim is not None and self.claim[0] == seat and self.claimed_card in self.unseen
        assert not claims or self.claimed_card in held + folded
        return by_suit(held), by_suit(folded), self.claimed_card in held if claims else None


def by_suit(names: Any) -> tuple[int, ...]:
    return tuple(sum(name[-1] == suit for name in names) for suit in SUITS)


def of_suits(counts: tuple[int, ...]) -> list[str]:
    return [f"?{suit}" for suit, count in zip(SUITS, counts, strict=True) for _ in range(count)]


def cards_in(number: int) -> list[str]:
    return [card for place, card in enumerate(DECK) if int(number) >> place & 1]


def hidden(record: Any, seat: int) -> tuple[list[str], list[str], str]:
    """The cards that a seat holds, a blind choice among them; those that it has folded; and the choice, or ""."""
    chosen = DECK[record.chosen[seat]] if record.chosen[seat] >= 0 else ""
    held = cards_in(record.hand[seat]) + ([chosen] if chosen else [])
    return held, cards_in(record.folded[seat]), chosen


def draw(game: Game, observation: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """That many states (records) that agree with ``observation``, all of them sound."""
    states = game.sample_states(observation, count, seed)._records
    seen, rows = np.empty((game.num_players, count, len(observation)), np.int8), np.arange(count)
    for seat in range(game.num_players):
        game.loops.write_observations(game.params, states, rows, np.full(count, seat), seen[seat])
    assert (seen == observation).all(axis=(1, 2)).any(), "a seat sees the same in all of them"
    shown = np.concatenate([states["faceup"], states["chosen"][..., None]], axis=2)[:, : game.num_players]
    sets = np.concatenate([states["hand"], states["folded"], one_by_one(shown)], axis=1)
    assert (np.bitwise_count(sets).sum(1, dtype=int) == 6 * game.num_players).all(), "six cards for each seat"
    assert (np.bitwise_count(np.bitwise_or.reduce(sets, axis=1)) == 6 * game.num_players).all(), (
        "no card twice"
    )
    return states


def one_by_one(cards: np.ndarray) -> np.ndarray:
    """Cards (count, ...), -1 for none, as sets of one each (count, places)."""
    flat = cards.reshape(len(cards), -1).astype(np.int64)
    return np.where(flat >= 0, 1 << np.maximum(flat, 0), 0)
