"""Features of Petrify against a slow reference, from the named parts of an observation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import GameState, make_game
from catbox_env.games.petrify.observe import MAX_COUNTED
from catbox_env.games.petrify.rules import Rules
from tests.agents.features.comparing import check_features
from tests.games.rule_sets import RULES
from tests.petrify.positions import view

Cell = tuple[int, int]
WILDCARD, ZERO, TELEPORT = 2, 3, 4


def beside(cell: Cell) -> set[Cell]:
    row, column = cell
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}


def connected(cell: Cell, free: set[Cell]) -> set[Cell]:
    """The free cells that can be walked to."""
    found, border = set(), [cell]
    while border:
        for other in beside(border.pop()) & free - found:
            found.add(other)
            border.append(other)
    return found


class Position:
    """What ``seat`` sees, by name."""

    def __init__(self, state: GameState, seat: int) -> None:
        self.parts = view(state, seat)
        size = state.game.rules.size
        self.up_to = state.game.rules.move_rule == "up_to"
        self.size, self.seats = size, range(state.game.num_players)
        self.pawns: list[Cell] = [tuple(np.argwhere(plane)[0].tolist()) for plane in self.parts["positions"]]
        opened = {(int(row), int(column)) for row, column in np.argwhere(self.parts["open"])}
        self.free = opened - set(self.pawns)
        self.playing = [bool(self.parts["in_game"][seat]) for seat in self.seats]

    def energy(self, cell: Cell) -> int:
        if self.parts["kinds"][WILDCARD][cell]:
            return 4
        return sum((symbol + 1) * int(self.parts["symbols"][symbol][cell]) for symbol in range(4))

    def distance(self, cell: Cell, other: Cell) -> int:
        return abs(cell[0] - other[0]) + abs(cell[1] - other[1])

    def features(self) -> dict[str, list]:
        def by_seat(numbers: list[int]) -> list[int]:
            return [number if self.playing[seat] else 0 for seat, number in enumerate(numbers)]

        return {
            "free_cells": [len(self.free)],
            "energy": by_seat([self.energy(cell) for cell in self.pawns]),
            "end_cells": by_seat([int(plane.sum()) for plane in self.parts["end_cells"]]),
            "free_beside": by_seat([len(beside(cell) & self.free) for cell in self.pawns]),
            "room": by_seat([len(connected(cell, self.free)) for cell in self.pawns]),
            "distance": by_seat([self.distance(cell, self.pawns[0]) for cell in self.pawns]),
        }

    def walks(self, start: Cell, free: set[Cell]) -> set[Cell]:
        """Where a pawn on ``start`` can go over ``free`` cells."""
        wildcard = bool(self.parts["kinds"][WILDCARD][start])
        ends, paths = set(), [[start]]
        for step in range(1, self.energy(start) + 1):
            paths = [[*path, cell] for path in paths for cell in beside(path[-1]) & free - set(path)]
            if step == self.energy(start) or wildcard or self.up_to:
                ends |= {path[-1] for path in paths}
        return ends

    def outlook(self, mover: Cell, other: Cell, free: set[Cell], plies: int) -> int:
        """1: the pawn to move wins within so many moves, whatever the other does; -1: it loses."""
        ends = self.walks(mover, free)
        if not ends:
            return -1
        if plies == 0:
            return 0
        return max(-self.outlook(other, cell, free - {cell}, plies - 1) for cell in ends)

    def action_features(self, action: int) -> dict[str, int]:
        """The features of a legal action that are not 0."""
        cell = divmod(action, self.size)
        free = self.free - {cell}
        if self.parts["teleporting"][0]:
            free |= {self.pawns[0]}
        left = {seat: int(self.parts["end_cells_after"][seat][cell]) - 1 for seat in self.seats}
        others = [seat for seat in self.seats[1:] if self.playing[seat]]
        following = self.pawns[others[0]]
        replies = self.walks(following, free - {cell})
        answers = [len(self.walks(cell, free - {cell, reply})) for reply in replies]
        found = {
            "energy": self.energy(cell),
            "teleport": self.parts["kinds"][TELEPORT][cell],
            "zero": self.parts["kinds"][ZERO][cell],
            "own_end_cells": left[0],
            "next_end_cells": left[others[0]],
            "fewest_end_cells": min(left[seat] for seat in others),
            "stuck": sum(left[seat] == 0 for seat in others),
            "free_beside": len(beside(cell) & free),
            "room": len(connected(cell, free) - {cell}),
            "next_room": len(connected(following, free) - {following}),
            "next_distance": self.distance(cell, following),
            "fewest_answers": min([MAX_COUNTED, *answers]),
            "losing_replies": min(MAX_COUNTED, answers.count(0)),
            "outlook": -self.outlook(following, cell, free - {cell}, 4 if self.size <= 4 else 2),
        }
        return {name: int(number) for name, number in found.items() if number}


def check_game(rules: Rules, seed: int) -> None:
    check_features(make_game("petrify_v0", rules=rules), seed, Position)


@settings(max_examples=40)
@given(rules=RULES["petrify_v0"], seed=st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_every_rule_set_agrees_with_the_reference(rules: Rules, seed: int) -> None:
    check_game(rules, seed)


@pytest.mark.nojit
def test_the_functions_without_compilation_agree_with_the_reference() -> None:
    check_game(Rules(num_players=3, size=3, wildcards=2, teleports=2, zeros=1), seed=0)
    check_game(Rules(size=8, walls=8), seed=1)
