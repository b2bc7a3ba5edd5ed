"""The one way to ask agents and to step games: used by the arena, data sets, searches and `play_out`.

`ask_agents` asks the agent of each game for its action, `play` steps the games until they are over. Answers are checked
here, and errors name the agent. Agents are given apart by their place in a list, never by their name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, agent_seed, has_policy, needs_history
from catbox_agents.errors import AgentError
from catbox_agents.specs import AgentSpec, agent_of, labels_of
from catbox_env import Vec
from catbox_env.core.checks import check_choice, short_repr
from catbox_env.core.state import illegal_reason

#: How far the sum of an agent's probabilities may be from 1: float32 is not exact.
TOLERANCE = 1e-3

#: Chooses actions: the indices of the agents asked (M,), the batch and its rows (M,) in, actions (M,) out.
Ask = Callable[[NDArray[np.int64], Vec, NDArray[np.int64]], NDArray[np.int64]]

END_OF_ROUND, END_OF_GAME = "end_of_round", "end_of_game"


def play_out(
    vec: Vec, agents: AgentSpec | Sequence[AgentSpec], until: str = END_OF_ROUND
) -> NDArray[np.float64]:
    """Play every game of ``vec`` on from its current position. Returns what each seat is paid from now on: (N, P).

    Args:
        vec: the games; they are played in place. A game that is over pays 0 and does not change. With ``auto_deal``
            the next game is dealt but not played.
        agents: one agent for all seats, or a sequence with one for each seat: agents, or specs of
            `catbox_agents.make`. A spec is made into an agent for this call, with new random numbers; give an agent if
            you call often or want reproducible numbers.
        until: ``"end_of_round"`` or ``"end_of_game"``.

    Raises ``ValueError``, before any game moves, for an unknown ``until``, a wrong number of agents, an agent made for
    other rules, and one that needs a history that ``vec`` does not keep. Raises ``ValueError``, with the games stopped
    where they are, for an agent that plays an illegal action or whose code raises an error (`AgentError`); the message
    names the agent.
    """
    if not isinstance(vec, Vec):
        raise ValueError(f"vec={short_repr(vec)}: expected a batch of games, as make_vec returns")
    check_choice("until", until, (END_OF_ROUND, END_OF_GAME))
    seats = vec.game.num_players
    if isinstance(agents, Sequence) and not isinstance(agents, str):
        listed = list(agents)
        if len(listed) != seats:
            raise ValueError(
                f"agents={short_repr(agents)}: {len(listed)} for {seats} seats; give one agent for all, or one for "
                "each seat"
            )
    else:
        listed = [agents]
    labels = labels_of(listed)
    made = [
        agent_of(agent, label, vec.game, agent_seed()) for agent, label in zip(listed, labels, strict=True)
    ]
    for agent, label in zip(made, labels, strict=True):
        if needs_history(agent):
            try:
                _ = vec.history
            except ValueError as error:
                raise ValueError(f"agent {label!r} needs its history: {error}") from None
    # An agent that holds several seats is asked for all of them at once.
    place = {id(agent): i for i, agent in reversed(list(enumerate(made)))}
    line_up = np.array([[place[id(agent)] for agent in (made if len(made) == seats else made * seats)]])
    paid = np.zeros((vec.num_envs, seats))
    running = np.flatnonzero(vec.current_player >= 0)
    for rows in play(vec, line_up, running, functools.partial(ask_agents, made, labels), until):
        paid[rows] += vec.rewards[rows]
    return paid


def play(
    vec: Vec,
    line_up: NDArray[np.int64],
    rows: NDArray[np.int64],
    ask: Ask,
    until: str = END_OF_GAME,
    stops: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Play the games ``rows`` of ``vec``, none of which is over, to the end. Yields, after every step, the rows moved.

    ``line_up`` (N, P), or (1, P) if all rows have the same: the index of each seat's agent, as ``ask`` gets it.
    ``ask``: usually ``functools.partial(ask_agents, agents, labels)``. ``stops(rows)``: which of the games end early,
    asked before every step.
    """
    while len(rows):
        if stops is not None and len(rows := rows[~stops(rows)]) == 0:
            return
        asked = line_up[rows if len(line_up) > 1 else 0, vec.current_player[rows]]
        vec.step(ask(asked, vec, rows), rows)
        yield rows
        ended = vec.terminated[rows]
        if until == END_OF_ROUND:
            ended = ended | vec.round_ended[rows]
        rows = rows[~ended]


def ask_agents(
    agents: Sequence[Agent],
    labels: Sequence[str],
    asked: NDArray[np.integer],
    vec: Vec,
    rows: NDArray[np.int64],
    seeds: NDArray[np.uint64] | None = None,
) -> NDArray[np.int64]:
    """The actions (M,): agent ``agents[asked[k]]`` chooses in game ``rows[k]``. Other arguments as in `ask_agent`."""
    actions = np.empty(len(rows), np.int64)
    for i, agent in enumerate(agents):
        places = np.flatnonzero(asked == i)
        if len(places):
            some = None if seeds is None else seeds[places]
            actions[places] = ask_agent(agent, labels[i], vec, rows[places], some)
    return actions


def ask_agent(
    agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64], seeds: NDArray[np.uint64] | None = None
) -> NDArray[np.int64]:
    """The legal actions (M,) that ``agent`` chooses in the games ``rows`` (M,) of ``vec``.

    The agent gets copies of these rows alone. ``seeds`` (M,): of these decisions, for an agent with ``seed_decisions``.
    Raises ValueError, naming the agent ``label``, for any other answer, and `AgentError` for an error in its code.
    """
    if seeds is not None and hasattr(agent, "seed_decisions"):
        try:
            agent.seed_decisions(seeds)
        except Exception as error:
            raise AgentError(label, error) from error
    return _answers(
        agent,
        label,
        *_seen(agent, vec, rows),
        why=lambda row, action: illegal_reason(vec.get_state(int(rows[row])), action),
    )


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
    return _answers(
        agent,
        label,
        observations.copy(),
        masks,
        past,
        lambda row, _: f"legal: {short_repr(np.flatnonzero(masks[row]).tolist())}",
    )


def ask_policy(agent: Agent, label: str, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The policy of ``agent`` in the games ``rows`` (M,) of ``vec``: (M, A) float64, rows that sum to 1.

    For an agent without ``policy_batch``, the action it chooses now has probability 1. Errors as in `ask_agent`, and
    for invalid probabilities.
    """
    if has_policy(agent):
        return policy_of(agent, label, *_seen(agent, vec, rows))
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
        answer = np.asarray(ask(observations, masks.copy(), histories))
    except Exception as error:
        raise AgentError(label, error) from error
    if answer.shape != masks.shape or answer.dtype.kind != "f":
        raise ValueError(
            f"agent {label!r}: policy_batch returned {answer.dtype} of shape {answer.shape}; expected floats of shape "
            f"{masks.shape}"
        )
    policy = np.where(masks, answer, 0.0)
    wrong = ~(policy >= 0).all(axis=1) | ~(abs(policy.sum(axis=1) - 1) <= TOLERANCE)
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            f"agent {label!r}: policy_batch returned {short_repr(answer[first][masks[first]])} for the legal actions "
            "of a row; expected probabilities of 0 or more that sum to 1"
        )
    return policy / policy.sum(axis=1, keepdims=True)


def _answers(
    agent: Agent,
    label: str,
    observations: NDArray[np.int8],
    masks: NDArray[np.bool_],
    histories: NDArray[np.int8] | None,
    why: Callable[[int, int], str],
) -> NDArray[np.int64]:
    """The legal actions (M,) that ``agent`` answers; it gets the arrays themselves, except the masks.

    Errors as in `ask_agent`; ``why(row, action)`` explains an illegal action.
    """
    try:
        actions = np.asarray(agent.act_batch(observations, masks.copy(), histories))
    except Exception as error:
        raise AgentError(label, error) from error
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"agent {label!r}: act_batch returned {actions.dtype} of shape {actions.shape} for {len(masks)} rows; "
            f"expected integers of shape ({len(masks)},)"
        )
    inside = (actions >= 0) & (actions < masks.shape[1])
    legal = inside & masks[np.arange(len(masks)), np.where(inside, actions, 0)]
    if not legal.all():
        row = int(np.argmin(legal))
        raise ValueError(
            f"agent {label!r} chose the illegal action {int(actions[row])} ({why(row, int(actions[row]))}); act_batch "
            "must return actions that its action masks allow"
        )
    return actions.astype(np.int64)


def _seen(
    agent: Agent, vec: Vec, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.int8] | None]:
    """What ``agent`` gets of ``rows``: observations, masks, and histories if it needs them."""
    return vec.observation[rows], vec.action_mask[rows], vec.history[rows] if needs_history(agent) else None
