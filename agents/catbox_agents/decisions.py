"""Asking agents for their moves: copies go out, checked actions come back, and errors carry the agent's name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, needs_history
from catbox_agents.errors import AgentError
from catbox_env.core.batch import Vec


def choose(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """What ``agent`` does in the games ``rows`` (M,) of ``vec``: legal actions (M,).

    The agent is given copies of these rows alone. Raises ValueError, naming the agent ``label``, for anything else
    that it answers, and `AgentError` for an error in its code.
    """
    histories = vec.history[rows] if needs_history(agent) else None
    try:
        actions = np.asarray(agent.act_batch(vec.observation[rows], vec.action_mask[rows], histories))
    except Exception as error:
        raise AgentError(label, error) from error
    if actions.shape != rows.shape or actions.dtype.kind not in "iu":
        raise ValueError(
            f"agent {label!r}: act_batch gave shape {actions.shape}, dtype {actions.dtype} for {len(rows)} rows; "
            f"expected integers of shape ({len(rows)},)"
        )
    num_actions = vec.game.num_actions
    inside = (actions >= 0) & (actions < num_actions)
    legal = inside & vec.action_mask[rows, np.where(inside, actions, 0)]
    if not legal.all():
        action = int(actions[np.argmin(legal)])
        text = f" ({vec.game.action_to_string(action)})" if 0 <= action < num_actions else ""
        raise ValueError(
            f"agent {label!r} chose action {action}{text}, which is illegal there; act_batch must keep to the "
            "action masks it is given"
        )
    return actions


def choose_each(
    agents: Sequence[Agent],
    labels: Sequence[str],
    asked: NDArray[np.int64],
    vec: Vec,
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The actions (M,) of the agents ``agents[asked[k]]`` in the games ``rows[k]``; errors as in `choose`."""
    actions = np.empty(len(rows), np.int64)
    for i, agent in enumerate(agents):
        own = np.flatnonzero(asked == i)
        if len(own):
            actions[own] = choose(agent, labels[i], vec, rows[own])
    return actions
