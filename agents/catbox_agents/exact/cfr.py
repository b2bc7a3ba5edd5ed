"""CFR+ (Tammelin 2014, "Solving large imperfect information games using CFR+"), over a whole tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed
from catbox_agents.exact.tabular import TabularAgent
from catbox_agents.exact.tree import MAX_HISTORIES, GameTree
from catbox_agents.exact.values import Floats, back_up, reach
from catbox_env import Game
from catbox_env.core.checks import check_integer

#: How many iterations the reference agent is the average of.
ITERATIONS = 1000


class CFRPlus:
    """A policy of two players that comes closer to a Nash equilibrium with every iteration.

    An iteration updates seat 0 and then seat 1, which already meets the new policy of seat 0 (alternating updates).
    Regrets that would be negative are set to 0 after every update (regret matching+). The average policy weighs the
    policy that a seat played in iteration t by t (linear averaging without delay) and by the probability that the seat
    itself plays to the information state.

    Attributes:
        tree: the game.
        iterations: done so far.
        policy: (S,) float64, what both seats play in the next iteration.
        regrets: (S,) float64, of each slot.

    Raises ``ValueError`` for more than two players, and where what both are paid together is not the same at every end
    of the game: elsewhere CFR+ does not lead to an equilibrium.
    """

    def __init__(self, tree: GameTree) -> None:
        if tree.num_players != 2:
            raise ValueError(
                f"{tree.game.id} with {tree.num_players} players: CFR+ solves games of two players; make the game with "
                "num_players=2"
            )
        sums = tree.paid.sum(axis=1)
        if np.ptp(sums) > 1e-9:
            raise ValueError(
                f"{tree.game.id} with reward={tree.game.reward!r}: the two players are paid between {sums.min():g} and "
                f"{sums.max():g} together, and CFR+ solves games in which one wins what the other loses; make the game "
                "with reward='margin'"
            )
        self.tree, self.iterations = tree, 0
        self.policy = tree.uniform_policy()
        self.regrets = np.zeros(tree.num_slots)
        self._sums = np.zeros(tree.num_slots)

    def iterate(self, iterations: int = 1) -> None:
        """Do so many iterations more."""
        for _ in range(check_integer("iterations", iterations, 0)):
            self.iterations += 1
            for seat in range(2):
                self._update(seat)

    def average_policy(self) -> Floats:
        """The average policy (S,), which comes close to an equilibrium; uniform where it has never been."""
        return _normalised(self.tree, self._sums)

    def _update(self, seat: int) -> None:
        tree = self.tree
        own = np.flatnonzero(tree.slot_seat == seat)
        worth = np.empty(tree.num_slots)

        def play_on(slots: slice, states: slice, worth_here: Floats) -> Floats:
            worth[slots] = worth_here
            return np.where(tree.slot_seat[slots] == seat, self.policy[slots], 1.0)

        back_up(tree, reach(tree, self.policy, without=seat), seat, play_on)
        mean = tree.sums(worth * self.policy)[tree.slot_state]
        self.regrets[own] = np.maximum(self.regrets + worth - mean, 0.0)[own]
        weights = self.iterations * _own_reach(tree, self.policy)[tree.slot_state] * self.policy
        self._sums[own] += weights[own]
        self.policy[own] = _normalised(tree, self.regrets)[own]


def _normalised(tree: GameTree, amounts: NDArray[np.float64]) -> Floats:
    """``amounts`` (S,), none negative, divided by their sum in each information state; uniform where that is 0."""
    sums = tree.sums(amounts)[tree.slot_state]
    return np.divide(amounts, sums, out=tree.uniform_policy(), where=sums > 0)


def _own_reach(tree: GameTree, policy: Floats) -> Floats:
    """The probability (I,) that the seat to move plays to each information state, the others towards it."""
    found = np.ones(len(tree.seats))
    for level in tree.state_levels:
        through = tree.own_slot[level]
        found[level] = np.where(through < 0, 1.0, found[tree.slot_state[through]] * policy[through])
    return found


class CFRAgent(TabularAgent):
    """Plays the average policy of CFR+ in a game that is small enough, solved when the agent is made.

    Args:
        game, seed: as of every agent.
        iterations: of CFR+, at least 1.
        max_histories: as of `GameTree`.

    Errors as of `GameTree` and `CFRPlus`.
    """

    def __init__(
        self,
        game: Game,
        seed: Seed = None,
        iterations: int = ITERATIONS,
        max_histories: int = MAX_HISTORIES,
    ) -> None:
        iterations = check_integer("iterations", iterations, 1)
        solver = CFRPlus(GameTree(game, max_histories))
        solver.iterate(iterations)
        super().__init__(solver.tree, solver.average_policy(), seed)
