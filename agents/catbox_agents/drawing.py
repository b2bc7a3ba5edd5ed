"""Agents that need random numbers: their own, or those that the arena gives to a decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed
from catbox_env import Game

#: The increment of SplitMix64.
MIX_STEP = 0x9E3779B97F4A7C15


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64: numbers that are next to each other become words that have nothing in common.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), figure 19.
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class SeededAgent(Agent):
    """Base class of agents whose random numbers for a decision can be given."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._given: NDArray[np.uint64] | None = None

    def seed_decisions(self, seeds: NDArray[np.uint64]) -> None:
        """The next decisions take their random numbers from ``seeds`` (N,), one for each row, and from nothing else."""
        self._given = seeds

    def given_seeds(self, number: int) -> NDArray[np.uint64] | None:
        """The seeds (``number``,) that were given for these decisions, once only; None: none were given.

        Raises ValueError for seeds of another number of decisions.
        """
        given, self._given = self._given, None
        if given is not None and len(given) != number:
            raise ValueError(f"seeds for {len(given)} decisions, but {number} rows are asked about")
        return given


class DrawingAgent(SeededAgent):
    """Base class of agents that take one uniform number for each decision."""

    draws_actions = True

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._generator = np.random.default_rng(seed)

    def uniforms(self, number: int) -> NDArray[np.float64]:
        """A number (``number``,) in [0, 1) for each decision: from the seeds, if any were given, else the agent's own.

        Errors as in `given_seeds`.
        """
        seeds = self.given_seeds(number)
        if seeds is None:
            return self._generator.random(number)
        return (seeds >> np.uint64(11)).astype(np.float64) * 2.0**-53


def draw_actions(policies: NDArray[np.floating], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """An action for each row of ``policies`` (n, A): where their cumulative sums pass ``points`` (n,), from 0 to 1."""
    sums = policies.cumsum(axis=1, dtype=np.float64)
    drawn = (sums <= (points * sums[:, -1])[:, None]).sum(axis=1)
    last = policies.shape[1] - 1 - (policies[:, ::-1] > 0).argmax(axis=1)  # where rounding leads past the end
    return np.minimum(drawn, last)
