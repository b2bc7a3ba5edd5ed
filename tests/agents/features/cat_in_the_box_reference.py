"""The features of Cat in the Box once more: slow, with sets and dictionaries, from the named parts of an observation.

Written from the words of the layouts, without the compiled functions. Ranks are printed ranks here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from catbox_env import Game
from tests.agents.features.comparing import without_zeros

RED = 0
Cell = tuple[int, int]
FREE, NEEDS, EXACT, LOST = range(4)


def largest_matching(cards: list[int], cells: set[Cell]) -> int:
    """The maximum number of cards that can be placed side by side: augmenting paths in a bipartite graph."""
    place: dict[Cell, int] = {}

    def find_cell(card: int, tried: set[Cell]) -> bool:
        for cell in sorted(cells):
            if cell[1] != cards[card] or cell in tried:
                continue
            tried.add(cell)
            if cell not in place or find_cell(place[cell], tried):
                place[cell] = card
                return True
        return False

    return sum(find_cell(card, set()) for card in range(len(cards)))


def beside(cell: Cell) -> set[Cell]:
    color, rank = cell
    return {(color - 1, rank), (color + 1, rank), (color, rank - 1), (color, rank + 1)}


def groups_of(cells: Iterable[Cell]) -> list[set[Cell]]:
    """The connected groups, the one with the lowest cell first."""
    rest, groups = sorted(cells), []
    while rest:
        group, border = set(), [rest[0]]
        while border:
            cell = border.pop()
            if cell in rest:
                rest.remove(cell)
                group.add(cell)
                border += beside(cell)
        groups.append(group)
    return groups


def largest_of(groups: list[set[Cell]]) -> set[Cell]:
    return max(groups, key=len, default=set())


class Position:
    """What one seat sees, by name."""

    def __init__(self, game: Game, observation: np.ndarray) -> None:
        self.rules = rules = game.rules
        parts = game.observation_layout.unpack(observation)
        self.seats = range(rules.num_players)
        self.ranks, self.colors = range(1, rules.num_ranks + 1), range(rules.num_colors)
        self.hand = [rank for rank in self.ranks for _ in range(parts["hand"][rank - 1])]
        cells = [(color, rank) for color in self.colors for rank in self.ranks]
        self.owner: dict[Cell, int] = {}
        neutral: dict[Cell, int] = {}
        for color, rank in cells:
            owners = np.flatnonzero(parts["board"][color, rank - 1])
            if len(owners):
                self.owner[color, rank] = int(owners[0])
            if rules.revealed_cards and parts["neutral"][color, rank - 1]:
                neutral[color, rank] = int(parts["neutral"][color, rank - 1])
        self.empty = {cell for cell in cells if cell not in self.owner and cell not in neutral}
        self.tokens = [
            {color for color in self.colors if parts["x_tokens"][seat, color]} for seat in self.seats
        ]
        gone = self.hand + [rank for _, rank in self.owner]
        gone += [rank for (_, rank), count in neutral.items() for _ in range(count)]
        gone += [rank for rank in self.ranks if parts["discarded"][rank - 1]]
        self.unseen = {rank: rules.copies - gone.count(rank) for rank in self.ranks}
        self.led = int(parts["led"].argmax()) if parts["led"].any() else None
        self.trick: dict[int, Cell] = {}
        for seat in self.seats:
            for color, rank in np.argwhere(parts["trick"][seat]):
                self.trick[seat] = (int(color), int(rank) + 1)
        self.tricks_left = int(parts["tricks_left"][0])
        self.won = parts["tricks_won"].tolist()
        self.bids = [
            rules.bids[int(parts["bids"][seat].argmax())] if parts["bids"][seat].any() else None
            for seat in self.seats
        ]
        self.plays = self.tricks_left - (0 in self.trick)
        self.waiting = [seat for seat in self.seats if seat and seat not in self.trick]
        self.groups = [groups_of(cell for cell, seat in self.owner.items() if seat == s) for s in self.seats]

    def open_to(self, seat: int) -> set[Cell]:
        return {cell for cell in self.empty if cell[0] in self.tokens[seat]}

    def needed(self, seat: int) -> int:
        if not self.rules.bids:
            return self.rules.bonus_max_tricks - self.won[seat]
        return 0 if self.bids[seat] is None else self.bids[seat] - self.won[seat]

    def status(self, seat: int) -> int:
        needed = self.needed(seat)
        if self.rules.bids and self.bids[seat] is None:
            return FREE
        if needed < 0:
            return LOST
        if needed == 0:
            return EXACT
        if not self.rules.bids:
            return FREE
        return NEEDS if needed <= self.tricks_left else LOST

    def best(self) -> int | None:
        """The seat that is winning the trick."""
        strength = {
            seat: (color == RED, rank)
            for seat, (color, rank) in self.trick.items()
            if color in (RED, self.led)
        }
        return max(strength, key=lambda seat: strength[seat], default=None)

    def unseen_for(self, color: int, above: int, seats: Iterable[int]) -> int:
        """Unseen cards above a rank that one of ``seats`` could declare in ``color``."""
        if not any(color in self.tokens[seat] for seat in seats):
            return 0
        return sum(self.unseen[rank] for rank in self.ranks if rank > above and (color, rank) in self.empty)

    def expected_quarters(self) -> int:
        total = sum(self.unseen.values())
        own = self.open_to(0)
        strength, cards = 0.0, 0
        for rank in self.ranks:
            placed = largest_matching([r for r in self.hand if r == rank], own)
            lower = sum(self.unseen[r] for r in self.ranks if r < rank)
            share = (lower + 0.5 * self.unseen[rank]) / max(1, total)
            strength += placed * share ** (len(self.seats) - 1)
            cards += placed
        return int(4 * self.plays * strength / max(1, cards) + 0.5)

    def features(self) -> dict[str, list]:
        """The features of the position, by part; one-hot and by-seat parts as lists."""
        ranks, colors, seats, own = self.ranks, self.colors, self.seats, self.open_to(0)
        threat = self.unseen_for(RED, 0, seats[1:])
        masters = [
            sum(
                (color, rank) in own and rank in self.hand and not self.unseen_for(color, rank, seats[1:])
                for rank in ranks
            )
            for color in colors
        ]
        placeable = [largest_matching([r for r in self.hand if r == rank], own) for rank in ranks]
        total = largest_matching(self.hand, own)
        best = self.best()
        best_color, best_rank = self.trick[best] if best is not None else (None, 0)
        largest = [largest_of(groups) for groups in self.groups]
        room = []
        for seat in seats:
            free = {cell for near in map(beside, largest[seat]) for cell in near} & self.open_to(seat)
            room.append(len({cell for cell in free if seat or cell[1] in self.hand}))
        cards = []
        for seat in seats:
            there = {rank for _, rank in self.open_to(seat)}
            held = {rank: self.hand.count(rank) for rank in ranks} if seat == 0 else self.unseen
            cards.append(sum(held[rank] for rank in there))
        one_hot = np.eye(4, dtype=int)
        found: dict[str, list] = {
            "unseen": [self.unseen[rank] for rank in ranks],
            "empty_cells": [sum(r == rank for _, r in self.empty) for rank in ranks],
            "own_cells": [sum(r == rank for _, r in own) for rank in ranks],
            "placeable": placeable,
            "placeable_total": [total],
            "slack": [total - self.plays],
            "color_cells": [sum(c == color for c, _ in self.empty) for color in colors],
            "color_plays": [sum(c == color and r in self.hand for c, r in own) for color in colors],
            "highest_cell": [max((r for c, r in self.empty if c == color), default=0) for color in colors],
            "masters": masters,
            "sure_leads": [sum(masters) if threat == 0 else masters[RED]],
            "trump_threat": [threat],
            "expected_tricks": [self.expected_quarters()],
            "tokens_left": [len(tokens) for tokens in self.tokens],
            "seat_cells": [len(self.open_to(seat)) for seat in seats],
            "seat_cards": cards,
            "group": [len(group) for group in largest],
            "group_room": room,
            "needed": [self.needed(seat) for seat in seats],
            "status": [one_hot[self.status(seat)].tolist() for seat in seats],
            "winning": [int(seat == best) for seat in seats],
            "winner_status": [0] * 4 if best is None else one_hot[self.status(best)].tolist(),
            "best_rank": [best_rank],
            "best_is_trump": [int(best_color == RED)],
            "beaters": [0 if best is None else self.unseen_for(best_color, best_rank, self.waiting)],
            "trump_beaters": [0 if best_color in (None, RED) else self.unseen_for(RED, 0, self.waiting)],
            "following": [len(self.waiting)],
        }
        if self.rules.bids:
            made = sum(bid for bid in self.bids if bid is not None)
            needs = sum(self.needed(seat) for seat in seats if self.status(seat) == NEEDS)
            found["bid_total"] = [made - self.rules.num_tricks]
            found["demand"] = [needs - self.tricks_left]
        return found

    def card_features(self, rank: int) -> dict[str, int]:
        left = [*self.hand]
        left.remove(rank)
        return {
            "rank": rank,
            "copies_left": left.count(rank),
            "beside_in_hand": left.count(rank - 1) + left.count(rank + 1),
            "unseen_copies": self.unseen[rank],
        }

    def choices(self, left: list[int], cells: set[Cell], plays: int) -> dict[str, list[int]]:
        """What a hand can place on ``cells``, by colour."""
        return {
            "slack_without": [
                largest_matching(left, {cell for cell in cells if cell[0] != color}) - plays
                for color in self.colors
            ],
            "color_choices": [sum(c == color and r in left for c, r in cells) for color in self.colors],
        }

    def discard_features(self, rank: int) -> dict[str, int | list[int]]:
        left = [*self.hand]
        left.remove(rank)
        return {
            **self.card_features(rank),
            **self.choices(left, self.open_to(0), self.plays),
            "slack": largest_matching(left, self.open_to(0)) - self.plays,
            "cells_left": sum(r == rank for _, r in self.empty),
        }

    def bid_features(self, bid: int) -> dict[str, int]:
        others = sum(other for other in self.bids[1:] if other is not None)
        return {
            "bid": bid,
            "bid_over": 4 * bid - self.expected_quarters(),
            "bid_total": others + bid - self.rules.num_tricks,
        }

    def wish(self, seat: int) -> int:
        return {NEEDS: 1, EXACT: -1}.get(self.status(seat), 0)

    def play_features(self, color: int, rank: int) -> dict[str, int | list[int]]:
        here, best = (color, rank), self.best()
        trick = {**self.trick, 0: here}
        led = color if self.led is None else self.led
        beats = {seat: (c == RED, r) for seat, (c, r) in trick.items() if c in (RED, led)}
        wins = 0 in beats and max(beats, key=lambda seat: beats[seat]) == 0
        higher = self.unseen_for(color, rank, self.waiting) if wins else 0
        trumping = self.unseen_for(RED, 0, self.waiting) if wins and color != RED else 0
        gives_up = color != led and led in self.tokens[0]
        kept = self.tokens[0] - ({led} if gives_up else set())
        left = [*self.hand]
        left.remove(rank)
        cells = {cell for cell in self.empty - {here} if cell[0] in kept}
        before, after = largest_matching(self.hand, self.open_to(0)), largest_matching(left, cells)
        groups = groups_of([*(cell for group in self.groups[0] for cell in group), here])
        size = max(map(len, groups))
        grown = next(group for group in groups if here in group)
        largest = grown if len(grown) == size else largest_of(self.groups[0])
        room = {cell for near in map(beside, largest) for cell in near} & cells
        denied = [0]
        for seat in self.seats[1:]:
            cells_of = [cell for group in self.groups[seat] for cell in group]
            if color in self.tokens[seat] and beside(here) & set(cells_of):
                most = max(map(len, groups_of([*cells_of, here])))
                denied.append(most - len(largest_of(self.groups[seat])))
        unseen = [r for r in self.ranks for _ in range(self.unseen[r])]
        others = [(seat, self.open_to(seat) - {here}) for seat in self.seats[1:]]
        return {
            **self.card_features(rank),
            **self.choices(left, cells, self.plays - 1),
            "other_slack": [
                largest_matching(unseen, there) - (self.tricks_left - (seat in self.trick))
                for seat, there in others
            ],
            "other_choices": [sum(self.unseen[r] > 0 for _, r in there) for _, there in others],
            "trump": color == RED,
            "follows": color == led,
            "wins_now": wins,
            "beaters": higher,
            "trump_beaters": trumping,
            "wins_surely": wins and not higher and not trumping,
            "win_is_wanted": self.wish(0) if wins else 0,
            "win_spoils": self.wish(best) if wins and best is not None else 0,
            "gives_up_color": gives_up,
            "placeable_lost": before - 1 - after,
            "slack": after - (self.plays - 1),
            "cells_left": sum(r == rank for _, r in self.empty - {here}),
            "group_growth": size - len(largest_of(self.groups[0])),
            "own_beside": sum(self.owner.get(cell) == 0 for cell in beside(here)),
            "group_room": len({cell for cell in room if cell[1] in left}),
            "others_beside": sum(self.owner.get(cell, 0) > 0 for cell in beside(here)),
            "group_denied": max(denied),
        }

    def action_features(self, action: int) -> dict[str, Any]:
        """The features of a legal action, by part, without parts of zeros."""
        rules = self.rules
        found: dict[str, int | list[int]]
        if action == rules.paradox:
            found = {}
        elif action < rules.num_ranks:
            found = self.discard_features(action + 1)
        elif action < rules.first_play:
            found = self.bid_features(rules.bids[action - rules.num_ranks])
        else:
            k = action - rules.first_play
            found = self.play_features(k // rules.num_ranks, k % rules.num_ranks + 1)
        arrays = {name: np.ravel(number).astype(int) for name, number in found.items()}
        return without_zeros(arrays)
