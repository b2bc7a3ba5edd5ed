"""What a seat cannot see: the initial board before it is drawn, and the boards that a game can have begun on.

During the game nothing is hidden, so an observation is consistent with a single state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np

from catbox_env.core.bits import one_hot_index
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.draws import Draws
from catbox_env.games.petrify.observe.observation import read_position
from catbox_env.games.petrify.play.board import all_can_move
from catbox_env.games.petrify.play.kernels import begin_play
from catbox_env.games.petrify.play.state import STATE, TILE_NAMES, WALL_TILE, ZERO_TILE
from catbox_env.games.petrify.rules import (
    NUM_NUMBER_COLORS,
    NUM_SYMBOLS,
    NUMBER_TILES,
    Deal,
    Rules,
    special_tiles,
)


class BoardDraws(Draws):
    """The draws of Petrify under ``rules``: the tile of each cell, then the cell of each player."""

    def __init__(self, rules: Rules, params: np.ndarray) -> None:
        self.rules, self.params = rules, params
        self.deck = Counter(_number_tile(i) for i in range(rules.num_cells))
        self.specials = Counter(TILE_NAMES.index(name) for name in special_tiles(rules))
        self.length = rules.num_cells + rules.num_players
        self.num_values = max(len(TILE_NAMES), rules.num_cells)

    def weights(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, int]]:
        cells = self.rules.num_cells
        if len(drawn) < cells:
            return _next_tiles(self.deck, self.specials, cells, drawn)
        if len(drawn) == self.length:
            return []
        tiles, taken = drawn[:cells], drawn[cells:]
        return [(c, 1) for c, tile in enumerate(tiles) if tile in _BEGIN_ON and c not in taken]

    def deal(self, drawn: Sequence[int], first_round: bool) -> Deal:
        size, cells = self.rules.size, self.rules.num_cells
        names = [TILE_NAMES[tile] for tile in drawn[:cells]]
        return Deal([names[first : first + size] for first in range(0, cells, size)], list(drawn[cells:]))

    def drawn(self, deal: dict[str, Any], first_round: bool) -> list[int]:
        return [TILE_NAMES.index(name) for row in deal["tiles"] for name in row] + list(deal["positions"])

    def to_string(self, drawn: Sequence[int], draw: int, first_round: bool) -> str:
        cells = self.rules.num_cells
        if len(drawn) < cells:
            return f"tile {TILE_NAMES[draw]} on {self.rules.cell_name(len(drawn))}"
        return f"player_{len(drawn) - cells} on {self.rules.cell_name(draw)}"

    def is_possible(self, drawn: Sequence[int]) -> bool:
        """Whether every player could move if it were first, as in `kernels.deal`."""
        states, cells = np.zeros(1, STATE), self.rules.num_cells
        states[0].tile[:cells] = drawn[:cells]
        states[0].position[: self.rules.num_players] = drawn[cells:]
        return bool(_can_begin(self.params, states))

    def deals_before(self, state: np.record, actions: Sequence[int]) -> Iterator[Deal]:
        """Deals from which ``actions`` may lead to ``state``; not all of them do.

        A player leaves a cell only if it closes or another player takes it. So the initial positions are the cells that
        are closed or occupied now and that no action led to. A zero on which a player landed is now a copy of another
        tile.
        """
        tiles = state.tile[: self.rules.num_cells].tolist()
        landed, left = set(actions), set(state.position[: self.rules.num_players].tolist())
        left |= {c for c, tile in enumerate(tiles) if not int(state.open) >> c & 1 and tile != WALL_TILE}
        starts = sorted(left - landed)
        if len(starts) != self.rules.num_players:
            return
        for zeros in combinations(sorted(landed), max(0, self.rules.zeros - tiles.count(ZERO_TILE))):
            laid = [ZERO_TILE if cell in zeros else tile for cell, tile in enumerate(tiles)]
            for positions in permutations(starts):
                yield self.deal([*laid, *positions], True)


#: Tiles that a player can begin on.
_BEGIN_ON = {TILE_NAMES.index(name) for name in (*NUMBER_TILES, "*")}


def _number_tile(i: int) -> int:
    """The tile of the i-th card of the deck, as `kernels.lay_tiles` makes it."""
    return i % NUM_SYMBOLS * NUM_NUMBER_COLORS + i // NUM_SYMBOLS % NUM_NUMBER_COLORS


def _next_tiles(
    deck: Counter[int], specials: Counter[int], cells: int, laid: Sequence[int]
) -> list[tuple[int, int]]:
    """The tiles that can lie on the next of ``cells`` after ``laid``, with weights.

    All ``specials`` and random cards of ``deck`` that fill the remaining cells are shuffled.
    """
    left, specials_left = deck.copy(), specials.copy()
    for tile in laid:
        (left if tile in deck else specials_left)[tile] -= 1
    numbers = cells - len(laid) - specials_left.total()
    weights = {tile: numbers * number for tile, number in left.items()}
    weights |= {tile: left.total() * number for tile, number in specials_left.items()}
    return sorted((tile, weight) for tile, weight in weights.items() if weight)


@cached_njit
def _can_begin(params, states):
    """Whether every player could move if it were first."""
    begin_play(params[0], states[0])
    return all_can_move(params[0], states[0])


@njit
def sample(params, observation, generators, states):
    """Set each of ``states`` (M,) to the position that ``observation`` (O,) shows; 1 if no seat is to move in it."""
    if len(states) == 0:
        return 0
    observer = max(0, one_hot_index(observation, params.at.seat, params.num_players))
    read_position(params, observation, observer, states[0])
    if states[0].current_player < 0:
        return 1
    for i in range(1, len(states)):
        states[i] = states[0]
    return 0
