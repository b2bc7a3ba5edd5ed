"""Every deal and every legal course of play of a small round of Cat in the Box, by brute force in plain Python.

Written from the rules page and the public contract (parts of the observation) without looking at the engine. It
answers by enumeration which observations can come up, and which hidden cards each of them leaves possible. One round,
colours and ranks from 0.
"""

from collections import defaultdict
from collections.abc import Iterator
from math import factorial
from typing import Any, NamedTuple

import numpy as np

#: Hidden cards as an observer names them: hands and discards of all seats, its own first, and the undealt cards.
World = tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[int, ...]]


class Position(NamedTuple):
    """A round under way, all cards open."""

    revealed: tuple[int, ...]  # number of each rank
    undealt: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]  # number of each rank, by seat
    discards: tuple[int, ...]  # -1: not made
    bids: tuple[int, ...]  # index; -1: not made
    owners: tuple[int, ...]  # of cell colour * ranks + rank; -1: empty, -2: neutral
    may_declare: tuple[tuple[bool, ...], ...]  # by seat and colour
    won: tuple[int, ...]
    leader: int
    trick: tuple[tuple[int, int], ...]  # (colour, rank) in the order played
    may_hold: tuple[tuple[bool, ...], ...]  # ranks that a hand can be of, as everybody knows it, by seat


def put(values: tuple, place: int, value: Any) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def turned(by_seat: tuple, observer: int) -> tuple:
    """What is given by seat, beginning with ``observer``."""
    return by_seat[observer:] + by_seat[:observer]


def ways_to_take(counts: tuple[int, ...], number: int) -> Iterator[tuple[int, ...]]:
    """Every multiset of ``number`` cards out of ``counts``, as counts."""
    if not counts:
        if number == 0:
            yield ()
        return
    for taken in range(min(counts[0], number) + 1):
        for rest in ways_to_take(counts[1:], number - taken):
            yield (taken, *rest)


class EveryPlay:
    """All positions of one round under ``rules`` (fields as in the public rules), and what each seat sees of them."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.players, self.ranks, self.colors = rules.num_players, rules.num_ranks, rules.num_colors
        self.worlds: dict[bytes, set[World]] = defaultdict(set)
        seen: set[Position] = set()
        for start in range(self.players) if rules.start_player == "random" else [rules.start_player]:
            waiting = list(self.deals(start))
            seen = set(waiting)
            while waiting:
                position = waiting.pop()
                for seat in range(self.players):
                    vector = self.observation(position, start, seat).tobytes()
                    world = turned(position.hands, seat), turned(position.discards, seat), position.undealt
                    self.worlds[vector].add(world)
                for following in self.moves(position, start):
                    if following not in seen:
                        seen.add(following)
                        waiting.append(following)

    def deals(self, start: int) -> Iterator[Position]:
        rules = self.rules
        deck = (rules.copies,) * self.ranks

        def hands_from(left: tuple[int, ...], seats: int) -> Iterator[tuple[tuple, tuple]]:
            if seats == 0:
                yield (), left
                return
            for hand in ways_to_take(left, rules.hand_size):
                rest = tuple(a - b for a, b in zip(left, hand, strict=True))
                for others, end in hands_from(rest, seats - 1):
                    yield (hand, *others), end

        for hands, left in hands_from(deck, self.players):
            for revealed in ways_to_take(left, rules.revealed_cards):
                owners = [-1] * (self.colors * self.ranks)
                for rank, number in enumerate(revealed):
                    for k in range(number):
                        owners[max(self.colors - 1 - k, 1) * self.ranks + rank] = -2
                yield Position(
                    revealed,
                    tuple(a - b for a, b in zip(left, revealed, strict=True)),
                    hands,
                    (-1,) * self.players,
                    (-1,) * self.players,
                    tuple(owners),
                    ((True,) * self.colors,) * self.players,
                    (0,) * self.players,
                    start,
                    (),
                    ((True,) * self.ranks,) * self.players,
                )

    def phase_and_mover(self, position: Position, start: int) -> tuple[int, int]:
        made = sum(card >= 0 for card in position.discards)
        if made < self.players:
            return 0, (start + made) % self.players
        made = sum(bid >= 0 for bid in position.bids)
        if self.rules.bids and made < self.players:
            return 1, (start + made) % self.players
        return 2, (position.leader + len(position.trick)) % self.players

    def declarations(self, position: Position, seat: int) -> list[tuple[int, int]]:
        """Legal declarations of the seat to move."""
        free = [
            (color, rank)
            for color in range(self.colors)
            for rank in range(self.ranks)
            if position.hands[seat][rank] > 0
            and position.may_declare[seat][color]
            and position.owners[color * self.ranks + rank] == -1
        ]
        other_than_red = [(color, rank) for color, rank in free if color != 0]
        lead_other = not position.trick and not self.trump_broken(position) and other_than_red
        return other_than_red if lead_other else free

    def trump_broken(self, position: Position) -> bool:
        return any(owner >= 0 for owner in position.owners[: self.ranks])

    def is_red_alone(self, position: Position, seat: int, rank: int) -> bool:
        """Whether ``seat`` can declare cards of ``rank`` in no colour but red."""
        return all(
            position.owners[color * self.ranks + rank] != -1 or not position.may_declare[seat][color]
            for color in range(1, self.colors)
        )

    def moves(self, position: Position, start: int) -> Iterator[Position]:
        """Every position one move later, as long as the round is not over."""
        phase, seat = self.phase_and_mover(position, start)
        hand = position.hands[seat]
        if phase == 0:
            for rank in range(self.ranks):
                if hand[rank] > 0:
                    yield position._replace(
                        hands=put(position.hands, seat, put(hand, rank, hand[rank] - 1)),
                        discards=put(position.discards, seat, rank),
                    )
            return
        if phase == 1:
            for bid in range(len(self.rules.bids)):
                yield position._replace(bids=put(position.bids, seat, bid))
            return
        for color, rank in self.declarations(position, seat):
            may_declare, may_hold = position.may_declare, position.may_hold
            if color == 0 and not position.trick and not self.trump_broken(position):
                known = tuple(self.is_red_alone(position, seat, r) for r in range(self.ranks))
                may_hold = put(may_hold, seat, known)
            if position.trick and color != position.trick[0][0]:
                may_declare = put(may_declare, seat, put(may_declare[seat], position.trick[0][0], False))
            played = position._replace(
                hands=put(position.hands, seat, put(hand, rank, hand[rank] - 1)),
                owners=put(position.owners, color * self.ranks + rank, seat),
                may_declare=may_declare,
                trick=(*position.trick, (color, rank)),
                may_hold=may_hold,
            )
            if len(played.trick) == self.players:
                led = played.trick[0][0]
                of_color = {c: [rank for color, rank in played.trick if color == c] for c in (0, led)}
                color = 0 if of_color[0] else led
                turn = played.trick.index((color, max(of_color[color])))
                winner = (played.leader + turn) % self.players
                won = put(played.won, winner, played.won[winner] + 1)
                played = played._replace(won=won, leader=winner, trick=())
                if sum(won) == self.rules.num_tricks:
                    continue
            yield played

    def observation(self, position: Position, start: int, seat: int) -> np.ndarray:
        """What ``seat`` sees, as the public contract orders it; scores and rounds left for one round are absent."""
        players, ranks, colors = self.players, self.ranks, self.colors
        phase, mover = self.phase_and_mover(position, start)
        order = [(seat + i) % players for i in range(players)]

        def one_hot(size: int, index: int) -> list[int]:
            return [int(i == index) for i in range(size)]

        parts = one_hot(3, phase) + list(position.hands[seat]) + one_hot(ranks, position.discards[seat])
        for owner in position.owners:
            parts += [int(owner == other) for other in order]
        if self.rules.revealed_cards:
            neutral = [0] * (colors * ranks)
            for rank, number in enumerate(position.revealed):
                for k in range(number):
                    neutral[max(colors - 1 - k, 1) * ranks + rank] += 1
            parts += neutral
        for other in order:
            parts += [int(may) for may in position.may_declare[other]]
        for other in order:
            parts += one_hot(len(self.rules.bids), position.bids[other])
        parts += [position.won[other] for other in order]
        parts += one_hot(colors, position.trick[0][0] if position.trick else -1)
        for other in order:
            turn = (other - position.leader) % players
            card = position.trick[turn] if turn < len(position.trick) else None
            parts += one_hot(colors * ranks, card[0] * ranks + card[1] if card else -1)
        parts += [int(other == position.leader) for other in order]
        parts += [int(other == start) for other in order]
        parts += [int(other == mover) for other in order]
        parts.append(int(self.trump_broken(position)))
        parts.append(self.rules.num_tricks - sum(position.won))
        for other in order:
            parts += [int(other == seat or may) for may in position.may_hold[other]]
        return np.array(parts, np.int8)


def number_of_ways(world: World) -> int:
    """Ways to give the unseen cards, each told apart, the places that they have in ``world``."""
    hands, discards, undealt = world
    ways = 1
    for rank in range(len(undealt)):
        groups = [hand[rank] for hand in hands[1:]] + [undealt[rank]]
        groups += [int(card == rank) for card in discards[1:]]
        ways *= factorial(sum(groups))
        for number in groups:
            ways //= factorial(number)
    return ways
