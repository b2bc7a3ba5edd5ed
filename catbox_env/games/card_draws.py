"""Deals of cards as draws: the start player if random, then each hand, and then the cards that are revealed.

The cards of a hand are drawn in ascending order, as are the revealed ones, so that each deal has a unique sequence,
with the probability of its hands in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from catbox_env.core.checks import check_sequence, check_sequences
from catbox_env.core.draws import Draws


class CardDraws(Draws):
    """The draws of a card game. A draw is an index into ``cards``, or the seat of the start player.

    Args:
        num_players: seats, each of which gets ``hand_size`` cards.
        num_revealed: cards that are revealed after the hands.
        cards: the different cards, ascending, as a deal calls them; copies: how many there are of each.
        random_start: whether the start player of the first round is drawn, before all cards.
        make_deal: makes the game's deal of the hands, the revealed cards, and the start player (None: not drawn).
        revealed_in: the revealed cards of a deal as `Game.deal_of` gives it.
        card_to_string: a card in words; reveal: what to reveal one is called.
    """

    def __init__(
        self,
        num_players: int,
        hand_size: int,
        num_revealed: int,
        cards: range,
        make_deal: Callable[[list[list[int]], list[int], int | None], Any],
        revealed_in: Callable[[dict[str, Any]], list[int]],
        *,
        copies: int = 1,
        random_start: bool = False,
        card_to_string: Callable[[int], str] = str,
        reveal: str = "reveal",
    ) -> None:
        self.cards, self.copies, self.random_start = cards, copies, random_start
        self.sizes = [*[hand_size] * num_players, num_revealed]
        self.make_deal, self.revealed_in = make_deal, revealed_in
        self.card_to_string, self.reveal = card_to_string, reveal
        self.length = sum(self.sizes) + random_start
        self.num_values = max(len(cards), num_players) if random_start else len(cards)

    def count(self) -> float:
        """Card by card, the copies go to the hands and the revealed cards, places of limited sizes, or stay undealt."""
        ways = np.zeros([size + 1 for size in self.sizes])
        ways[(0,) * len(self.sizes)] = 1.0
        for _ in self.cards:
            before, ways = ways, np.zeros_like(ways)
            for taken in itertools.product(*(range(min(size, self.copies) + 1) for size in self.sizes)):
                if sum(taken) <= self.copies:
                    shifted = tuple(slice(0, size + 1 - n) for n, size in zip(taken, self.sizes, strict=True))
                    ways[tuple(slice(n, None) for n in taken)] += before[shifted]
        return float(ways[tuple(self.sizes)]) * (len(self.sizes) - 1 if self.random_start else 1)

    def weights(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, int]]:
        starts, places = self._places(drawn, first_round)
        if first_round and self.random_start and not starts:
            return [(seat, 1) for seat in range(len(self.sizes) - 1)]
        left = [self.copies] * len(self.cards)
        for place, size in zip(places, self.sizes, strict=True):
            if len(place) < size:
                return _next_cards(left, place, size)
            for card in place:
                left[card] -= 1
        return []

    def to_deal(self, drawn: Sequence[int], first_round: bool) -> Any:
        starts, places = self._places(drawn, first_round)
        *hands, revealed = [[self.cards[card] for card in place] for place in places]
        return self.make_deal(hands, revealed, starts[0] if starts else None)

    def from_deal(self, deal: dict[str, Any], first_round: bool) -> list[int]:
        start = [deal["start_player"]] if first_round and self.random_start else []
        places = [*deal["hands"], self.revealed_in(deal)]
        return start + [self.cards.index(card) for place in places for card in sorted(place)]

    def complete_hands(
        self,
        hands: Sequence[Any],
        seen: Sequence[Any],
        random: np.random.Generator,
        read: Callable[[Any], Any] = lambda card: card,
    ) -> list[Sequence[Any]]:
        """``hands``, those that are None replaced by random ones of the cards that are neither in another nor among
        ``seen``. ``read``: the card that one of a deal is. What is wrong with a deal is left to its check."""
        check_sequence("hands", hands, "hands")
        known = [hand for hand in hands if hand is not None]
        check_sequences("hands", known, "cards")
        check_sequence("the cards turned up", seen, "cards")
        left = [card for card in self.cards for _ in range(self.copies)]
        for card in map(read, (*itertools.chain(*known), *seen)):
            if card in left:
                left.remove(card)
        random.shuffle(left)
        dealt = iter(left)
        return [list(itertools.islice(dealt, self.sizes[0])) if hand is None else hand for hand in hands]

    def to_string(self, drawn: Sequence[int], draw: int, first_round: bool) -> str:
        starts, places = self._places(drawn, first_round)
        if first_round and self.random_start and not starts:
            return f"player_{draw} starts"
        card = self.card_to_string(self.cards[draw])
        seat = sum(map(len, places)) // self.sizes[0]
        return f"deal {card} to player_{seat}" if seat < len(self.sizes) - 1 else f"{self.reveal} {card}"

    def _places(self, drawn: Sequence[int], first_round: bool) -> tuple[list[int], list[list[int]]]:
        """The start player, if among ``drawn``, and the cards so far of each hand and of those revealed."""
        first = int(first_round and self.random_start)
        ends = [first, *(first + end for end in itertools.accumulate(self.sizes))]
        return list(drawn[:first]), [list(drawn[start:end]) for start, end in itertools.pairwise(ends)]


def _next_cards(left: Sequence[int], place: Sequence[int], size: int) -> list[tuple[int, int]]:
    """The cards that can follow ``place``, ascending, of ``size`` cards drawn from ``left``, the number of each.

    Each is weighted by the number of ways to draw the whole place, with all copies distinct.
    """
    lowest, held = (place[-1], place.count(place[-1])) if place else (0, 0)
    missing, chosen, above = size - len(place), comb(left[lowest], held), 0
    found = []
    for card in range(len(left) - 1, lowest, -1):  # as the first of its kind, with any others of it and above
        ways = comb(above + left[card], missing) - comb(above, missing)
        found.append((card, chosen * ways))
        above += left[card]
    again = range(held + 1, min(left[lowest], missing + held) + 1)
    found.append((lowest, sum(comb(left[lowest], n) * comb(above, missing + held - n) for n in again)))
    return [(card, ways) for card, ways in reversed(found) if ways]
