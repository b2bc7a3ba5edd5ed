"""Features of Petrify against a slow reference, from the named parts of an observation."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_agents.features.petrify import (
    LEAD_MOVES,
    MAX_LEAD,
    MISTAKES_MOVES,
    OUTLOOK_MOVES,
    PETRIFIES,
    UP_TO_CELLS,
)
from catbox_env import GameState, make_game
from catbox_env.games.petrify.observe import MAX_COUNTED
from catbox_env.games.petrify.rules import Rules
from tests.agents.features.comparing import check_features, features_of
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
        self.rules: Rules = state.game.rules
        size, self.up_to = self.rules.size, self.rules.move_rule == "up_to"
        self.size, self.seats = size, range(state.game.num_players)
        self.pawns: list[Cell] = [tuple(np.argwhere(plane)[0].tolist()) for plane in self.parts["positions"]]
        opened = {(int(row), int(column)) for row, column in np.argwhere(self.parts["open"])}
        self.free = opened - set(self.pawns)
        self._walks: dict[tuple[Cell, frozenset[Cell], Cell | None], set[Cell]] = {}
        self._outlooks: dict[tuple[frozenset[Cell], tuple[Cell, Cell], frozenset[Cell], int], int] = {}
        self._leads: dict[tuple[frozenset[Cell], tuple[Cell, Cell], frozenset[Cell], int], int] = {}
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

    def walks(self, tile: Cell, free: set[Cell], start: Cell | None = None) -> set[Cell]:
        """Where a pawn on the tile of the cell ``tile`` can go, from ``start``, by default that cell."""
        key = tile, frozenset(free), start
        if key not in self._walks:
            self._walks[key] = self._walked(tile, free, start)
        return self._walks[key]

    def _walked(self, tile: Cell, free: set[Cell], start: Cell | None) -> set[Cell]:
        wildcard = bool(self.parts["kinds"][WILDCARD][tile])
        ends, paths = set(), [[tile if start is None else start]]
        for step in range(1, self.energy(tile) + 1):
            paths = [[*path, cell] for path in paths for cell in beside(path[-1]) & free - set(path)]
            if step == self.energy(tile) or wildcard or self.up_to:
                ends |= {path[-1] for path in paths}
        return ends

    def kind(self, cell: Cell) -> int:
        return int(self.parts["kinds"][:, cell[0], cell[1]].argmax())

    def exits(self, teleport: Cell, free: set[Cell]) -> set[Cell]:
        """The free cells to which a teleport leads."""
        colors = self.parts["colors"]
        color = colors[:, teleport[0], teleport[1]]
        return {
            cell
            for cell in free
            if self.kind(cell) != TELEPORT and (color[0] or (colors[:, cell[0], cell[1]] * color).any())
        }

    def landings(self, ends: set[Cell], free: set[Cell]) -> set[Cell]:
        """Where a walk to one of the ``ends`` leaves the pawn."""
        found: set[Cell] = set()
        for cell in ends:
            exits = self.exits(cell, free) if self.kind(cell) == TELEPORT else set()
            found |= exits or {cell}
        return found

    def outlook(self, cells: set[Cell], other: tuple[Cell, Cell], free: set[Cell], plies: int) -> int:
        """1: the pawn that goes to one of ``cells`` wins within so many moves, whatever the other does; -1: it loses.

        A pawn is the cell on which it stands, and the one whose tile it stands on: that of a zero is a copy.
        """
        if not cells:
            return -1
        if plies == 0:
            return 0
        key = frozenset(cells), other, frozenset(free), plies
        if key not in self._outlooks:
            self._outlooks[key] = self._looked(cells, other, free, plies)
        return self._outlooks[key]

    def _looked(self, cells: set[Cell], other: tuple[Cell, Cell], free: set[Cell], plies: int) -> int:
        found = []
        for cell in cells:
            found.append(-self.outlook(*self.after(cell, other, free), plies - 1))
            if found[-1] == 1:
                break
        return max(found)

    def lead(self, cells: set[Cell], other: tuple[Cell, Cell], free: set[Cell], plies: int) -> int:
        """How many more cells the pawn that goes to one of ``cells`` can go to after so many moves than the other."""
        if not cells:
            return -PETRIFIES
        key = frozenset(cells), other, frozenset(free), plies
        if key not in self._leads:
            self._leads[key] = (
                max(-self.lead(*self.after(cell, other, free), plies - 1) for cell in cells)
                if plies
                else len(cells) - len(self.landings(self.walks(other[1], free, other[0]), free))
            )
        return self._leads[key]

    def after(
        self, cell: Cell, other: tuple[Cell, Cell], free: set[Cell]
    ) -> tuple[set[Cell], tuple[Cell, Cell], set[Cell]]:
        """Where the other pawn can go when one has landed on ``cell``, that one, and the free cells."""
        left, mover, staying = free - {cell}, other, (cell, cell)
        if self.kind(cell) == ZERO:
            mover, staying = (cell, other[1]), other
        return self.landings(self.walks(mover[1], left, mover[0]), left), staying, left

    def replies(self, cell: Cell, following: Cell, free: set[Cell]) -> Iterator[tuple[int, int, int]]:
        """For each place where moving to ``cell`` ends: the outlook, the lead, and how many replies lose."""
        further, moves, nearer = moves_ahead(self.rules, len(free))
        before = free | {cell}
        for landing in {cell} if self.parts["teleporting"][0] else self.landings({cell}, before):
            other = (following, following)
            outlook = self.outlook({landing}, other, before, further + 1)
            replies, staying, left = self.after(landing, other, before)
            lost = [self.outlook({reply}, staying, left, nearer) for reply in replies]
            lead = -self.lead(replies, staying, left, moves)
            yield outlook, lead, min(MAX_COUNTED, lost.count(-1))

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
        }
        found["outlook"], lead, found["mistakes"] = max(self.replies(cell, following, free))
        found["lead"] = max(-MAX_LEAD, min(MAX_LEAD, lead))
        return {name: int(number) for name, number in found.items() if number}


def result(state: GameState, seat: int, plies: int) -> int:
    """1: ``seat`` wins a game of two within so many moves, whatever the other does; -1: it loses; 0: neither.

    To come out of a teleport is part of the move.
    """
    if state.is_terminal():
        return 1 if state.returns()[seat] > 0 else -1
    if plies == 0:
        return 0
    sign = 1 if state.current_player == seat else -1
    best = -1
    for after in successors(state):
        best = max(best, sign * result(after, seat, plies - (not teleports(after))))
        if best == 1:
            break
    return sign * best


def successors(state: GameState) -> list[GameState]:
    """The states after each legal action."""
    found = []
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        found.append(after)
    return found


def moves_ahead(rules: Rules, free: int) -> list[int]:
    """How many moves `outlook`, `lead` and `mistakes` look ahead with so many free cells."""
    number = free + (UP_TO_CELLS if rules.move_rule == "up_to" else 0)
    return [
        next((moves for cells, moves in table if number <= cells), 2)
        for table in (OUTLOOK_MOVES, LEAD_MOVES, MISTAKES_MOVES)
    ]


def teleports(state: GameState) -> bool:
    """Whether the seat to move comes out of a teleport."""
    return not state.is_terminal() and bool(view(state)["teleporting"][0])


def check_game(rules: Rules, seed: int) -> None:
    check_features(make_game("petrify_v0", rules=rules), seed, Position)


@settings(max_examples=8)
@given(rules=RULES["petrify_v0"], seed=st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_every_rule_set_agrees_with_the_reference(rules: Rules, seed: int) -> None:
    check_game(rules, seed)


@pytest.mark.nojit
def test_the_functions_without_compilation_agree_with_the_reference() -> None:
    check_game(Rules(num_players=3, size=3, wildcards=2, teleports=2, zeros=1), seed=0)
    check_game(Rules(size=8, walls=8), seed=1)


@pytest.mark.parametrize(
    ("rules", "cells", "games"),
    [
        (Rules(), range(10), 80),
        (Rules(size=4, teleports=3, zeros=2, wildcards=2, walls=1), range(10), 80),
        (Rules(size=4, move_rule="up_to", wildcards=1, zeros=1), range(8), 30),
        (Rules(size=5, teleports=3, walls=2, wildcards=2, zeros=1), range(21, 22), 4),
    ],
)
def test_what_lies_ahead_is_what_the_rules_make_of_it(rules: Rules, cells: range, games: int) -> None:
    """On boards with ``cells`` free cells."""
    game, outlooks, most = make_game("petrify_v0", rules=rules), [0, 0, 0], 0
    for seed in range(games):
        state, rng = game.new_initial_state(seed=seed), np.random.default_rng(seed)
        while not state.is_terminal():
            seat, free = state.current_player, int(view(state)["open"].sum()) - 2
            for action, features in features_of(state, seat)[1].items() if free in cells else ():
                further, moves, nearer = moves_ahead(rules, free - 1 + teleports(state))
                after = state.clone()
                after.apply_action(action)
                outlook = result(after, seat, further + teleports(after))
                assert features.get("outlook", 0) == outlook, (seed, str(state), action)
                outlooks[outlook] += 1
                soon = result(after, seat, moves + teleports(after))
                assert not soon or features["lead"] == soon * MAX_LEAD, (seed, str(state), action)
                if teleports(after) or after.is_terminal():
                    continue
                replies = successors(after)
                if not any(map(teleports, replies)):  # one of them may be several
                    mistakes = [result(reply, seat, nearer - 1) for reply in replies].count(1)
                    assert features.get("mistakes", 0) == min(MAX_COUNTED, mistakes), (
                        seed,
                        str(state),
                        action,
                    )
                    most = max(most, mistakes)
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert min(outlooks[1:]) > 1, outlooks
    assert sorted(outlooks)[1] > 10, outlooks  # far from the end few are decided, near it all
    assert most > 1
