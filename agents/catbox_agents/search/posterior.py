"""How likely drawn worlds are, by what the other seats have done: the weights of a search.

A world is a hypothesis about hidden cards. It is taken back to the beginning of the round (`Game.rewind`) and replayed;
at each decision of another seat a policy is asked how likely it is to do what that seat did. What the searching seat
did itself tells nothing. A hidden action, such as a discard, is a part of the world and counts with its own probability;
summed over the worlds it is marginalised.

Nobody plays exactly by the policy, so that each seat is taken to play once in ``1 / epsilon`` decisions at random:

    chance of an action = (1 - epsilon) * policy + epsilon / number of legal actions
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent
from catbox_agents.decisions import ask_policy
from catbox_env import Vec
from catbox_env.core.kernels import UNUSED


def log_weights(
    worlds: Vec,
    histories: NDArray[np.int8],
    history_of: NDArray[np.int64],
    policy: Agent,
    label: str,
    epsilon: float,
) -> NDArray[np.float64]:
    """The logarithm (N,) of how likely each world is, up to a constant of its observation; minus infinity: impossible.

    Args:
        worlds: N worlds, drawn from what their seats to move see.
        histories: (M, T, 2) int8, of these seats.
        history_of: (N,) which of them each world has.
        policy: how the other seats are taken to play; ``label`` names it in errors.
        epsilon: see above, from 0 to 1.

    By Bayes' rule: proportional to the chance of the deal times those of all actions, divided by the chance with which
    the world was drawn.
    """
    past = worlds.game.rewind(worlds, histories, history_of)
    games, searcher = past.beginnings, worlds.current_player.copy()
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = np.log(past.weights)
    for actions in past.actions.T:
        rows = np.flatnonzero((actions != UNUSED) & (past.weights > 0))
        num_legal = games.action_mask[rows].sum(axis=1)
        others = (games.current_player[rows] != searcher[rows]) & (num_legal > 1)
        asked = rows[others]
        if len(asked):
            policies = ask_policy(policy, label, games, asked)
            taken = policies[np.arange(len(asked)), actions[asked]]
            chances = (1 - epsilon) * taken + epsilon / num_legal[others]
            with np.errstate(divide="ignore"):
                logs[asked] += np.log(chances)
        games.step(actions[rows], rows)
    return logs
