"""Transitions of every seat of a PettingZoo game, each from one decision of the seat to its next.

    from catbox_agents.transitions import seat_transitions
    from catbox_env import cat_in_the_box_v0

    for step in seat_transitions(cat_in_the_box_v0.raw_env(num_players=4), "random", seed=0):
        ...  # step.seat, step.observation, step.action, step.reward, step.next_own_observation, ...

After a seat's action, it is another seat's turn. So the pair (``env.step``, ``env.last``) is nobody's transition: the
observation and the reward that ``last`` returns belong to that other seat. A seat's transition is complete when the
seat moves again.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pettingzoo import AECEnv

from catbox_agents.agent import Agent, as_action, needs_history
from catbox_agents.errors import AgentError
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Game
from catbox_env.core.checks import check_integer, short_repr
from catbox_env.core.rng import seed_sequence

__all__ = ["SeatTransition", "seat_transitions"]

#: Called as ``policy(observation, action_mask)``; returns the action.
Policy: TypeAlias = Callable[[Any, Any], int]
#: Who plays a seat: takes an observation with its mask, returns the action.
SeatPolicy: TypeAlias = Callable[[Mapping[str, Any]], int]


class SeatTransition(NamedTuple):
    """What one seat saw, did and was paid, from its decision to its next one or to the end of the game.

    Attributes:
        seat: the seat's name in the environment, such as ``"player_0"``.
        observation, mask: what the seat saw at its decision, (O,) and (A,). None if it never decided.
        action: what it did. None if it never decided.
        reward: all that it was paid from this action to its next decision or the end; for its first action, also what
            it was paid before.
        next_own_observation, next_own_mask: what the same seat sees at its next decision or at the end (where catbox
            gives a mask of zeros).
        terminated: whether the game ended. False if it was truncated: then bootstrap from the next observation.
    """

    seat: str
    observation: Any
    mask: Any
    action: int | None
    reward: float
    next_own_observation: Any
    next_own_mask: Any
    terminated: bool


def seat_transitions(
    env: AECEnv,
    policies: AgentSpec | Policy | Mapping[str, AgentSpec | Policy],
    *,
    games: int | None = 1,
    seed: int | None = None,
) -> Iterator[SeatTransition]:
    """Play ``games`` games of ``env`` (None: without end) and yield every seat's transitions as they complete.

    For every seat of every game, the rewards sum to what the game paid that seat. A seat that never decides (in Cat Te
    a hand that wins or falls at the deal, in Petrify a seat that is petrified before its first turn) has one transition
    with ``action`` None, which holds its payment: do not train on it, but count it in mean returns.

    Args:
        env: any PettingZoo AEC environment whose observations are dicts with ``observation`` and ``action_mask``,
            wrapped or not. It is reset at the start of every game.
        policies: one for all seats, or a mapping with one for each seat's name. Each is a function of (observation,
            action_mask), an agent, or, in environments of catbox, the spec of an agent. It is called at each decision,
            so a network in training plays with its current weights.
        seed: of the first game; the next ones, and the random numbers of agents made from specs, follow from it.

    Raises ``ValueError`` for an environment or for policies that do not fit, and ``AgentError`` for an error in an
    agent. Illegal actions are left to the environment.
    """
    if not isinstance(env, AECEnv):
        raise ValueError(
            f"env={short_repr(env)}: expected a PettingZoo AEC environment, such as cat_in_the_box_v0.raw_env()"
        )
    if games is not None:
        check_integer("games", games, 1, more=", or None for no end")
    root = seed_sequence(seed)  # raises ValueError unless it is a seed
    seats = env.possible_agents
    if not isinstance(policies, Mapping):
        policies = dict.fromkeys(seats, policies)
    elif set(policies) != set(seats):
        raise ValueError(f"policies={short_repr(policies)}: expected one for each of {', '.join(seats)}")
    return _play(env, _players(env, policies, root), games, seed)


def _play(
    env: AECEnv, players: Mapping[str, SeatPolicy], games: int | None, seed: int | None
) -> Iterator[SeatTransition]:
    for number in itertools.count() if games is None else range(games):
        env.reset(seed=seed if number == 0 else None)
        yield from _one_game(env, players)


def _one_game(env: AECEnv, players: Mapping[str, SeatPolicy]) -> Iterator[SeatTransition]:
    begun: dict[
        str, tuple[Any, Any, int]
    ] = {}  # what each seat saw at its last decision, its mask, its action
    early = dict.fromkeys(players, 0.0)  # paid before the first decision
    for seat in env.agent_iter():
        # ``last`` sums the rewards since this seat last acted. After the end, every seat is selected once more.
        last, reward, terminated, truncated, _ = env.last()
        if not isinstance(last, Mapping) or not {"observation", "action_mask"} <= set(last):
            raise ValueError(
                f"the observation of {seat} is {short_repr(last)}: expected a dict with 'observation' and 'action_mask'"
            )
        # Copies, because the environment and the policies may later write into theirs.
        observation, new_mask = copy.deepcopy((last["observation"], last["action_mask"]))
        over = terminated or truncated
        if seat in begun or over:
            saw, mask, action = begun.pop(seat, (None, None, None))
            paid = float(reward) + early.pop(seat, 0.0)
            yield SeatTransition(seat, saw, mask, action, paid, observation, new_mask, bool(terminated))
        else:
            early[seat] += float(reward)
        if over:
            env.step(None)
        else:
            choice = players[seat](copy.deepcopy(last))
            begun[seat] = observation, new_mask, choice
            env.step(choice)


def _players(
    env: AECEnv, policies: Mapping[str, AgentSpec | Policy], root: np.random.SeedSequence
) -> dict[str, SeatPolicy]:
    """Who plays each seat. A spec is made into an agent once, with a child of ``root`` for the first seat it plays."""
    game = getattr(env.unwrapped, "game", None)
    made: dict[int, SeatPolicy] = {}
    for seat, seeds in zip(env.possible_agents, root.spawn(len(env.possible_agents)), strict=True):
        policy = policies[seat]
        if id(policy) not in made:
            made[id(policy)] = _player(policy, seat, game, int(seeds.generate_state(1, np.uint64)[0]))
    return {seat: made[id(policies[seat])] for seat in env.possible_agents}


def _player(policy: Any, seat: str, game: Any, seed: int) -> SeatPolicy:
    is_spec = isinstance(policy, str | os.PathLike)
    if is_spec or hasattr(policy, "act"):
        agent = policy
        if isinstance(game, Game):  # otherwise there is nothing to check an agent against
            agent = agent_of(policy, f"policy of {seat}", game, seed)
        elif is_spec:
            raise ValueError(
                f"policy {short_repr(policy)} of {seat}: the spec of an agent needs an environment of catbox; give a "
                "function of (observation, action_mask)"
            )
        return partial(_ask_agent, agent, label_of(policy))
    if not callable(policy):
        raise ValueError(
            f"policy {short_repr(policy)} of {seat}: expected a function of (observation, action_mask), an agent, or "
            "the spec of one, such as 'random'"
        )
    return lambda view: as_action(policy(view["observation"], view["action_mask"]), f"the policy of {seat}")


def _ask_agent(agent: Agent, label: str, view: Mapping[str, Any]) -> int:
    history = None
    if needs_history(agent):
        if "history" not in view:
            raise ValueError(f"agent {label!r} needs the history: make the environment with history=True")
        history = view["history"]
    try:
        return as_action(agent.act(view["observation"], view["action_mask"], history), label)
    except Exception as error:
        raise AgentError(label, error) from error
