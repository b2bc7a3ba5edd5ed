"""Agents that use random numbers: their own, or those that the arena gives to a decision; and the agent ``random``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed, check_rows
from catbox_env import Game
from catbox_env.core.bits import legal_at
from catbox_env.core.compilation import cached_njit

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


class SamplingAgent(SeededAgent):
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


def sample_actions(policies: NDArray[np.floating], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """An action for each row of ``policies`` (n, A): where their cumulative sums pass ``points`` (n,), from 0 to 1."""
    sums = policies.cumsum(axis=1, dtype=np.float64)
    drawn = (sums <= (points * sums[:, -1])[:, None]).sum(axis=1)
    last = policies.shape[1] - 1 - (policies[:, ::-1] > 0).argmax(axis=1)  # where rounding leads past the end
    return np.minimum(drawn, last)


class RandomAgent(SamplingAgent):
    """Picks each legal action with the same chance, from a generator of its own."""

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        _, masks = check_rows(self.game, observations, action_masks)
        actions = np.empty(len(masks), np.int64)
        _sample_rows(masks, self.uniforms(len(masks)), actions)
        if (actions < 0).any():
            raise ValueError(
                f"no legal action in row {int(np.argmin(actions))}: only a seat to move can be asked"
            )
        return actions

    def policy_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.float64]:
        """(N, A) float64: the same for each legal action of a row."""
        _, masks = check_rows(self.game, observations, action_masks)
        return masks / masks.sum(axis=1, keepdims=True).clip(1)


@cached_njit(nogil=True)
def _sample_rows(masks: NDArray[np.bool_], uniforms: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """A legal action for each row of ``masks`` (N, A) by ``uniforms`` (N,) in [0, 1); -1 where none is legal."""
    for row in range(len(masks)):
        actions[row] = legal_at(masks[row], uniforms[row])
