"""Plays the games of a batch to the end: the rollouts of a search, and the games of the arena."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, agent_seed, needs_history
from catbox_agents.decisions import ask_agents
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Vec
from catbox_env.core.checks import brief, check_choice

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
        raise ValueError(f"vec={brief(vec)}: expected a batch of games, as make_vec returns")
    check_choice("until", until, (END_OF_ROUND, END_OF_GAME))
    seats = vec.game.num_players
    if isinstance(agents, Sequence) and not isinstance(agents, str):
        given = list(agents)
        if len(given) != seats:
            raise ValueError(
                f"agents={brief(agents)}: {len(given)} for {seats} seats; give one agent for all, or one for each seat"
            )
    else:
        given = [agents]
    labels = [label_of(agent) for agent in given]
    made = [
        agent_of(agent, label, vec.game, agent_seed()) for agent, label in zip(given, labels, strict=True)
    ]
    for agent, label in zip(made, labels, strict=True):
        _check_history(agent, label, vec)
    # An agent that holds several seats is asked for all of them at once.
    names = {id(agent): label for agent, label in zip(made, labels, strict=True)}
    different = list({id(agent): agent for agent in made}.values())
    place = {id(agent): i for i, agent in enumerate(different)}
    line_up = np.array([[place[id(agent)] for agent in (made if len(made) == seats else made * seats)]])
    paid = np.zeros((vec.num_envs, seats))
    running = np.flatnonzero(vec.current_player >= 0)
    for rows in rollout(vec, different, list(names.values()), line_up, running, until):
        paid[rows] += vec.rewards[rows]
    return paid


def _check_history(agent: Agent, label: str, vec: Vec) -> None:
    """Raise ``ValueError`` for an agent that needs a history that ``vec`` does not keep."""
    if needs_history(agent):
        try:
            _ = vec.history
        except ValueError as error:
            raise ValueError(f"agent {label!r} needs its history: {error}") from None


def rollout(
    vec: Vec,
    agents: Sequence[Agent],
    labels: Sequence[str],
    players: NDArray[np.int64],
    rows: NDArray[np.int64],
    until: str = END_OF_GAME,
    order: np.random.Generator | None = None,
    ask: Ask | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Play the games ``rows`` of ``vec``, none of which is over, to the end. Yields, after every step, the rows moved.

    ``players`` (N, P), or (1, P) if all rows have the same: the index in ``agents`` of each seat's agent. ``order``
    shuffles the rows of every step, so that their order tells an agent nothing. ``ask`` replaces
    ``ask_agents(agents, labels, ...)``; a game for which it returns -1 ends there, without a move.
    """
    if ask is None:
        ask = functools.partial(ask_agents, agents, labels)
    while len(rows):
        if order is not None:
            rows = order.permutation(rows)
        asked = players[rows if len(players) > 1 else 0, vec.current_player[rows]]
        actions = ask(asked, vec, rows)
        if (actions < 0).any():
            rows, actions = rows[actions >= 0], actions[actions >= 0]
        vec.step(actions, rows)
        yield rows
        ended = vec.terminated[rows]
        if until == END_OF_ROUND:
            ended = ended | vec.round_ended[rows]
        rows = rows[~ended]
