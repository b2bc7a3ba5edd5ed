"""Asking agents for actions. They get copies, their answers are checked, and errors name the agent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, needs_history, tells_policy
from catbox_agents.errors import AgentError
from catbox_env import Vec
from catbox_env.core.checks import brief
from catbox_env.core.show import explain_refusal

#: How far the sum of an agent's probabilities may be from 1: float32 is not exact.
TOLERANCE = 1e-3


def ask_agent(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The legal actions (M,) that ``agent`` chooses in the games ``rows`` (M,) of ``vec``.

    The agent gets copies of these rows alone. Raises ValueError, naming the agent ``label``, for any other answer, and
    `AgentError` for an error in the agent's code.
    """
    actions = answers_of(agent, label, *_copies(agent, vec, rows))
    legal = are_legal(vec.action_mask[rows], actions)
    if not legal.all():
        first = int(np.argmin(legal))
        raise ValueError(refusal(label, vec, int(rows[first]), int(actions[first])))
    return actions


def ask_agents(
    agents: Sequence[Agent],
    labels: Sequence[str],
    asked: NDArray[np.integer],
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


def ask_about(
    agent: Agent,
    label: str,
    observations: NDArray[np.int8],
    masks: NDArray[np.bool_],
    histories: NDArray[np.int8] | None = None,
) -> NDArray[np.int64]:
    """The legal actions (M,) that ``agent`` chooses, given copies of ``observations`` (M, O), ``masks`` (M, A) and, if
    it needs them, ``histories`` (M, T, 2). Errors as in `ask_agent`."""
    past = histories.copy() if histories is not None and needs_history(agent) else None
    actions = answers_of(agent, label, observations.copy(), masks.copy(), past)
    legal = are_legal(masks, actions)
    if not legal.all():
        first = int(np.argmin(legal))
        raise ValueError(
            f"agent {label!r} chose the illegal action {int(actions[first])}; act_batch must return actions that its "
            f"action masks allow, here {brief(np.flatnonzero(masks[first]).tolist())}"
        )
    return actions


def answers_in(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers (M,) that ``agent`` answers in the games ``rows`` (M,), legal actions or not."""
    return answers_of(agent, label, *_copies(agent, vec, rows))


def answers_of(
    agent: Agent,
    label: str,
    observations: NDArray[np.int8],
    masks: NDArray[np.bool_],
    histories: NDArray[np.int8] | None,
) -> NDArray[np.int64]:
    """The integers (M,) that ``agent`` answers; it gets the arrays themselves. Errors as in `ask_agent`."""
    try:
        actions = np.asarray(agent.act_batch(observations, masks, histories))
    except Exception as error:
        raise AgentError(label, error) from error
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"agent {label!r}: act_batch returned {actions.dtype} of shape {actions.shape} for {len(masks)} rows; "
            f"expected integers of shape ({len(masks)},)"
        )
    return actions


def are_legal(masks: NDArray[np.bool_], actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the ``masks`` (M, A) allow each of the integers ``actions`` (M,): (M,)."""
    inside = (actions >= 0) & (actions < masks.shape[1])
    return inside & masks[np.arange(len(masks)), np.where(inside, actions, 0)]


def refusal(label: str, vec: Vec, row: int, action: int) -> str:
    """The message about an illegal ``action`` of agent ``label`` in game ``row``."""
    why = explain_refusal(vec.get_state(row), action)
    return (
        f"agent {label!r} chose the illegal action {action} ({why}); act_batch must return actions that its action "
        "masks allow"
    )


def ask_policy(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The policy of ``agent`` in the games ``rows`` (M,) of ``vec``: (M, A) float64, rows that sum to 1.

    For an agent without ``policy_batch``, the action it chooses now has probability 1. Errors as in `ask_agent`, and
    for invalid probabilities.
    """
    if tells_policy(agent):
        return policy_of(agent, label, *_copies(agent, vec, rows))
    certain = np.zeros((len(rows), vec.action_mask.shape[1]))
    certain[np.arange(len(rows)), ask_agent(agent, label, vec, rows)] = 1.0
    return certain


def policy_of(
    agent: Agent,
    label: str,
    observations: NDArray[np.int8],
    masks: NDArray[np.bool_],
    histories: NDArray[np.int8] | None,
) -> NDArray[np.float64]:
    """What ``policy_batch`` of ``agent`` returns, (M, A) float64, rows that sum to 1; the agent gets the arrays
    themselves, except the masks. Errors as in `ask_policy`."""
    try:
        ask = agent.policy_batch  # type: ignore[attr-defined]  # the agent has it
        told = np.asarray(ask(observations, masks.copy(), histories))
    except Exception as error:
        raise AgentError(label, error) from error
    if told.shape != masks.shape or told.dtype.kind != "f":
        raise ValueError(
            f"agent {label!r}: policy_batch returned {told.dtype} of shape {told.shape}; expected floats of shape "
            f"{masks.shape}"
        )
    policy = np.where(masks, told, 0.0)
    wrong = ~(policy >= 0).all(axis=1) | ~(abs(policy.sum(axis=1) - 1) <= TOLERANCE)
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            f"agent {label!r}: policy_batch returned {brief(told[first][masks[first]])} for the legal actions of a "
            "row; expected probabilities of 0 or more that sum to 1"
        )
    return policy / policy.sum(axis=1, keepdims=True)


def _copies(
    agent: Agent, vec: Vec, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.int8] | None]:
    """What ``agent`` gets of ``rows``: observations, masks, and histories if it needs them."""
    return vec.observation[rows], vec.action_mask[rows], vec.history[rows] if needs_history(agent) else None
