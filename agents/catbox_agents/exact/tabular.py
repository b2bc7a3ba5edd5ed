"""From agents to policies over a tree, and from a policy back to an agent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed, check_rows, needs_history, tells_policy
from catbox_agents.errors import AgentError
from catbox_agents.exact.tree import GameTree
from catbox_agents.exact.values import Floats
from catbox_agents.play import ask_about, policy_of
from catbox_agents.random_agent import SamplingAgent, sample_actions
from catbox_env.core.checks import as_array, check_integer

#: How often an agent without ``policy_batch`` is asked in every information state.
SAMPLES = 16
#: Most information states that an agent is asked about in one call.
ROWS_AT_ONCE = 8192


class AgentPolicy(NamedTuple):
    """What an agent does in every information state.

    - ``policy``: (S,) float64, see `GameTree`.
    - ``source``: ``"told"`` by the agent's own ``policy_batch``; ``"deterministic"``, if it always gave the same
      answer; or ``"estimated"``, the frequencies of its answers.
    - ``samples``: how often it was asked in every information state.
    """

    policy: Floats
    source: str
    samples: int


def policy_of_agent(
    tree: GameTree, agent: Agent, label: str = "agent", samples: int = SAMPLES
) -> AgentPolicy:
    """What ``agent``, made for the game of ``tree``, does in every information state.

    If it has the method ``policy_batch(observations, action_masks, histories=None) -> (N, A)``, these probabilities
    are its policy. Any other agent is asked ``samples`` times in every information state, each time in another order
    and, if it has the method ``seed_decisions``, with other random numbers; its policy is the frequencies of its
    answers. For an agent that samples its actions this is an estimate, and so is everything computed from it; more
    ``samples`` improve it.

    The agent gets copies of the observation, the action mask and, if it needs it, the history of the seat to move.
    Raises ``ValueError``, naming the agent ``label``, for an invalid policy or an illegal action, and `AgentError` for
    an error in its code.
    """
    samples = check_integer("samples", samples, 1)
    if tells_policy(agent):
        rows = np.concatenate(
            [_told(tree, agent, label, some) for some in _pieces(np.arange(len(tree.seats)))]
        )
        return AgentPolicy(tree.policy_of(rows), "told", 1)
    counts = np.zeros(tree.action_masks.shape)
    generator = np.random.default_rng(0)
    for _ in range(samples):
        for some in _pieces(generator.permutation(len(tree.seats))):
            seeds = generator.integers(2**64, size=len(some), dtype=np.uint64)
            counts[some, _chosen(tree, agent, label, some, seeds)] += 1
    same = bool((counts.max(axis=1) == samples).all())
    source = "deterministic" if same else "estimated"
    return AgentPolicy(tree.policy_of(counts / samples), source, samples)


def _pieces(states: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(states, range(ROWS_AT_ONCE, len(states), ROWS_AT_ONCE))


def _told(tree: GameTree, agent: Agent, label: str, states: NDArray[np.int64]) -> Floats:
    """The probabilities (N, A) that ``policy_batch`` returns."""
    histories = tree.history_views[states] if needs_history(agent) else None
    return policy_of(agent, label, tree.observations[states], tree.action_masks[states], histories)


def _chosen(
    tree: GameTree, agent: Any, label: str, states: NDArray[np.int64], seeds: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The legal actions (N,) that an agent chooses, with the random numbers of ``seeds`` (N,) if it accepts them."""
    if hasattr(agent, "seed_decisions"):
        try:
            agent.seed_decisions(seeds)
        except Exception as error:
            raise AgentError(label, error) from error
    asked = tree.observations[states], tree.action_masks[states], tree.history_views[states]
    return ask_about(agent, label, *asked)


class TabularAgent(SamplingAgent):
    """Samples its actions from a policy over the information states of a tree.

    It finds its information state by observation and history. Of several that differ only in what both forget, it plays
    the first.

    Args:
        tree: the game.
        policy: (S,) float64, see `GameTree`.
        seed: of the sampling.
    """

    needs_history = True

    def __init__(self, tree: GameTree, policy: Floats, seed: Seed = None) -> None:
        super().__init__(tree.game, seed)
        given = as_array("policy", policy)
        if given.shape != (tree.num_slots,) or given.dtype.kind != "f":
            raise ValueError(
                f"policy: {given.dtype} of shape {given.shape}; expected floats of shape ({tree.num_slots},)"
            )
        if not (given >= 0).all() or not np.allclose(tree.sums(given), 1.0):
            raise ValueError("policy: expected probabilities that sum to 1 in every information state")
        self._rows = tree.rows_of(given)
        keys = _keys(tree.observations, tree.history_views)
        # From last to first, so that the first of equals wins.
        self._places = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))

    def policy_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> Floats:
        """The probabilities of the actions: (N, A). Raises ValueError for observations that no seat to move has."""
        seen, _ = check_rows(self.game, observations, action_masks)
        shape = (len(seen), self.game.max_game_length, 2)
        past = as_array("histories", histories)
        if past.shape != shape or past.dtype.kind not in "iu":
            raise ValueError(
                f"histories: {past.dtype} of shape {past.shape}; expected integers of shape {shape}, as "
                "make_vec(..., history=True) keeps them"
            )
        places = [self._places.get(key, -1) for key in _keys(seen, past.astype(np.int8))]
        if -1 in places:
            raise ValueError(
                f"row {places.index(-1)} is not what a seat to move sees in {self.game.id} with {self.game.rules}"
            )
        return self._rows[places]

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        policies = self.policy_batch(observations, action_masks, histories)
        return sample_actions(policies, self.uniforms(len(policies)))


def _keys(observations: NDArray[np.int8], histories: NDArray[np.int8]) -> list[bytes]:
    seen = np.concatenate([observations, histories.reshape(len(histories), -1)], axis=1)
    return [row.tobytes() for row in seen]
