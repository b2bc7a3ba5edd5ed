"""How a position of Cat in the Box can have come about: a search in plain Python for the moves of its round.

Written from the rules page without looking at the engine. The position is given with all cards open; what is found can
be played on ``ReferenceState`` from the deal, move by move, and so proves that the position can come up.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.cat_in_the_box.reference import Deal, ReferenceState, Rules

Cell = tuple[str, int]


@dataclass
class OpenPosition:
    """A position in a round under way, in printed ranks and names of colours."""

    start_player: int
    leader: int
    mover: int
    phase: str
    hands: list[list[int]]
    discards: list[int | None]
    bids: list[int | None]
    revealed: list[int]
    tokens: list[list[Cell]]  # of each seat, this trick's among them
    kept: list[set[str]]  # colours that each seat may still declare
    won: list[int]
    trick: list[Cell]  # in the order played


class GivesUp(Exception):
    """The search has tried long enough in this order of trying."""


class RoundSearch:
    """Depth first over the tokens of the completed tricks, tried in random order, anew when it takes long."""

    def __init__(self, rules: Rules, position: OpenPosition, seed: int) -> None:
        self.rules, self.at, self.random = rules, position, random.Random(seed)
        self.players = rules.num_players
        neutral = ReferenceState(rules, Deal([[] for _ in range(self.players)], position.revealed)).neutral
        self.neutral = set(neutral)

    def declarations(self, attempts: int = 40, nodes: int = 1500) -> list[Cell] | None:
        """The declarations of the round in order, or None when there are none; ``GivesUp`` when that stays open."""
        for _ in range(attempts):
            self.nodes_left = nodes
            to_lay = [list(cells) for cells in self.at.tokens]
            for turn, cell in enumerate(self.at.trick):
                to_lay[(self.at.leader + turn) % self.players].remove(cell)
            try:
                found = next(self.tricks(to_lay, [set(self.rules.colours) for _ in self.at.hands], []), None)
            except GivesUp:
                continue
            return found
        raise GivesUp(f"no course of play found or ruled out in {attempts} attempts")

    def tricks(
        self, to_lay: list[list[Cell]], kept: list[set[str]], laid: list[tuple[int, Cell]]
    ) -> Iterator[list[Cell]]:
        """Every way to lay the rest, from a state between two cards; ``laid`` holds (seat, cell) in order."""
        self.nodes_left -= 1
        if self.nodes_left == 0:
            raise GivesUp
        here = len(laid) - len(laid) % self.players
        leader, won = self.results(laid[:here])
        if any(a > b for a, b in zip(won, self.at.won, strict=True)):
            return
        turn = len(laid) - here
        seat = (leader + turn) % self.players
        if turn == 0 and not any(to_lay):
            if leader == self.at.leader and won == self.at.won and self.fits_now(kept, laid):
                yield [cell for _, cell in laid] + self.at.trick
            return
        for cell in self.random.sample(to_lay[seat], len(to_lay[seat])):
            if turn == 0 and not self.all_can_answer(seat, cell[0], to_lay):
                continue
            if self.is_legal(seat, cell, kept, to_lay, laid, laid[here:]):
                rest = [
                    cells if s != seat else [c for c in cells if c != cell] for s, cells in enumerate(to_lay)
                ]
                led = laid[here][1][0] if turn else cell[0]
                after = kept
                if cell[0] != led:
                    later = rest[seat] + self.own_card_now(seat)
                    if led in self.at.kept[seat] or any(color == led for color, _ in later):
                        continue
                    after = [colors - {led} if s == seat else colors for s, colors in enumerate(kept)]
                yield from self.tricks(rest, after, [*laid, (seat, cell)])

    def all_can_answer(self, leader: int, color: str, to_lay: list[list[Cell]]) -> bool:
        """Whether each seat that keeps the colour to the end has a token of it to lay, when it is led."""
        return all(
            seat == leader or color not in self.at.kept[seat] or any(cell[0] == color for cell in cells)
            for seat, cells in enumerate(to_lay)
        )

    def own_card_now(self, seat: int) -> list[Cell]:
        turn = (seat - self.at.leader) % self.players
        return self.at.trick[turn : turn + 1]

    def results(self, laid: list[tuple[int, Cell]]) -> tuple[int, list[int]]:
        """Who leads after these completed tricks, and tricks won."""
        leader, won = self.at.start_player, [0] * self.players
        for first in range(0, len(laid), self.players):
            trick = laid[first : first + self.players]
            trump = [(rank, seat) for seat, (color, rank) in trick if color == "red"]
            led = [(rank, seat) for seat, (color, rank) in trick if color == trick[0][1][0]]
            leader = max(trump or led)[1]
            won[leader] += 1
        return leader, won

    def is_legal(
        self,
        seat: int,
        cell: Cell,
        kept: list[set[str]],
        to_lay: list[list[Cell]],
        laid: list[tuple[int, Cell]],
        trick: list[tuple[int, Cell]],
    ) -> bool:
        color = cell[0]
        if color not in kept[seat]:
            return False
        if trick or color != "red" or any(other == "red" for _, (other, _) in laid):
            return True
        taken = {taken for _, taken in laid} | self.neutral
        hand = self.at.hands[seat] + [rank for _, rank in to_lay[seat] + self.own_card_now(seat)]
        others = [other for other in kept[seat] if other != "red"]
        return all((other, rank) in taken for other in others for rank in hand)

    def fits_now(self, kept: list[set[str]], laid: list[tuple[int, Cell]]) -> bool:
        """Whether the trick under way is legal, and leaves the X-tokens that are there."""
        kept = [set(colors) for colors in kept]
        nothing_to_lay: list[list[Cell]] = [[] for _ in kept]
        for turn, cell in enumerate(self.at.trick):
            seat = (self.at.leader + turn) % self.players
            before = list(zip(range(turn), self.at.trick, strict=False))
            if not self.is_legal(seat, cell, kept, nothing_to_lay, laid, before):
                return False
            led = self.at.trick[0][0]
            if cell[0] != led:
                kept[seat].discard(led)
        return kept == self.at.kept


def replay(rules: Rules, position: OpenPosition, declarations: list[Cell]) -> ReferenceState:
    """The round played to ``position`` on the reference, which asserts that every move is legal."""
    hands = [
        hand + [rank for _, rank in cells] + ([discard] if discard is not None else [])
        for hand, cells, discard in zip(position.hands, position.tokens, position.discards, strict=True)
    ]
    state = ReferenceState(rules, Deal(hands, position.revealed, position.start_player))
    for turn in range(rules.num_players):
        seat = (position.start_player + turn) % rules.num_players
        if position.discards[seat] is not None:
            state.apply(state.ids["discard", position.discards[seat]])
    for turn in range(rules.num_players):
        seat = (position.start_player + turn) % rules.num_players
        if position.bids[seat] is not None:
            state.apply(state.ids["bid", position.bids[seat]])
    for color, rank in declarations:
        state.apply(state.ids["play", color, rank])
    return state
