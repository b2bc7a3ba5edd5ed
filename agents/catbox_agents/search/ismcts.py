"""Information-set Monte Carlo tree search, for many observations at once.

Single-observer ISMCTS: Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (IEEE Transactions
on Computational Intelligence and AI in Games, 2012), algorithm 1. Each simulation samples a world that is consistent
with the observation and descends one tree, in which only the actions legal in this world are open; the count of how
often an action was open replaces its parent's visit count. Every seat maximizes its own reward (max^n).
Differences from the paper:

- Nodes are what the searching seat sees: actions that are hidden from it, such as a discard, lead to the same node.
- A simulation goes to the end of the round (with ``reward="win"`` the tree ends there and the rollout goes to the
  end of the game). Where it leaves the tree, the rollout policy plays on for all seats.
- Rewards are scaled to 0 .. 1 by the lowest and highest that the tree has seen, so that ``exploration`` needs no unit.
- A policy with ``policy_batch``, such as a network, provides priors, and actions are chosen by PUCT (Silver et al.,
  "Mastering the game of Go without human knowledge", Nature 2017) instead of UCB1. The prior is that of the seat to
  move in the world at hand.

It is fast because many simulations run side by side: those of all observations, and in each tree ``parallel`` of them,
which count for one another as losses until they are done (virtual loss: Chaslot et al., "Parallel Monte-Carlo Tree
Search", 2008). The first two simulations of a tree run alone, then 2, 4, 8 .. at a time. The trees are arrays for
compiled functions; games step in a `Vec`, and the policy is asked for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import RandomAgent, Seed, check_rows, has_policy
from catbox_agents.play import END_OF_GAME, END_OF_ROUND, ask_policy
from catbox_agents.search.playing import rollout_player, rollout_rewards, world_keys
from catbox_agents.search.rollout import MANY_WORLDS, MAX_GAMES
from catbox_agents.search.trees import Trees, back_up, choose_actions, follow, make_trees
from catbox_agents.search.worlds import row_generators, sample_worlds
from catbox_agents.specs import AgentSpec
from catbox_env import Game, Vec
from catbox_env.core.checks import check_integer, check_number
from catbox_env.core.spec import check_game_object
from catbox_env.core.vec import MAX_THREADS

#: Default exploration weights: UCB1 as in the paper, section IV; PUCT for values from 0 to 1.
UCB_EXPLORATION, PUCT_EXPLORATION = 0.7, 1.0
#: Bytes that the trees of one group of observations may take.
TREE_MEMORY = 2**28


class TreeResult(NamedTuple):
    """What a tree search of n observations found, for each of the A actions at the root

    - ``values`` (n, A) float64: the mean reward of the searching seat, in units of ``game.reward``; NaN where the
      action was never tried.
    - ``visits`` (n, A) int64: in how many simulations it was tried.

    and ``actions`` (n,) int64, the most visited; among equals the one with the highest value. A single legal action is
    chosen without a simulation.
    """

    values: NDArray[np.float64]
    visits: NDArray[np.int64]
    actions: NDArray[np.int64]


class ISMCTS:
    """Searches with one rollout policy and one number of simulations.

    Args:
        game, policy, max_games, num_threads: as in `RolloutSearch`; ``policy`` plays on from where a simulation leaves
            the tree.
        simulations: for each observation, at least 1.
        exploration: the weight of exploration, 0 or more; None: 0.7 for UCB1, 1 for PUCT.
        parallel: most simulations of a tree that run side by side, at least 1. More are faster but choose worse.

    Raises ``ValueError`` for an invalid argument.
    """

    def __init__(
        self,
        game: Game,
        policy: AgentSpec | None = None,
        simulations: int = 1000,
        exploration: float | None = None,
        parallel: int = 16,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
    ) -> None:
        self.game = check_game_object(game)
        self.player = rollout_player(game, policy)
        self.simulations = check_integer("simulations", simulations, 1, MANY_WORLDS)
        #: Whether actions are chosen by PUCT, with priors from the policy.
        self.has_priors = has_policy(self.player.agent) and not isinstance(self.player.agent, RandomAgent)
        if exploration is None:
            exploration = PUCT_EXPLORATION if self.has_priors else UCB_EXPLORATION
        self.exploration = check_number("exploration", exploration, "a finite number of 0 or more")
        self.parallel = check_integer("parallel", parallel, 1, MAX_GAMES)
        self.max_games = check_integer("max_games", max_games, 1)
        self.num_threads = check_integer("num_threads", num_threads, 1, MAX_THREADS)

    def search(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], seed: Seed | Sequence[Seed]
    ) -> TreeResult:
        """Search for the best action of each of n seats to move; arguments and errors as in `RolloutSearch.search`.

        Also raises ``ValueError`` if a tree does not fit into memory.
        """
        seen, masks = check_rows(self.game, observations, action_masks)
        generators = row_generators(seed, len(seen))
        result = TreeResult(
            np.full(masks.shape, np.nan), np.zeros(masks.shape, np.int64), masks.argmax(axis=1)
        )
        searched = np.flatnonzero(masks.sum(axis=1) > 1)
        size = Trees.size_of_one(self.simulations, self.game.num_actions)
        together = max(1, min(TREE_MEMORY // size, self.max_games // self.parallel))
        for first in range(0, len(searched), together):
            rows = searched[first : first + together]
            self._search_group(seen, masks, rows, generators, result)
        return result

    def _search_group(
        self,
        seen: NDArray[np.int8],
        masks: NDArray[np.bool_],
        rows: NDArray[np.int64],
        generators: NDArray[Any],
        result: TreeResult,
    ) -> None:
        """Grow a tree for each of ``rows`` (m,), and write what it finds into ``result``."""
        own = generators[rows]
        keys = world_keys(own)
        try:
            trees = make_trees(len(rows), self.simulations, self.game.num_actions, keys)
        except MemoryError as error:
            raise ValueError(
                f"simulations={self.simulations}: a tree of this size does not fit into memory; use fewer ({error})"
            ) from error
        done = 0
        while done < self.simulations:
            wave = min(self.parallel, max(1, done), self.simulations - done)
            counts = np.full(len(rows), wave, np.int64)
            games = sample_worlds(self.game, seen, masks, rows, counts, own, self.num_threads)
            tree_of = np.repeat(np.arange(len(rows)), wave)
            numbers = np.tile(np.arange(done, done + wave), len(rows)).astype(np.uint64)
            self._simulate(games, trees, tree_of, masks[rows], keys[tree_of] + numbers)
            done += wave
        visits = trees.visits[:, 0].astype(np.int64)
        values = np.divide(trees.totals[:, 0], visits, out=np.full(visits.shape, np.nan), where=visits > 0)
        most = visits == visits.max(axis=1, keepdims=True)
        result.values[rows], result.visits[rows] = values, visits
        result.actions[rows] = np.where(most, values, -np.inf).argmax(axis=1)

    def _simulate(
        self,
        games: Vec,
        trees: Trees,
        tree_of: NDArray[np.int64],
        root_masks: NDArray[np.bool_],
        keys: NDArray[np.uint64],
    ) -> None:
        """Run one simulation in each of ``games`` (N,), in the trees ``tree_of`` (N,)."""
        until = END_OF_GAME if self.game.reward == "win" else END_OF_ROUND
        size = games.num_envs
        searcher = games.current_player.astype(np.int64)
        nodes = np.zeros(size, np.int64)
        paths: list[tuple[NDArray[np.int64], ...]] = []
        paid = np.zeros(games.rewards.shape)
        rows = np.arange(size)
        rollouts: list[NDArray[np.int64]] = []
        while len(rows):
            masks = games.action_mask[rows]
            if not paths:
                masks &= root_masks[tree_of[rows]]
            movers = games.current_player[rows].astype(np.int64)
            actions = np.empty(len(rows), np.int64)
            where = tree_of[rows], nodes[rows]
            choose_actions(trees, *where, masks, self._priors(games, rows, masks), self.exploration, actions)
            paths.append((rows, *where, movers, actions))
            shown_as = np.where(movers == searcher[rows], actions, games.public_actions(actions, rows))
            games.step(actions, rows)
            paid[rows] += games.rewards[rows]
            ended = games.terminated[rows] | games.round_ended[rows]
            if until == END_OF_GAME:
                rollouts.append(rows[ended & ~games.terminated[rows]])
            going = ~ended
            following = np.empty(int(going.sum()), np.int64)
            is_new = np.empty(len(following), np.bool_)
            follow(trees, where[0][going], where[1][going], shown_as[going], following, is_new)
            rows = rows[going]
            nodes[rows] = following
            rollouts.append(rows[is_new])
            rows = rows[~is_new]
        left = np.sort(np.concatenate(rollouts))
        line_up = np.zeros((1, self.game.num_players), np.int64)
        paid += rollout_rewards(games, left, [self.player], line_up, until, keys)
        for step, path_trees, path_nodes, movers, actions in paths:
            back_up(trees, path_trees, path_nodes, actions, paid[step, movers])
        trees.see(tree_of, paid)

    def _priors(self, games: Vec, rows: NDArray[np.int64], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The policy's probabilities (n, A) in the games ``rows`` (n,); (n, 0) without priors."""
        if not self.has_priors:
            return np.empty((len(rows), 0))
        priors = masks.astype(np.float64)
        choice = masks.sum(axis=1) > 1
        if choice.any():
            priors[choice] = ask_policy(*self.player, games, rows[choice])
        return priors
