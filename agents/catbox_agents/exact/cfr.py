"""CFR+ (Tammelin 2014, "Solving large imperfect information games using CFR+"), on a whole tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed
from catbox_agents.exact.tabular import TabularAgent
from catbox_agents.exact.tree import MAX_HISTORIES, GameTree
from catbox_agents.exact.values import Floats, back_up, reach
from catbox_env import Game
from catbox_env.core.checks import check_integer

#: Default iterations of `CFRAgent`.
ITERATIONS = 1000


class CFRPlus:
    """A policy of two players whose average converges to a Nash equilibrium.

    An iteration updates seat 0 and then seat 1, against the new policy of seat 0 (alternating updates). Negative
    regrets are set to 0 after every update (regret matching+). The average policy weights a seat's policy of iteration
    t by t (linear averaging without delay) and by the seat's own reach probability of the information state.

    Attributes:
        tree: the game.
        iterations: done so far.
        policy: (S,) float64, what both seats play in the next iteration.
        regrets: (S,) float64, of each slot.

    Raises ``ValueError`` for more than two players, and for a game that is not constant-sum: CFR+ would not converge to
    an equilibrium.
    """

    def __init__(self, tree: GameTree) -> None:
        if tree.num_players != 2:
            raise ValueError(
                f"{tree.game.id} with {tree.num_players} players: CFR+ solves two-player games; make the game with "
                "num_players=2"
            )
        sums = tree.paid.sum(axis=1)
        if np.ptp(sums) > 1e-9:
            raise ValueError(
                f"{tree.game.id} with reward={tree.game.reward!r}: the two players are paid between {sums.min():g} and "
                f"{sums.max():g} together, and CFR+ solves constant-sum games; make the game with reward='margin'"
            )
        self.tree, self.iterations = tree, 0
        self.policy = tree.uniform_policy()
        self.regrets = np.zeros(tree.num_slots)
        self._sums = np.zeros(tree.num_slots)

    def iterate(self, iterations: int = 1) -> None:
        """Run this many more iterations."""
        for _ in range(check_integer("iterations", iterations, 0)):
            self.iterations += 1
            for seat in range(2):
                self._update(seat)

    def average_policy(self) -> Floats:
        """The average policy (S,), which converges to an equilibrium; uniform in states it has never reached."""
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
    """The own reach probability (I,) of the seat to move in each information state."""
    found = np.ones(len(tree.seats))
    for level in tree.state_levels:
        through = tree.own_slot[level]
        found[level] = np.where(through < 0, 1.0, found[tree.slot_state[through]] * policy[through])
    return found


class CFRAgent(TabularAgent):
    """Plays the average policy of CFR+ in a small game, solved when the agent is made.

    Args:
        game, seed: as for every agent.
        iterations: of CFR+, at least 1.
        max_histories: as for `GameTree`.

    Errors as in `GameTree` and `CFRPlus`.
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
