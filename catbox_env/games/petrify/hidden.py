"""What a seat of Petrify cannot see: only the first board, before it is drawn. An observation shows the whole state.

A deal is drawn tile by tile, cell by cell, and then the cell of each player. It is redrawn if a player could not move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb, perm
from typing import Any

import numpy as np

from catbox_env.core.bits import one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.draws import Draws
from catbox_env.core.spec import GameSpec
from catbox_env.games.petrify.observe import read_position
from catbox_env.games.petrify.play import EMPTY, begin_play, holds, kind_of, legal_cells, set_of
from catbox_env.games.petrify.rules import TILES, Deal, Rules
from catbox_env.games.petrify.state import FIRST_TELEPORT, NONE, STATE, TELEPORT, WALL


class BoardDraws(Draws):
    """The draws of a game of Petrify."""

    def __init__(self, game: GameSpec) -> None:
        self.game = game
        self.rules: Rules = game.rules
        rules = self.rules
        self.tiles = Counter(TILES.index(name) for name in rules.deck + rules.specials)
        self.length = rules.num_cells + rules.num_players
        self.num_values = max(len(TILES), rules.num_cells)

    def count(self) -> float:
        """Tile by tile, the ways to lay all special tiles and up to all copies of a number card; then the pawns."""
        cells = self.rules.num_cells
        ways = [1] + [0] * cells  # of laying the tiles so far on this many cells
        for tile, copies in self.tiles.items():
            least = 0 if tile < FIRST_TELEPORT else copies
            ways = [
                sum(comb(n, k) * ways[n - k] for k in range(least, min(copies, n) + 1))
                for n in range(cells + 1)
            ]
        return float(ways[cells] * perm(self.rules.num_start_cells, self.rules.num_players))

    def weights(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, int]]:
        cells = self.rules.num_cells
        if len(drawn) == self.length:
            return []
        if len(drawn) >= cells:
            tiles, taken = drawn[:cells], drawn[cells:]
            starts = [cell for cell, tile in enumerate(tiles) if self.rules.steps(TILES[tile]) != (0, 0)]
            return [(cell, 1) for cell in starts if cell not in taken]
        # All special tiles that are left, and random cards that fill the other cells, are shuffled.
        left = self.tiles.copy()
        left.subtract(drawn)
        specials = sum(number for tile, number in left.items() if tile >= FIRST_TELEPORT)
        cards, places = left.total() - specials, cells - len(drawn) - specials
        weights = [(t, left[t] * (places if t < FIRST_TELEPORT else cards)) for t in sorted(left)]
        return [(tile, weight) for tile, weight in weights if weight]

    def to_deal(self, drawn: Sequence[int], first_round: bool) -> Deal:
        size, cells = self.rules.size, self.rules.num_cells
        names = [TILES[tile] for tile in drawn[:cells]]
        return Deal([names[first : first + size] for first in range(0, cells, size)], list(drawn[cells:]))

    def from_deal(self, deal: dict[str, Any], first_round: bool) -> list[int]:
        return [TILES.index(name) for row in deal["tiles"] for name in row] + list(deal["positions"])

    def to_string(self, drawn: Sequence[int], draw: int, first_round: bool) -> str:
        cells = self.rules.num_cells
        if len(drawn) < cells:
            return f"tile {TILES[draw]} on {self.rules.cell_name(len(drawn))}"
        return f"player_{len(drawn) - cells} on {self.rules.cell_name(draw)}"

    def is_possible(self, drawn: Sequence[int]) -> bool:
        return self.begin(np.zeros(1, STATE)[0], drawn) == NONE

    def begin(self, record: np.record, drawn: Sequence[int]) -> int:
        """Begin a game in ``record`` with the complete deal ``drawn``; see `play.begin_play`."""
        cells = self.rules.num_cells
        record.tile[:cells], record.position[: self.rules.num_players] = drawn[:cells], drawn[cells:]
        return begin_play(self.game.params[0], record)


@njit
def sample(params, observation, generators, states):
    """Set each of ``states`` (M,) to the position that ``observation`` (O,) shows; 1 if it cannot be played."""
    observer = max(0, one_hot_index(observation, params.at.seat, params.num_players))
    read_position(params, observation, observer, states[0])
    if not is_playable(params, states[0]):
        return 1
    for i in range(1, len(states)):
        states[i] = states[0]
    return 0


@njit
def is_playable(params, state):
    """Whether a state that `read_position` has set can be played to its end, within ``max_moves`` actions.

    The walls are as many as the rules say, and closed. Each pawn stands on an open cell of its own, seats that are out
    have the last places, the seat to move is in the game with another one and can move, and the remaining turns, each
    of which closes a cell, are not too many.
    """
    mover = int(state.current_player)
    if mover == NONE or state.place[mover] != NONE:
        return False
    pawns, places, num_in = EMPTY, EMPTY, 0
    for seat in range(params.num_players):
        pawns |= set_of(state.position[seat])
        if state.place[seat] == NONE:
            num_in += 1
        else:
            places |= set_of(state.place[seat])
    last_places = set_of(params.num_players) - set_of(num_in)
    if num_in < 2 or places != last_places or popcount(pawns & state.open) != params.num_players:
        return False
    actions, walls = 1, 0  # actions per turn, at most
    for cell in range(params.num_cells):
        kind = kind_of(int(state.tile[cell]))
        if kind == TELEPORT:
            actions = 2
        elif kind == WALL:
            walls += 1
            if holds(state.open, cell):
                return False
    if walls != params.walls:
        return False
    turns = popcount(state.open) - params.num_players
    if actions * turns + state.teleporting > params.max_moves:
        return False
    return legal_cells(params, state) != EMPTY
