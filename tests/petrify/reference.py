"""Petrify in plain Python: the rules page read aloud, to check the fast engine against.

Written from the rules page without looking at the engine. Nothing here is quick or clever: reachable cells are
found by walking every path. A cell is (row, column); an action is the end cell. The reference never shuffles:
the board and the places are given to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tests.games.reference import Reference

NUMBER, WALL, WILDCARD, ZERO, TELEPORT = "number", "wall", "wildcard", "zero", "teleport"

Cell = tuple[int, int]


@dataclass(frozen=True)
class Tile:
    kind: str
    symbol: int = 0  # numbers only
    colour: int = 0  # 0 is colourless

    @property
    def name(self) -> str:
        """ "2.3" (symbol 2, colour 3), "W", "*", "0" or "T1" (a teleport of colour 1)."""
        match self.kind:
            case "number":
                return f"{self.symbol}.{self.colour}"
            case "teleport":
                return f"T{self.colour}"
        return {WALL: "W", WILDCARD: "*", ZERO: "0"}[self.kind]


def tile_named(name: str) -> Tile:
    if name in ("W", "*", "0"):
        return Tile({"W": WALL, "*": WILDCARD, "0": ZERO}[name])
    if name.startswith("T"):
        return Tile(TELEPORT, colour=int(name[1:]))
    symbol, colour = name.split(".")
    return Tile(NUMBER, int(symbol), int(colour))


@dataclass(frozen=True)
class Rules:
    num_players: int = 2
    size: int = 4
    move_rule: str = "exact"
    teleports: int = 0
    walls: int = 0
    wildcards: int = 0
    zeros: int = 0


def numbered_deck(size: int) -> list[Tile]:
    """The deck of a board without special tiles."""
    return [Tile(NUMBER, 1 + i % 4, 1 + (i // 4) % 4) for i in range(size * size)]


def special_tiles(rules: Rules) -> list[Tile]:
    return (
        [Tile(TELEPORT, colour=k % 5) for k in range(rules.teleports)]
        + [Tile(WALL) for _ in range(rules.walls)]
        + [Tile(WILDCARD) for _ in range(rules.wildcards)]
        + [Tile(ZERO) for _ in range(rules.zeros)]
    )


class ReferenceState(Reference):
    """A game in progress. `apply` takes the player to move to an end cell."""

    def __init__(
        self, rules: Rules, tiles: list[list[Tile]], places: list[Cell], reward: str = "score"
    ) -> None:
        super().__init__(rules.num_players, reward)
        self.rules = rules
        self.cells = [(row, column) for row in range(rules.size) for column in range(rules.size)]
        self.tiles = {(row, column): tiles[row][column] for row, column in self.cells}
        self.open = {cell: self.tiles[cell].kind != WALL for cell in self.cells}
        self.positions = list(places)
        self.in_game = list(self.players)  # in turn order
        self.petrified: list[int] = []  # first out first
        self.teleporting = False  # the player to move stands on a teleport and chooses where to go

    # ---------------------------------------------------------------- legal moves

    def is_free(self, cell: Cell) -> bool:
        """Open, and no pawn stands on it (petrified ones included)."""
        return cell in self.open and self.open[cell] and cell not in self.positions

    def allowed_lengths(self, tile: Tile) -> list[int]:
        if tile.kind == WILDCARD:
            return [1, 2, 3, 4]
        if tile.kind != NUMBER:
            return []
        if self.rules.move_rule == "up_to":
            return list(range(1, tile.symbol + 1))
        return [tile.symbol]

    def paths(self, path: list[Cell], steps: int) -> list[list[Cell]]:
        """Every way to walk on from a path, so many steps, over free cells not visited before."""
        if steps == 0:
            return [path]
        row, column = path[-1]
        found = []
        for step in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]:
            if self.is_free(step) and step not in path:
                found += self.paths(path + [step], steps - 1)
        return found

    def end_cells(self, player: int) -> set[Cell]:
        """Where the player may end a move that begins where it stands."""
        start = self.positions[player]
        ends = {
            path[-1]
            for steps in self.allowed_lengths(self.tiles[start])
            for path in self.paths([start], steps)
        }
        accepting = (NUMBER, WILDCARD, ZERO, TELEPORT)  # a player that moves never stands on a teleport
        return {cell for cell in ends if self.tiles[cell].kind in accepting}

    def teleport_cells(self, player: int) -> set[Cell]:
        """Where the teleport under the player may take it."""
        colour = self.tiles[self.positions[player]].colour
        return {
            cell
            for cell in self.cells
            if self.is_free(cell)
            and self.tiles[cell].kind in (NUMBER, WILDCARD, ZERO)
            and colour in (0, self.tiles[cell].colour)
        }

    def legal_actions(self) -> list[Cell]:
        if self.is_terminal:
            return []
        player = self.current_player
        return sorted(self.teleport_cells(player) if self.teleporting else self.end_cells(player))

    def reach(self, player: int) -> set[Cell]:
        """Where a player in the game could go if it were to move now."""
        if self.is_terminal or player not in self.in_game:
            return set()
        return set(self.legal_actions()) if player == self.current_player else self.end_cells(player)

    def reach_after(self) -> list[dict[Cell, int]]:
        """By player and legal action: 1 + its end cells (6 at most) if in the game, once the pawn is there."""
        mover, number = self.current_player, [dict[Cell, int]() for _ in self.players]
        for cell in self.legal_actions():
            board, places = dict(self.open), list(self.positions)
            if not self.teleporting:
                self.open[places[mover]] = False
            self.positions[mover] = cell
            for player in self.in_game:
                number[player][cell] = 1 + min(len(self.end_cells(player)), 6)
            self.open, self.positions = board, places
        return number

    def action_id(self, cell: Cell) -> int:
        row, column = cell
        return row * self.rules.size + column

    # ---------------------------------------------------------------- playing

    def apply(self, cell: Cell) -> None:
        assert cell in self.legal_actions(), f"{cell} is not legal"
        player = self.current_player
        self.history.append((player, cell))
        if not self.teleporting:
            self.open[self.positions[player]] = False
        self.teleporting = False
        self.positions[player] = cell
        kind = self.tiles[cell].kind
        if kind == TELEPORT and self.teleport_cells(player):
            self.teleporting = True
            return
        if kind == ZERO:
            self.rotate(player)
        self.end_turn()

    def rotate(self, lander: int) -> None:
        zero_cell = self.positions[lander]
        before = self.in_game[self.in_game.index(lander) - 1]  # -1 is the last in turn order
        self.tiles[zero_cell] = self.tiles[self.positions[before]]
        old_positions = list(self.positions)
        for place, player in enumerate(self.in_game):
            following = self.in_game[(place + 1) % len(self.in_game)]
            self.positions[player] = old_positions[following]

    def end_turn(self) -> None:
        while True:
            self.current_player = self.next_in_game(self.current_player)
            if len(self.in_game) == 1:
                self.end_game()
                return
            if self.end_cells(self.current_player):
                return
            self.in_game.remove(self.current_player)
            self.petrified.append(self.current_player)

    def next_in_game(self, player: int) -> int:
        player = self.clockwise(player)
        return player if player in self.in_game else self.next_in_game(player)

    def end_game(self) -> None:
        ranking = self.in_game + self.petrified[::-1]
        others = self.rules.num_players - 1
        self.pay([1 - 2 * ranking.index(player) / others for player in self.players], num_rounds=1)
        self.infos = [{"place": ranking.index(player)} for player in self.players]

    # ---------------------------------------------------------------- what a player sees

    def place_if_out(self, player: int) -> int | None:
        """0 for the winner; None for a player still in an unfinished game."""
        if player in self.petrified:
            return self.rules.num_players - 1 - self.petrified.index(player)
        return 0 if self.is_terminal else None

    def observation_parts(self, observer: int) -> dict[str, np.ndarray]:
        """The parts of the observation by name, in the contract's order."""
        N, P = self.rules.size, self.rules.num_players

        def plane(holds: Mapping[Cell, int]) -> list[list[int]]:
            return [[int(holds[row, column]) for column in range(N)] for row in range(N)]

        def tiles_with(attribute: str, value: object) -> list[list[int]]:
            return plane({cell: getattr(self.tiles[cell], attribute) == value for cell in self.cells})

        from_observer = self.from_observer(observer)
        reach, after = [self.reach(player) for player in from_observer], self.reach_after()
        parts = {
            "symbols": [tiles_with("symbol", symbol) for symbol in (1, 2, 3, 4)],
            "colors": [tiles_with("colour", colour) for colour in (0, 1, 2, 3, 4)],
            "kinds": [tiles_with("kind", kind) for kind in (NUMBER, WALL, WILDCARD, ZERO, TELEPORT)],
            "open": plane(self.open),
            "positions": [
                plane({cell: self.positions[player] == cell for cell in self.cells})
                for player in from_observer
            ],
            "to_move": [player == self.current_player for player in from_observer],
            "teleporting": [self.teleporting],
            "in_game": [player in self.in_game for player in from_observer],
            "seat": [player == observer for player in self.players],
            "place": [[self.place_if_out(player) == place for place in range(P)] for player in from_observer],
            "end_cells": [plane({cell: cell in ends for cell in self.cells}) for ends in reach],
            "end_cells_after": [
                plane({cell: after[player].get(cell, 0) for cell in self.cells}) for player in from_observer
            ],
        }
        return {name: np.array(part, np.int8) for name, part in parts.items()}

    def state_parts(self, observer: int) -> dict[str, np.ndarray]:
        """Nothing is hidden."""
        return self.observation_parts(observer)

    def history_rows(self, observer: int) -> list[tuple[int, int]]:
        """Rows (relative seat, action id)."""
        return [(self.relative(player, observer), self.action_id(cell)) for player, cell in self.history]
