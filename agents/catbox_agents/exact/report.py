"""How far an agent is from an equilibrium, in a game whose tree is small enough to enumerate."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from catbox_agents.agent import Agent, agent_seed
from catbox_agents.exact.tabular import SAMPLES, policy_of_agent
from catbox_agents.exact.tree import MAX_HISTORIES, GameTree
from catbox_agents.exact.values import best_response, values
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Game


@dataclass(frozen=True)
class Exploitability:
    """What `exploitability` found. Lists have an entry for each seat; values are in units of the reward.

    Attributes:
        game, options: the game's id and options.
        agent: its spec, or its class.
        policy, samples: where its policy comes from, and how often it was asked (`AgentPolicy`).
        deals, histories, information_states: the size of the tree; the histories include deals and ends.
        values: what each seat is paid on average when the agent plays all of them.
        best_response_values: what each seat is paid if it plays a best response and the agent plays the others.
        gains: the difference.
        nash_conv: the sum of the gains, 0 for a Nash equilibrium.
    """

    game: str
    options: dict[str, Any]
    agent: str
    policy: str
    samples: int
    deals: int
    histories: int
    information_states: list[int]
    values: list[float]
    best_response_values: list[float]
    gains: list[float]
    nash_conv: float

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


def exploitability(
    game: Game, agent: AgentSpec, samples: int = SAMPLES, max_histories: int = MAX_HISTORIES
) -> Exploitability:
    """Exactly how much each seat could gain against an agent that plays all seats, over the whole tree of ``game``.

    Args:
        game: a game of any number of players with a tree of at most ``max_histories`` histories (`GameTree`).
        agent: a spec of `catbox_agents.make`, or an agent.
        samples: how often an agent without ``policy_batch`` is asked (`policy_of_agent`).

    Raises ``ValueError`` for a game that is too large (`GameTree`), an agent for another game or other rules, and
    invalid answers (`policy_of_agent`).
    """
    label = label_of(agent)
    made: Agent = agent_of(agent, label, game, agent_seed(0))
    tree = GameTree(game, max_histories)
    policy, source, samples = policy_of_agent(tree, made, label, samples)
    own = values(tree, policy)
    best = np.array([best_response(tree, policy, seat)[0] for seat in range(tree.num_players)])
    return Exploitability(
        game=game.id,
        options=game.options,
        agent=label,
        policy=source,
        samples=samples,
        deals=tree.num_deals,
        histories=tree.num_histories,
        information_states=tree.num_information_states,
        values=own.tolist(),
        best_response_values=best.tolist(),
        gains=(best - own).tolist(),
        nash_conv=math.fsum(best - own),
    )
