"""The agents that search before they play: ``search``, ``pimc`` and ``ismcts``. docs/search.md compares them.

Each decision has its own random numbers, from the agent's seed and its inputs, or from the seed that the arena gives.
So it does not depend on any other decision, earlier or in the same batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed, SeededAgent, agent_seed, check_rows
from catbox_agents.search.halving import flat_schedule, shared_schedule
from catbox_agents.search.ismcts import ISMCTS
from catbox_agents.search.rollout import (
    EPSILON,
    MANY_WORLDS,
    MAX_GAMES,
    RolloutSearch,
    SearchResult,
)
from catbox_agents.specs import AgentSpec
from catbox_env import Game
from catbox_env.core.checks import check_integer, check_integers
from catbox_env.core.rng import AGENTS, seed_for

#: Worlds of a decision without a time budget.
WORLDS = 128
#: How worlds are weighted (`RolloutSearch`). Bayes' rule (a power of 1) is better if the others play by the policy, and
#: much worse if they do not: docs/search.md.
BETA, PROPOSALS, EFFECTIVE = 0.25, 8, 0.5
#: Standard errors by which an action must beat the policy's own.
CAUTION = 1.0


class _OwnSeeds(SeededAgent):
    """Seeds for decisions: the given ones, or hashes of the agent's seed and its inputs."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._seed = seed_for(AGENTS, seed).generate_state(4).tobytes()

    def seeds(self, observations: Any, action_masks: Any, histories: NDArray[np.int8] | None) -> list[Seed]:
        """A seed for each row."""
        seen, masks = check_rows(self.game, observations, action_masks)
        given = self.given_seeds(len(seen))
        if given is not None:
            return [agent_seed(seed.tobytes()) for seed in given]
        if histories is not None:
            histories = check_integers("histories", histories, (len(seen), None, 2))
        past = [b""] * len(seen) if histories is None else [row.tobytes() for row in histories]
        return [
            agent_seed(self._seed, row.tobytes(), mask.tobytes(), before)
            for row, mask, before in zip(seen, masks, past, strict=True)
        ]


class _RolloutAgent(_OwnSeeds):
    """Plays what its ``search`` chooses."""

    search: RolloutSearch

    def search_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> SearchResult:
        """The result of the search; the arguments are those of ``act_batch``."""
        past = histories if self.needs_history else None
        seeds = self.seeds(observations, action_masks, past)
        return self.search.search(observations, action_masks, seeds, past)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        return self.search_batch(observations, action_masks, histories).actions


class SearchAgent(_RolloutAgent):
    """Plays what a `RolloutSearch` finds in worlds that are weighted by what the other seats have done.

    Args:
        worlds: the most worlds sampled for a decision. Sequential halving: each round tries the actions left in an
            equal share of them. Default: `WORLDS`; with a budget, no limit.
        policy, budget, beta, epsilon, proposals, effective, max_games, num_threads, opponent_model, caution, depth: as
            in `RolloutSearch`. With ``beta`` 0, and in games that hide nothing, the agent needs no history.
    """

    def __init__(
        self,
        game: Game,
        seed: Seed = None,
        policy: AgentSpec | None = None,
        worlds: int | None = None,
        budget: float | None = None,
        beta: float = BETA,
        epsilon: float = EPSILON,
        proposals: int = PROPOSALS,
        effective: float = EFFECTIVE,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
        opponent_model: AgentSpec | None = None,
        caution: float = CAUTION,
        depth: int = 0,
    ) -> None:
        super().__init__(game, seed)
        if worlds is None:
            worlds = WORLDS if budget is None else MANY_WORLDS
        self.search = RolloutSearch(
            game,
            policy,
            worlds,
            max_games,
            num_threads,
            schedule=shared_schedule,
            beta=beta,
            epsilon=epsilon,
            budget=budget,
            proposals=proposals,
            effective=effective,
            shared_draws=True,
            opponent_model=opponent_model,
            caution=caution,
            depth=depth,
        )
        self.needs_history = self.search.needs_history


class PIMCAgent(_RolloutAgent):
    """Perfect-information Monte Carlo: tries each legal action in ``samples`` worlds and plays the best on average.

    The plain baseline: worlds sampled uniformly and weighted equally, no halving, rollouts by ``policy``. Source:
    Ginsberg, "GIB: Imperfect information in a computationally challenging game" (JAIR 2001), section 3, with rollouts
    in place of a double-dummy solver.
    """

    def __init__(
        self,
        game: Game,
        seed: Seed = None,
        policy: AgentSpec | None = None,
        samples: int = 64,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
    ) -> None:
        super().__init__(game, seed)
        samples = check_integer("samples", samples, 1, MANY_WORLDS)
        self.search = RolloutSearch(
            game, policy, samples, max_games, num_threads, schedule=flat_schedule, shared_draws=True
        )


class ISMCTSAgent(_OwnSeeds):
    """Plays the action that an `ISMCTS` visits most; the arguments after ``seed`` are those of the search."""

    def __init__(
        self,
        game: Game,
        seed: Seed = None,
        policy: AgentSpec | None = None,
        simulations: int = 1000,
        exploration: float | None = None,
        parallel: int = 16,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
    ) -> None:
        super().__init__(game, seed)
        self.search = ISMCTS(game, policy, simulations, exploration, parallel, max_games, num_threads)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        seeds = self.seeds(observations, action_masks, None)
        return self.search.search(observations, action_masks, seeds).actions
