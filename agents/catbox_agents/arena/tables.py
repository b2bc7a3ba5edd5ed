"""The tables of an arena: which agents sit together, and who takes which seat."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.arena.playing import rotate_seats

#: One agent among the others' copies; an agent among its own copies; every agent, or as many as there are seats.
PAIR, SELF, MIXED = "pair", "self", "mixed"


@dataclass(frozen=True)
class Table:
    """``agents``: the different ones, as indices in the arena. ``line_up`` (P,): who has each seat, an index in
    ``agents``."""

    kind: str
    agents: tuple[int, ...]
    line_up: tuple[int, ...]

    @property
    def rotations(self) -> int:
        """How often each deal is played: from every seat, or once where the same agent sits in all of them."""
        return 1 if self.kind == SELF else len(self.line_up)

    def line_ups(self, order: np.random.Generator) -> NDArray[np.int64]:
        """Who sits where in each game of a deal: (rotations, P), indices in ``agents``.

        At a mixed table ``order`` draws who sits beside whom. The others are the same for every ``order``.
        """
        if self.kind == SELF:
            return np.zeros((1, len(self.line_up)), np.int64)
        return rotate_seats(order.permutation(self.line_up).tolist() if self.kind == MIXED else self.line_up)


def all_tables(num_agents: int, num_seats: int, mixed: bool) -> list[Table]:
    """The tables of an arena: each agent among each other's copies and among its own, and ``mixed`` ones.

    With two seats, one A among B's is also one B among A's, and is played once. A mixed table has every agent. Where
    agents are fewer than seats, there are as many mixed tables as agents, which take turns at the seats that are over;
    where they are more, there is a mixed table for each choice of as many agents as there are seats.
    """
    tables = []
    for agent in range(num_agents):
        for field in range(num_agents):
            if agent == field:
                tables.append(Table(SELF, (agent,), (0,) * num_seats))
            elif num_seats > 2 or agent < field:
                tables.append(Table(PAIR, (agent, field), (0, *(1,) * (num_seats - 1))))
    if not mixed:
        return tables
    if num_agents > num_seats:
        chosen = combinations(range(num_agents), num_seats)
        return tables + [Table(MIXED, agents, tuple(range(num_seats))) for agents in chosen]
    turns = 1 if num_seats % num_agents == 0 else num_agents
    everybody = tuple(range(num_agents))
    return tables + [
        Table(MIXED, everybody, tuple((turn + seat) % num_agents for seat in range(num_seats)))
        for turn in range(turns)
    ]
