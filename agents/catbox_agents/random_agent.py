"""Agents with random numbers, their own or given for each decision by the arena; and the agent ``random``."""

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
    """The output function of SplitMix64: turns consecutive numbers into unrelated words.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), figure 19.
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class SeededAgent(Agent):
    """Base class of agents whose decisions can be seeded one by one."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._given: NDArray[np.uint64] | None = None

    def seed_decisions(self, seeds: NDArray[np.uint64]) -> None:
        """Make the random numbers of the next decisions depend on ``seeds`` (N,) alone, one for each row."""
        self._given = seeds

    def given_seeds(self, number: int) -> NDArray[np.uint64] | None:
        """Take the seeds (``number``,) given for these decisions; None if there are none.

        Raises ValueError if there are seeds for another number of decisions.
        """
        given, self._given = self._given, None
        if given is not None and len(given) != number:
            raise ValueError(f"seeds for {len(given)} decisions, but {number} rows to decide")
        return given


class SamplingAgent(SeededAgent):
    """Base class of agents that use one uniform number for each decision."""

    draws_actions = True

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._generator = np.random.default_rng(seed)

    def uniforms(self, number: int) -> NDArray[np.float64]:
        """A number (``number``,) in [0, 1) for each decision: from the given seeds, else from the agent's generator.

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
    last = policies.shape[1] - 1 - (policies[:, ::-1] > 0).argmax(axis=1)  # if rounding leads past the end
    return np.minimum(drawn, last)


class RandomAgent(SamplingAgent):
    """Picks a legal action uniformly at random."""

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
        """(N, A) float64: equal for all legal actions of a row."""
        _, masks = check_rows(self.game, observations, action_masks)
        return masks / masks.sum(axis=1, keepdims=True).clip(1)


@cached_njit(nogil=True)
def _sample_rows(masks: NDArray[np.bool_], uniforms: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Fill ``actions`` (N,) by ``masks`` (N, A) and ``uniforms`` (N,) in [0, 1); -1 where no action is legal."""
    for row in range(len(masks)):
        actions[row] = legal_at(masks[row], uniforms[row])
