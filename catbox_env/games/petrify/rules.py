"""The rules of Petrify as data: how many players, how large a board, which tiles, how far a player walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catbox_env.core.checks import (
    check_choice,
    check_integer_field,
    check_sequence,
    check_sequences,
    is_integer,
    short_repr,
)

MAX_PLAYERS, MIN_SIZE, MAX_SIZE = 4, 3, 8
#: Column names of the largest board.
COLUMN_LETTERS = "abcdefgh"
#: Number cards combine symbols 1 .. NUM_SYMBOLS, the energy they give, with colours 1 .. NUM_NUMBER_COLORS.
NUM_SYMBOLS, NUM_NUMBER_COLORS = 4, 4
#: Colour 0 is "colourless"; teleports may have any of the five.
NUM_COLORS = NUM_NUMBER_COLORS + 1
MOVE_RULES = ("exact", "up_to")

#: Names of the kinds of tiles; a kind is an index into this tuple.
KINDS = ("number", "wall", "wildcard", "zero", "teleport")
#: The names of tiles in a ``Deal``; a tile is an index into ``TILES``.
NUMBER_TILES = tuple(f"{s}.{c}" for s in range(1, NUM_SYMBOLS + 1) for c in range(1, NUM_NUMBER_COLORS + 1))
TELEPORT_TILES = tuple(f"T{color}" for color in range(NUM_COLORS))
WALL_NAME, WILDCARD_NAME, ZERO_NAME = "W", "*", "0"
TILES = (*NUMBER_TILES, *TELEPORT_TILES, WALL_NAME, WILDCARD_NAME, ZERO_NAME)


@dataclass(frozen=True)
class Rules:
    """One rule set, validated.

    Attributes:
        num_players: 2-4.
        size: 3-8, the board's rows and columns.
        move_rule: ``"exact"``: a number X takes its player exactly X steps; ``"up_to"``: 1 to X steps. A wildcard
            always gives 1 to 4.
        teleports: tiles from which a pawn goes on to a free tile of their colour: the k-th, from 0, has colour k % 5,
            0 being colourless. They replace number cards, as do the other special tiles.
        walls: tiles that are closed from the beginning, at most ``size``.
        wildcards: tiles that give 1 to 4 steps.
        zeros: tiles that make all pawns change places.

    Raises:
        ValueError: an impossible rule set; the message names the field, the value and the bound.
    """

    num_players: int = 2
    size: int = 4
    move_rule: str = "exact"
    teleports: int = 0
    walls: int = 0
    wildcards: int = 0
    zeros: int = 0

    def __post_init__(self) -> None:
        check_integer_field(self, "num_players", 2, MAX_PLAYERS)
        size = check_integer_field(self, "size", MIN_SIZE, MAX_SIZE)
        check_choice("move_rule", self.move_rule, MOVE_RULES)
        check_integer_field(self, "walls", 0, size, f" (the size, {size})")
        for name in ("teleports", "wildcards", "zeros"):
            check_integer_field(self, name, 0)
        if self.num_start_cells < max(self.num_players, self.wildcards):
            raise ValueError(
                f"teleports={self.teleports}, walls={self.walls}, zeros={self.zeros}: they leave "
                f"{self.num_start_cells} of {self.num_cells} cells for wildcards={self.wildcards} and number cards, on "
                f"which num_players={self.num_players} begin; give fewer special tiles, or a larger size"
            )

    @classmethod
    def full(cls, num_players: int = 2) -> Rules:
        """Every kind of tile on a board of 5 x 5: three teleports, two walls, two wildcards, one zero."""
        return cls(num_players=num_players, size=5, teleports=3, walls=2, wildcards=2, zeros=1)

    @classmethod
    def tiny(cls) -> Rules:
        """A game small enough to be solved exactly: three walls and six wildcards on a board of 3 x 3."""
        return cls(num_players=2, size=3, walls=3, wildcards=6)

    def place_of(self, cell: int) -> tuple[int, int]:
        """The row and the column of a cell."""
        return divmod(cell, self.size)

    def cell_name(self, cell: int) -> str:
        """The column's letter and the row's number, from 1: ``"a1"`` is the upper left corner, cell 0."""
        row, column = self.place_of(cell)
        return f"{COLUMN_LETTERS[column]}{row + 1}"

    def steps(self, tile: str) -> tuple[int, int]:
        """The fewest and the most steps of a walk from ``tile``, by name. (0, 0): none, and nobody begins there."""
        if tile == WILDCARD_NAME:
            return 1, NUM_SYMBOLS
        if tile not in NUMBER_TILES:
            return 0, 0
        symbol = int(tile[0])
        return (1 if self.move_rule == "up_to" else symbol), symbol

    @property
    def deck(self) -> list[str]:
        """The number cards of a board without special tiles, by name."""
        return [
            f"{i % NUM_SYMBOLS + 1}.{i // NUM_SYMBOLS % NUM_NUMBER_COLORS + 1}" for i in range(self.num_cells)
        ]

    @property
    def specials(self) -> list[str]:
        """The special tiles, by name, which replace random cards of the deck; the k-th teleport has colour k % 5."""
        teleports = [TELEPORT_TILES[k % NUM_COLORS] for k in range(self.teleports)]
        others = [WALL_NAME] * self.walls + [WILDCARD_NAME] * self.wildcards + [ZERO_NAME] * self.zeros
        return teleports + others

    @property
    def tile_names(self) -> list[str]:
        """The tiles that a board may have, by name: every number card, and the special ones of these rules."""
        return [*NUMBER_TILES, *dict.fromkeys(self.specials)]

    @property
    def num_cells(self) -> int:
        """Cells of the board."""
        return self.size * self.size

    @property
    def num_start_cells(self) -> int:
        """Cells that a player can begin on: numbers and wildcards."""
        return self.num_cells - self.teleports - self.walls - self.zeros

    @property
    def max_moves(self) -> int:
        """Most actions in a game.

        Each turn closes a cell for good, and needs an open cell for each player and one to move to. With teleports a
        turn may take a second action.
        """
        return (self.num_cells - self.walls - self.num_players) * (2 if self.teleports else 1)


@dataclass(frozen=True)
class Deal:
    """A fixed board and the players' positions on it.

    Attributes:
        tiles: rows of names: ``"2.3"`` symbol 2, colour 3; ``"W"`` wall; ``"*"`` wildcard; ``"0"`` zero; ``"T1"``
            teleport of colour 1.
        positions: the cell (``row * size + column``) of each player.

    The special tiles must match the rules. Number cards are free: you can lay out your own deck.
    """

    tiles: Sequence[Sequence[str]]
    positions: Sequence[int]

    def check(self, rules: Rules) -> None:
        """Raise ``ValueError`` unless ``rules`` allow these tiles and positions."""
        check_sequences("tiles", self.tiles, "names")
        check_sequence("positions", self.positions, "cells")
        widths = [len(row) for row in self.tiles]
        if widths != [rules.size] * rules.size:
            raise ValueError(f"deal: rows of {widths} tiles; expected {rules.size} rows of {rules.size}")
        names = [name for row in self.tiles for name in row]
        for name in names:
            if not isinstance(name, str) or name not in TILES:
                raise ValueError(
                    f"deal: tile {short_repr(name)}; expected a number card such as '2.3' (symbol 1-4, colour 1-4), "
                    f"'W' wall, '*' wildcard, '0' zero, or 'T0' .. 'T4' teleport of that colour"
                )
        specials = sorted(name for name in names if name not in NUMBER_TILES)
        if specials != sorted(rules.specials):
            raise ValueError(
                f"deal: special tiles {specials}; the rules have {sorted(rules.specials)}: change the tiles, or "
                f"teleports, walls, wildcards and zeros of the rules"
            )
        starts = [cell for cell, name in enumerate(names) if rules.steps(name) != (0, 0)]
        is_start = all(is_integer(cell) and cell in starts for cell in self.positions)
        if (
            len(self.positions) != rules.num_players
            or not is_start
            or len(set(self.positions)) < len(self.positions)
        ):
            raise ValueError(
                f"deal: positions {short_repr(self.positions)}; expected {rules.num_players} different cells with "
                f"number cards or wildcards, one for each player: {starts}"
            )
