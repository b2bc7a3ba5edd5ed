"""Asking agents for actions. They get copies, their answers are checked, and errors name the agent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, needs_history
from catbox_agents.errors import AgentError
from catbox_env import Vec


def ask_agent(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The legal actions (M,) that ``agent`` chooses in the games ``rows`` (M,) of ``vec``.

    The agent is given copies of only these rows. Raises ValueError, naming the agent ``label``, for any other answer,
    and `AgentError` for an error in the agent's code.
    """
    histories = vec.history[rows] if needs_history(agent) else None
    try:
        actions = np.asarray(agent.act_batch(vec.observation[rows], vec.action_mask[rows], histories))
    except Exception as error:
        raise AgentError(label, error) from error
    if actions.shape != rows.shape or actions.dtype.kind not in "iu":
        raise ValueError(
            f"agent {label!r}: act_batch returned {actions.dtype} of shape {actions.shape} for {len(rows)} rows; "
            f"expected integers of shape ({len(rows)},)"
        )
    num_actions = vec.game.num_actions
    inside = (actions >= 0) & (actions < num_actions)
    legal = inside & vec.action_mask[rows, np.where(inside, actions, 0)]
    if not legal.all():
        first = int(np.argmin(legal))
        why = vec.explain_refusal(int(rows[first]), int(actions[first]))
        raise ValueError(
            f"agent {label!r} chose the illegal action {int(actions[first])} ({why}); act_batch must return actions "
            "that its action masks allow"
        )
    return actions


def ask_agents(
    agents: Sequence[Agent],
    labels: Sequence[str],
    asked: NDArray[np.int64],
    vec: Vec,
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The actions (M,): agent ``agents[asked[k]]`` chooses in game ``rows[k]``. Errors as in `ask_agent`."""
    actions = np.empty(len(rows), np.int64)
    for i, agent in enumerate(agents):
        own = np.flatnonzero(asked == i)
        if len(own):
            actions[own] = ask_agent(agent, labels[i], vec, rows[own])
    return actions
