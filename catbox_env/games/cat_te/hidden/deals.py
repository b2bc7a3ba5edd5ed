"""How a round is dealt, draw by draw: the six cards of each hand, then the upturned card if there is one.

A draw is a card. The cards of a hand are drawn in ascending order, so that each hand has a unique sequence, with the
probability of the hand in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

from catbox_env.core.draws import Draws
from catbox_env.games.cat_te.rules import HAND_SIZE, NUM_CARDS, Deal, Rules, card_to_string


class CardDraws(Draws):
    """The draws of Cat Te under ``rules``."""

    num_values = NUM_CARDS

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.length = HAND_SIZE * rules.num_players + bool(rules.side_pot)

    def weights(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, int]]:
        if len(drawn) == self.length:
            return []
        taken = set(drawn)
        left = [card for card in range(NUM_CARDS) if card not in taken]
        held = len(drawn) % HAND_SIZE
        if len(drawn) == HAND_SIZE * self.rules.num_players:  # the upturned card
            return [(card, 1) for card in left]
        if held:
            left = [card for card in left if card > drawn[-1]]
        ways = ((card, comb(len(left) - 1 - i, HAND_SIZE - held - 1)) for i, card in enumerate(left))
        return [(card, number) for card, number in ways if number]

    def deal(self, drawn: Sequence[int], first_round: bool) -> Deal:
        hands = [
            list(drawn[HAND_SIZE * seat : HAND_SIZE * (seat + 1)]) for seat in range(self.rules.num_players)
        ]
        return Deal(hands, drawn[-1] if self.rules.side_pot else None)

    def drawn(self, deal: dict[str, Any], first_round: bool) -> list[int]:
        upturned = [deal["upturned"]] if self.rules.side_pot else []
        return [card for hand in deal["hands"] for card in sorted(hand)] + upturned

    def to_string(self, drawn: Sequence[int], draw: int, first_round: bool) -> str:
        seat = len(drawn) // HAND_SIZE
        card = card_to_string(draw)
        return f"deal {card} to player_{seat}" if seat < self.rules.num_players else f"turn up {card}"
