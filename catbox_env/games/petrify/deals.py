"""Every board with the players' places on it, with its weight: what `chance_outcomes` lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from catbox_env.core.compilation import cached_njit
from catbox_env.games.petrify.kernels import begin_play
from catbox_env.games.petrify.reach import all_can_move
from catbox_env.games.petrify.rules import (
    NUM_NUMBER_COLORS,
    NUM_SYMBOLS,
    NUMBER_TILES,
    Deal,
    Rules,
    special_tiles,
)
from catbox_env.games.petrify.state import STATE, TILE_NAMES


def weighted_deals(rules: Rules, params: np.ndarray) -> Iterator[tuple[Deal, int]]:
    """Every deal; its weight is the number of ways to lay it out with all cards told apart.

    ``params`` (1,): the parameter record. Boards on which somebody could not move are left out, as in `kernels.deal`.
    """
    deck = Counter(NUMBER_TILES[_number_tile(i)] for i in range(rules.num_cells))
    specials = Counter(special_tiles(rules))
    states = np.zeros(1, STATE)
    for tiles, weight in _boards(deck, specials, rules.num_cells):
        valid = [cell for cell, tile in enumerate(tiles) if tile in deck or tile == "*"]
        states[0].tile[: rules.num_cells] = [TILE_NAMES.index(tile) for tile in tiles]
        rows = [tiles[first : first + rules.size] for first in range(0, rules.num_cells, rules.size)]
        for positions in permutations(valid, rules.num_players):
            states[0].position[: rules.num_players] = positions
            if _can_begin(params, states):
                yield Deal(rows, positions), weight


def _number_tile(i: int) -> int:
    """The tile of the i-th card of the deck, as `kernels.lay_tiles` makes it."""
    return i % NUM_SYMBOLS * NUM_NUMBER_COLORS + i // NUM_SYMBOLS % NUM_NUMBER_COLORS


def _boards(deck: Counter[str], specials: Counter[str], cells: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every order of all ``specials`` and as many cards of ``deck`` as fill ``cells``, with its number of ways."""
    if cells == 0:
        yield (), 1
        return
    numbers = cells - specials.total()
    for tile, left in [*(deck.items() if numbers else ()), *specials.items()]:
        if left == 0:
            continue
        # a number card is one of those of its kind; the special tiles of one kind are the same
        pile = deck if tile in deck else specials
        pile[tile] -= 1
        for tiles, weight in _boards(deck, specials, cells - 1):
            yield (tile, *tiles), weight * (left if pile is deck else 1)
        pile[tile] += 1


def deals_before(rules: Rules, state: np.record, actions: Sequence[int]) -> Iterator[Deal]:
    """Deals from which ``actions`` may lead to ``state``; not all of them do.

    A player leaves a place only when its cell is closed, or to another player. So the places at the beginning are those
    that are closed or taken now and where no action led to. A zero where somebody landed is a copy of another tile now.
    """
    names = [TILE_NAMES[tile] for tile in state.tile[: rules.num_cells]]
    landed, taken = set(actions), {int(cell) for cell in state.position[: rules.num_players]}
    closed = {cell for cell in range(rules.num_cells) if not int(state.open) >> cell & 1 and names[cell] != "W"}
    starts = sorted((closed | taken) - landed)
    if len(starts) != rules.num_players:
        return
    for zeros in combinations(sorted(landed), max(0, rules.zeros - names.count("0"))):
        tiles = ["0" if cell in zeros else name for cell, name in enumerate(names)]
        rows = [tiles[first : first + rules.size] for first in range(0, rules.num_cells, rules.size)]
        for positions in permutations(starts):
            yield Deal(rows, positions)


@cached_njit
def _can_begin(params, states):
    """Whether every player could move if it were the first."""
    begin_play(params[0], states[0])
    return all_can_move(params[0], states[0])
