"""One view of a position of Petrify, for text, events and pictures; all of it is public."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catbox_env.games.petrify.play.state import TILE_NAMES
from catbox_env.games.petrify.rules import NUM_SYMBOLS, Rules

#: A wall and a wildcard, by name.
WALL_NAME, WILDCARD_NAME = "W", "*"


@dataclass(frozen=True)
class View:
    """A position.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        teleporting: whether the mover is to come out of a teleport.
        tiles: the tile of each cell, by name; is_open: whether the cell is not closed.
        positions, places: cell and finishing place of each seat (NONE: not decided).
        pawns: the seat whose pawn stands on a cell: cell -> seat.
    """

    rules: Rules
    mover: int
    teleporting: bool
    tiles: list[str]
    is_open: list[bool]
    positions: list[int]
    places: list[int]
    pawns: dict[int, int]

    @classmethod
    def of(cls, rules: Rules, record: np.record) -> View:
        """The position of the state ``record``."""
        opened, positions = int(record.open), record.position[: rules.num_players].tolist()
        return cls(
            rules=rules,
            mover=int(record.current_player),
            teleporting=bool(record.teleporting),
            tiles=[TILE_NAMES[tile] for tile in record.tile[: rules.num_cells].tolist()],
            is_open=[bool(opened >> cell & 1) for cell in range(rules.num_cells)],
            positions=positions,
            places=record.place[: rules.num_players].tolist(),
            pawns={cell: seat for seat, cell in enumerate(positions)},
        )

    @property
    def turn(self) -> int:
        """The turn under way, from 1. Each turn closes the cell that it begins on."""
        closed = sum(tile == "" for tile in map(self.tile_left, range(self.rules.num_cells)))
        return closed + (0 if self.mover < 0 or self.teleporting else 1)

    def tile_left(self, cell: int) -> str:
        """The tile of ``cell``; "" if the cell was closed during the game."""
        tile = self.tiles[cell]
        return tile if self.is_open[cell] or tile == WALL_NAME else ""

    def tile_under(self, seat: int) -> str:
        """The tile on which the pawn of ``seat`` stands."""
        return self.tiles[self.positions[seat]]

    def walks(self) -> dict[int, list[int]]:
        """For each cell where a walk of the seat to move can end, the cells of a shortest one: end -> [start, .., end].

        Without energy, as in a teleport, there are none.
        """
        size, tile = self.rules.size, self.tile_under(self.mover)
        most = NUM_SYMBOLS if tile == WILDCARD_NAME else int(tile[0]) if "." in tile else 0
        least = most if self.rules.move_rule == "exact" and tile != WILDCARD_NAME else 1
        found: dict[int, list[int]] = {}
        paths = [[self.positions[self.mover]]]
        for steps in range(1, most + 1):
            paths = [
                [*path, cell]
                for path in paths
                for cell in _neighbours(path[-1], size)
                if self.is_open[cell] and cell not in self.pawns and cell not in path
            ]
            for path in paths if steps >= least else ():
                found.setdefault(path[-1], path)
        return found


def _neighbours(cell: int, size: int) -> list[int]:
    row, column = divmod(cell, size)
    around = [(row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1)]
    return [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]


def color_of_tile(tile: str) -> int:
    """The colour of a tile by name, 1 to 4; 0: colourless."""
    return int(tile[-1]) if tile[-1].isdigit() else 0


def colors_matter(rules: Rules) -> bool:
    """Whether a teleport leads to tiles of its colour."""
    return rules.teleports > 1


def tile_in_words(rules: Rules, tile: str) -> str:
    """A tile by name, without a colour that does not matter: ``"3"`` instead of ``"3.2"``."""
    return tile if colors_matter(rules) else tile.partition(".")[0]


def steps_of(rules: Rules, tile: str) -> str:
    """How far a tile lets its player walk: ``"3 steps"``, ``"1\\u20134 steps"``, ``"no steps"``."""
    if tile == WILDCARD_NAME:
        return f"1\u2013{NUM_SYMBOLS} steps"
    symbol = tile[0] if "." in tile else "no"  # of a number card, such as "3.2"
    if symbol == "1":
        return "1 step"
    return f"1\u2013{symbol} steps" if rules.move_rule == "up_to" and symbol != "no" else f"{symbol} steps"
