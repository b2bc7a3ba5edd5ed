"""The tables of an arena: which agents sit together, and who takes which seat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent
from catbox_agents.specs import AgentSpec, agent_of, is_users_own
from catbox_env import Game

#: One agent among copies of another; an agent among its own copies; every agent, or as many as there are seats.
PAIR, SELF, MIXED = "pair", "self", "mixed"


def rotate_seats(line_up: Sequence[int]) -> NDArray[np.int64]:
    """The agent in each seat for every rotation of ``line_up`` (P,): (P, P)."""
    return np.stack([np.roll(np.asarray(line_up, np.int64), turn) for turn in range(len(line_up))])


@dataclass(frozen=True)
class Table:
    """``agents``: the distinct ones, as indices in the arena. ``line_up`` (P,): the agent in each seat, an index in
    ``agents``."""

    kind: str
    agents: tuple[int, ...]
    line_up: tuple[int, ...]

    @property
    def rotations(self) -> int:
        """How often each deal is played: from every seat, or once if the same agent has all seats."""
        return 1 if self.kind == SELF else len(self.line_up)

    def seat_games(self, place: int) -> int:
        """In how many games of a deal agent ``place`` of the table plays, once for each seat that it holds."""
        return self.rotations * self.line_up.count(place)

    def line_ups(self, order: np.random.Generator) -> NDArray[np.int64]:
        """Who sits where in each game of a deal: (rotations, P), indices in ``agents``.

        At a mixed table ``order`` shuffles the line-up. Other tables do not depend on it.
        """
        if self.kind == SELF:
            return np.zeros((1, len(self.line_up)), np.int64)
        return rotate_seats(order.permutation(self.line_up).tolist() if self.kind == MIXED else self.line_up)


def all_tables(num_agents: int, num_seats: int, mixed: bool) -> list[Table]:
    """The tables of an arena: each agent among copies of each other and among its own, and ``mixed`` ones.

    With two seats, one A among B's is also one B among A's, and is played once. A mixed table has every agent. With
    fewer agents than seats, there are as many mixed tables as agents, which take turns in the extra seats; with more,
    there is a mixed table for each combination of as many agents as there are seats.
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


class Cast:
    """The agents that play. ``places`` (rotations, P): the index of the one that holds each seat.

    There is one object for each agent; for a user's class given as a spec, one for each seat of each rotation.
    ``line_ups`` (rotations, P) has the indices in ``agents``. ``make`` makes the agent of a spec with the seed
    ``seed_of(agent, rotation, seat)``.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[AgentSpec],
        labels: Sequence[str],
        line_ups: NDArray[np.int64],
        seed_of: Callable[[int, int, int], int],
        make: Callable[[AgentSpec, str, Game, int], Agent] = agent_of,
    ) -> None:
        self.agents: list[Agent] = []
        self.labels: list[str] = []
        self.places = np.zeros_like(line_ups)
        for i, (given, label) in enumerate(zip(agents, labels, strict=True)):
            for turn, seat in np.argwhere(line_ups == i).tolist():
                first = self.labels[-1:] != [label]
                if first or (isinstance(given, str) and is_users_own(self.agents[-1])):
                    self.agents.append(make(given, label, game, seed_of(i, turn, seat)))
                    self.labels.append(label)
                self.places[turn, seat] = len(self.agents) - 1
