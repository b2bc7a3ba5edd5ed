"""Every deal of a round, with its weight: what `chance_outcomes` lists."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, prod

from catbox_env.games.cat_in_the_box.rules import Deal, Rules

#: Cards of each rank, from rank 1 on.
Counts = tuple[int, ...]


def weighted_deals(rules: Rules) -> Iterator[tuple[Deal, int]]:
    """Every deal of the first round; its weight is the number of ways to deal it with all cards told apart."""
    sizes = (*[rules.hand_size] * rules.num_players, rules.revealed_cards)
    starts: list[int | None] = [None]
    if rules.start_player == "random":
        starts = list(range(rules.num_players))
    for parts, weight in _split((rules.copies,) * rules.num_ranks, sizes):
        *hands, revealed = ([rank + 1 for rank, n in enumerate(counts) for _ in range(n)] for counts in parts)
        for start in starts:
            yield Deal(hands, revealed, start), weight


def _split(left: Counts, sizes: tuple[int, ...]) -> Iterator[tuple[tuple[Counts, ...], int]]:
    """Every way to take parts of these sizes from the cards ``left``, one after the other, with its weight."""
    if not sizes:
        yield (), 1
        return
    for part in _parts(left, sizes[0]):
        weight = prod(map(comb, left, part))
        remaining = tuple(have - taken for have, taken in zip(left, part, strict=True))
        for parts, ways in _split(remaining, sizes[1:]):
            yield (part, *parts), weight * ways


def _parts(left: Counts, size: int) -> Iterator[Counts]:
    """Every choice of ``size`` of the cards ``left``; those with many cards of low ranks come first."""
    if not left:
        if size == 0:
            yield ()
        return
    for taken in range(min(left[0], size), max(0, size - sum(left[1:])) - 1, -1):
        for others in _parts(left[1:], size - taken):
            yield (taken, *others)
