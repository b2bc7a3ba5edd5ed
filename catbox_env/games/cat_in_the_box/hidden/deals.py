"""How a round is dealt, draw by draw: the start player if random, then each hand and the revealed cards.

A draw is a rank index, or the start player. The cards of a hand are drawn in ascending order, so that each hand has a
unique sequence, with the probability of the hand in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb
from typing import Any

from catbox_env.core.draws import Draws
from catbox_env.games.cat_in_the_box.rules import Deal, Rules


class CardDraws(Draws):
    """The draws of Cat in the Box under ``rules``."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.random_start = rules.start_player == "random"
        self.sizes = [*[rules.hand_size] * rules.num_players, rules.revealed_cards]
        self.length = sum(self.sizes) + self.random_start
        self.num_values = max(rules.num_ranks, rules.num_players) if self.random_start else rules.num_ranks

    def _parts(self, drawn: Sequence[int], first_round: bool) -> tuple[int | None, list[list[int]]]:
        """The start player, None if not among ``drawn``, and the ranks so far of each hand and of the revealed
        cards."""
        start = None
        if first_round and self.random_start:
            start, drawn = (drawn[0] if len(drawn) else None), drawn[1:]
        parts, first = [], 0
        for size in self.sizes:
            parts.append(list(drawn[first : first + size]))
            first += size
        return start, parts

    def weights(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, int]]:
        start, parts = self._parts(drawn, first_round)
        if first_round and self.random_start and start is None:
            return [(seat, 1) for seat in range(self.rules.num_players)]
        left = [self.rules.copies] * self.rules.num_ranks
        for part, size in zip(parts, self.sizes, strict=True):
            if len(part) < size:
                return _next_ranks(left, part, size)
            for rank in part:
                left[rank] -= 1
        return []

    def deal(self, drawn: Sequence[int], first_round: bool) -> Deal:
        start, (*hands, revealed) = self._parts(drawn, first_round)
        printed = [[rank + 1 for rank in hand] for hand in hands]
        return Deal(printed, [rank + 1 for rank in revealed], start)

    def drawn(self, deal: dict[str, Any], first_round: bool) -> list[int]:
        start = [deal["start_player"]] if first_round and self.random_start else []
        parts = [*deal["hands"], deal.get("revealed", [])]
        return start + [rank - 1 for part in parts for rank in sorted(part)]

    def to_string(self, drawn: Sequence[int], draw: int, first_round: bool) -> str:
        if first_round and self.random_start and not drawn:
            return f"player_{draw} starts"
        seat = (len(drawn) - (first_round and self.random_start)) // self.rules.hand_size
        return f"deal {draw + 1} to player_{seat}" if seat < self.rules.num_players else f"reveal {draw + 1}"


def _next_ranks(left: Sequence[int], part: Sequence[int], size: int) -> list[tuple[int, int]]:
    """The ranks that can follow ``part``, ascending, of ``size`` cards drawn from ``left``; weighted by the number of
    ways to draw them all, with all cards distinct."""
    lowest, held = (part[-1], Counter(part)[part[-1]]) if part else (0, 0)
    below = len(part) - held
    ranks = [(lowest, _ways(left, lowest, held + 1, size - below))]
    for rank in range(lowest + 1, len(left)):
        ranks.append((rank, comb(left[lowest], held) * _ways(left, rank, 1, size - len(part))))
    return [(rank, ways) for rank, ways in ranks if ways]


def _ways(left: Sequence[int], rank: int, least: int, size: int) -> int:
    """The ways to take ``size`` cards of ``rank`` and above, at least ``least`` of them of ``rank``."""
    above = sum(left[rank + 1 :])
    return sum(comb(left[rank], n) * comb(above, size - n) for n in range(least, min(left[rank], size) + 1))
