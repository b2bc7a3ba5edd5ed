"""How likely sampled worlds are, given what the other seats have done: the weights of a search.

A world is a hypothesis about hidden cards. It is rewound to the beginning of the round (`Game.rewind`) and replayed; at
each decision of another seat, a policy gives the probability of what that seat did. The searching seat's own actions
carry no information. A hidden action, such as a discard, is part of the world and counts with its own probability;
summing over the worlds marginalizes it.

Nobody plays exactly by the policy, so each seat is assumed to play a random action with probability ``epsilon``:

    chance of an action = (1 - epsilon) * policy + epsilon / number of legal actions

If a seat may play by one of several policies, their prior is uniform. The likelihood of what it did is then the mean of
its likelihoods under each policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import sample_actions
from catbox_agents.play import ask_policy
from catbox_agents.search.playing import Player, uniforms
from catbox_agents.search.worlds import distinct, repeated
from catbox_env import Vec
from catbox_env.core.compilation import cached_njit
from catbox_env.core.kernels import UNUSED
from catbox_env.core.rng import next_uint32

#: Binary digits of the power of the likelihood.
STEPS = 10


class Likelihoods(NamedTuple):
    """Log-likelihoods of N worlds, up to a constant for each observation; minus infinity: impossible.

    ``worlds`` (N,) float64; ``seats`` (N, P, K) float64: the part of the actions of seat p if it plays by policy k, 0
    for the searching seat.
    """

    worlds: NDArray[np.float64]
    seats: NDArray[np.float64]


def likelihoods(
    worlds: Vec,
    histories: NDArray[np.int8],
    history_of: NDArray[np.int64],
    players: Sequence[Player],
    epsilon: float,
) -> Likelihoods:
    """How likely each world is.

    Args:
        worlds: N worlds, sampled from the observations of their seats to move.
        histories: (M, T, 2) int8, of these seats.
        history_of: (N,) which of them each world has.
        players: the K policies that the other seats may play by.
        epsilon: see above, from 0 to 1.

    By Bayes' rule: proportional to the probability of the deal times those of all actions, divided by the probability
    with which the world was sampled.
    """
    past = worlds.game.rewind(worlds, histories, history_of)
    games, searcher = past.round_starts, worlds.current_player.copy()
    seats = np.zeros((worlds.num_envs, worlds.game.num_players, len(players)))
    for actions in past.actions.T:
        rows = np.flatnonzero((actions != UNUSED) & (past.importance_weights > 0))
        num_legal = games.action_mask[rows].sum(axis=1)
        others = (games.current_player[rows] != searcher[rows]) & (num_legal > 1)
        asked = rows[others]
        if len(asked):
            # A seat often has the same cards in many worlds.
            first, group = distinct(games.observation[asked])
            for k, player in enumerate(players):
                policies = ask_policy(player.agent, player.label, games, asked[first])
                taken = policies[group, actions[asked]]
                chances = (1 - epsilon) * taken + epsilon / num_legal[others]
                with np.errstate(divide="ignore"):
                    seats[asked, games.current_player[asked], k] += np.log(chances)
        games.step(actions[rows], rows)
    with np.errstate(divide="ignore"):
        logs = np.log(past.importance_weights) + (
            np.logaddexp.reduce(seats, axis=2) - np.log(len(players))
        ).sum(axis=1)
    return Likelihoods(logs, seats)


def sample_players(
    seats: NDArray[np.float64], searchers: NDArray[Any], keys: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The policy of each seat of each world, (N, P), sampled given what it did: ``seats`` (N, P, K) as above.

    The searching seat, ``searchers`` (N,), has the first policy. ``keys`` (N,) are the random numbers.
    """
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(np.exp(seats - seats.max(axis=2, keepdims=True)), nan=1.0)
    every = np.arange(len(seats))
    drawn = [sample_actions(shares[:, seat], uniforms(keys, seat)) for seat in range(seats.shape[1])]
    players = np.stack(drawn, axis=1)
    players[every, searchers] = 0
    return players


def powers(
    logs: NDArray[np.float64], drawn: NDArray[np.int64], beta: float, least: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For each observation, the largest power up to ``beta`` that leaves an effective number of worlds of ``least``.

    ``logs`` are those of ``drawn`` (m,) worlds of each observation, one after the other; ``least`` (m,). Found to
    `STEPS` binary digits of ``beta``; if no power suffices, because too few worlds are possible, the smallest.
    """
    found = np.full(len(drawn), beta)
    first = 0
    for i, number in enumerate(drawn.tolist()):
        of_row = logs[first : first + number]
        first += number
        if not np.isfinite(of_row.max()) or _effective(of_row * beta) >= least[i]:
            continue
        low, high = 0.0, beta
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if _effective(of_row * middle) >= least[i] else (low, middle)
        found[i] = max(low, beta / 2**STEPS)
    return found


def _effective(logs: NDArray[np.float64]) -> float:
    """The effective number of worlds with these log weights."""
    weights = np.exp(logs - logs.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def resample(
    logs: NDArray[np.float64],
    drawn: NDArray[np.int64],
    counts: NDArray[np.int64],
    units: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Resample by weight: of ``drawn`` (m,) worlds of each observation, one after the other, choose ``counts`` (m,).

    Returns the indices (sum of counts,) of the chosen ones among all worlds, possibly with repeats, and their new log
    weights: for each observation, the mean weight of its worlds. Systematic resampling: Kitagawa, "Monte Carlo filter
    and smoother for non-Gaussian nonlinear state space models" (1996); ``units`` (m,), from 0 to 1, are its random
    numbers.
    """
    taken, means = [], np.empty(len(drawn))
    first = 0
    for i, (number, count) in enumerate(zip(drawn.tolist(), counts.tolist(), strict=True)):
        of_row = logs[first : first + number]
        top = of_row.max()
        weights = np.exp(of_row - top) if np.isfinite(top) else np.ones(number)
        sums = weights.cumsum()
        points = (np.arange(count) + units[i]) / count * sums[-1]
        taken.append(first + np.minimum(np.searchsorted(sums, points, side="right"), number - 1))
        means[i] = top + np.log(sums[-1] / number)
        first += number
    return np.concatenate(taken), repeated(means, counts)


def random_units(generators: NDArray[Any]) -> NDArray[np.float64]:
    """A number (m,) in [0, 1) from each of ``generators`` (m,), which advance."""
    numbers = np.empty(len(generators), np.int64)
    _random_words(generators, numbers)
    return numbers.astype(np.float64) * 2.0**-32


@cached_njit(nogil=True)
def _random_words(generators: NDArray[Any], numbers: NDArray[np.int64]) -> None:
    for i in range(len(generators)):
        numbers[i] = next_uint32(generators[i])
