"""Deals played from every seat: who sits where, and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, needs_history
from catbox_agents.arena.results import RoundTotals
from catbox_agents.play_out import Ask, steps
from catbox_agents.specs import AgentSpec, agent_of, is_users_own
from catbox_env import Game, Vec

#: Deals are numbered in groups of this many: deal d is child d % GROUP of child d // GROUP.
GROUP = 2048


def deal_seed(root: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """The seed of deal ``number`` of those that ``root`` seeds."""
    return np.random.SeedSequence(root.entropy, spawn_key=(1, number // GROUP, number % GROUP))


def rotate_seats(line_up: Sequence[int]) -> NDArray[np.int64]:
    """The agent in each seat, for every rotation of ``line_up`` (P,): (P, P)."""
    return np.stack([np.roll(np.asarray(line_up, np.int64), turn) for turn in range(len(line_up))])


class Cast:
    """The agents that play. ``places`` (rotations, P): the index of the one that holds each seat.

    There is one object for each agent; for a user's class given as a spec, one for each seat of each rotation.
    ``line_ups`` (rotations, P) has the indices in ``agents``. ``seed_of(agent, rotation, seat)`` seeds a spec's agent,
    which ``make`` makes.
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


def play_deals(
    game: Game,
    cast: Cast,
    line_ups: NDArray[np.int64],
    deals: Sequence[np.random.SeedSequence],
    order: np.random.Generator,
    moved: Callable[[Vec, NDArray[np.int64]], None],
    ask: Ask | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], RoundTotals]:
    """Play every deal with every line-up, all at once: scores and win shares (deals, rotations, P), and the rounds.

    Game ``d * rotations + r`` of the batch is deal d with line-up r. ``order`` shuffles the rows of every step, and
    ``moved(vec, rows)`` is called before the first step, with all rows, and after each. ``ask`` as in `steps`.
    """
    rotations, seats = line_ups.shape
    num_games = len(deals) * rotations
    history = any(needs_history(agent) for agent in cast.agents)
    seeds = [deal for deal in deals for _ in range(rotations)]
    vec = Vec(game, num_games, seed=seeds, history=history, auto_deal=False)
    players, objects = (np.tile(seating, (len(deals), 1)) for seating in (line_ups, cast.places))
    scores = np.zeros((num_games, seats))
    rounds = RoundTotals(int(line_ups.max()) + 1)
    games = np.arange(num_games)
    moved(vec, games)
    for rows in steps(vec, cast.agents, cast.labels, objects, games, order=order, ask=ask):
        scores[rows] += vec.rewards[rows]
        rounds.add_round(vec, players)
        moved(vec, rows)
    shape = (len(deals), rotations, seats)
    return scores.reshape(shape), vec.win_shares.astype(np.float64).reshape(shape), rounds
