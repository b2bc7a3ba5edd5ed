"""The trees of ISMCTS as arrays, and compiled functions on them. `ismcts` describes the search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.compilation import cached_njit
from catbox_env.core.rng import GENERATOR, random_below

#: No node yet.
NEW = -1


class Trees(NamedTuple):
    """m trees of at most C nodes, node 0 the root, with A actions; the statistics are of an action in a node.

    - ``visits`` (m, C, A) int32: simulations that chose it, including those under way; ``pending`` (m, C, A) int32:
      those under way.
    - ``open`` (m, C, A) int32: how often it was legal when the node was visited.
    - ``totals`` (m, C, A) float64: what the finished simulations paid the seat that moved.
    - ``children`` (m, C, A + 1) int32: the next node, or NEW; the last column is for hidden actions.
    - ``num_nodes`` (m,) int64.
    - ``low``, ``high`` (m,) float64: the lowest and highest reward of any seat so far.
    - ``generators`` (m,) of GENERATOR.
    """

    visits: NDArray[np.int32]
    pending: NDArray[np.int32]
    open: NDArray[np.int32]
    totals: NDArray[np.float64]
    children: NDArray[np.int32]
    num_nodes: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    generators: NDArray[Any]

    @staticmethod
    def size_of_one(simulations: int, num_actions: int) -> int:
        """The approximate size of a tree in bytes."""
        return (simulations + 1) * num_actions * 24

    def see(self, tree_of: NDArray[np.int64], paid: NDArray[np.float64]) -> None:
        """Record that simulations in the trees ``tree_of`` (N,) have paid ``paid`` (N, P)."""
        np.minimum.at(self.low, tree_of, paid.min(axis=1))
        np.maximum.at(self.high, tree_of, paid.max(axis=1))


def make_trees(number: int, simulations: int, num_actions: int, keys: NDArray[np.uint64]) -> Trees:
    """Trees of a root alone, with room for ``simulations`` more nodes; ``keys`` (m,) seed their generators."""
    nodes = simulations + 1
    shape = (number, nodes, num_actions)
    generators = np.zeros(number, GENERATOR)
    generators["a"], generators["b"] = keys >> np.uint64(32), keys & np.uint64(2**32 - 1)
    generators["counter"] = 1
    return Trees(
        np.zeros(shape, np.int32),
        np.zeros(shape, np.int32),
        np.zeros(shape, np.int32),
        np.zeros(shape),
        np.full((number, nodes, num_actions + 1), NEW, np.int32),
        np.ones(number, np.int64),
        np.full(number, np.inf),
        np.full(number, -np.inf),
        generators,
    )


def choose_actions(
    trees: Trees,
    tree_of: NDArray[np.int64],
    nodes: NDArray[np.int64],
    masks: NDArray[np.bool_],
    priors: NDArray[np.float64],
    exploration: float,
    actions: NDArray[np.int64],
) -> None:
    """Choose ``actions`` (n,) in the nodes ``nodes`` (n,), one after the other, and count them as under way.

    By UCB1, an untried action first; with ``priors`` (n, A), (n, 0) for none, by PUCT.
    """
    _choose(
        trees.visits, trees.pending, trees.open, trees.totals, trees.low, trees.high, trees.generators,
        tree_of, nodes, masks, priors, exploration, actions,
    )  # fmt: skip


@cached_njit(nogil=True)
def _choose(
    visits: NDArray[np.int32],
    pending: NDArray[np.int32],
    was_open: NDArray[np.int32],
    totals: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    generators: NDArray[Any],
    tree_of: NDArray[np.int64],
    nodes: NDArray[np.int64],
    masks: NDArray[np.bool_],
    priors: NDArray[np.float64],
    exploration: float,
    actions: NDArray[np.int64],
) -> None:
    for k in range(len(nodes)):
        tree, node = tree_of[k], nodes[k]
        tried, waiting = visits[tree, node], pending[tree, node]
        times_open, total = was_open[tree, node], totals[tree, node]
        span = high[tree] - low[tree]
        # With priors, the mean over the tried actions stands for the untried ones.
        num_done, sum_done, num_untried = 0, 0.0, 0
        for action in range(masks.shape[1]):
            if masks[k, action]:
                times_open[action] += 1
                num_untried += tried[action] == 0
                done = tried[action] - waiting[action]
                num_done += done
                sum_done += (total[action] - done * low[tree]) / span if span > 0.0 else 0.5 * done
        untried_value = sum_done / num_done if num_done > 0 else 0.5
        best, best_score = -1, -np.inf
        if priors.shape[1] == 0 and num_untried > 0:
            skipped = random_below(generators[tree], num_untried)
            for action in range(masks.shape[1]):
                if masks[k, action] and tried[action] == 0:
                    if skipped == 0:
                        best = action
                    skipped -= 1
        else:
            for action in range(masks.shape[1]):
                if not masks[k, action]:
                    continue
                value = untried_value
                if tried[action] > 0:
                    # A simulation under way counts as the lowest reward.
                    done = tried[action] - waiting[action]
                    gained = (total[action] - done * low[tree]) / span if span > 0.0 else 0.5 * done
                    value = gained / tried[action]
                if priors.shape[1] > 0:
                    bonus = priors[k, action] * np.sqrt(float(times_open[action])) / (1.0 + tried[action])
                else:
                    bonus = np.sqrt(np.log(float(times_open[action])) / tried[action])
                score = value + exploration * bonus
                if score > best_score:
                    best, best_score = action, score
        tried[best] += 1
        waiting[best] += 1
        actions[k] = best


def follow(
    trees: Trees,
    tree_of: NDArray[np.int64],
    nodes: NDArray[np.int64],
    shown: NDArray[np.int64],
    following: NDArray[np.int64],
    is_new: NDArray[np.bool_],
) -> None:
    """The nodes ``following`` (n,) after actions that the searching seat sees as ``shown`` (n,), -1 for hidden ones.

    Missing ones are made: ``is_new`` (n,).
    """
    _follow(trees.children, trees.num_nodes, tree_of, nodes, shown, following, is_new)


@cached_njit(nogil=True)
def _follow(
    children: NDArray[np.int32],
    num_nodes: NDArray[np.int64],
    tree_of: NDArray[np.int64],
    nodes: NDArray[np.int64],
    shown: NDArray[np.int64],
    following: NDArray[np.int64],
    is_new: NDArray[np.bool_],
) -> None:
    hidden = children.shape[2] - 1
    for k in range(len(nodes)):
        tree = tree_of[k]
        edge = shown[k] if shown[k] >= 0 else hidden
        child = children[tree, nodes[k], edge]
        is_new[k] = child == NEW
        if child == NEW:
            child = num_nodes[tree]
            children[tree, nodes[k], edge] = child
            num_nodes[tree] += 1
        following[k] = child


def back_up(
    trees: Trees,
    tree_of: NDArray[np.int64],
    nodes: NDArray[np.int64],
    actions: NDArray[np.int64],
    paid: NDArray[np.float64],
) -> None:
    """Add what finished simulations paid, ``paid`` (n,), to the seats that chose ``actions`` (n,) in ``nodes`` (n,)."""
    np.add.at(trees.totals, (tree_of, nodes, actions), paid)
    np.subtract.at(trees.pending, (tree_of, nodes, actions), 1)
