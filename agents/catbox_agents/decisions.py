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
    actions = answers_of(agent, label, vec, rows)
    legal = are_legal(vec, rows, actions)
    if not legal.all():
        first = int(np.argmin(legal))
        raise ValueError(refusal(label, vec, int(rows[first]), int(actions[first])))
    return actions


def answers_of(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers (M,) that ``agent`` answers, whether they are legal actions or not; otherwise as `ask_agent`."""
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
    return actions


def are_legal(vec: Vec, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the integers ``actions`` (M,) are legal in the games ``rows`` (M,): (M,)."""
    inside = (actions >= 0) & (actions < vec.game.num_actions)
    return inside & vec.action_mask[rows, np.where(inside, actions, 0)]


def refusal(label: str, vec: Vec, row: int, action: int) -> str:
    """The message about an illegal ``action`` of agent ``label`` in game ``row``."""
    why = vec.explain_refusal(row, action)
    return (
        f"agent {label!r} chose the illegal action {action} ({why}); act_batch must return actions that its action "
        "masks allow"
    )


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
