"""Rollouts: games played on by policies, which are asked only if there is a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import (
    MIX_STEP,
    Agent,
    agent_seed,
    has_policy,
    mix,
    needs_history,
    other_returns,
    sample_actions,
)
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.play import END_OF_GAME, END_OF_ROUND, ask_agent, ask_agents, ask_policy, play
from catbox_agents.search.policy_rollouts import Leaf, plays_compiled, policy_rewards
from catbox_agents.specs import AgentSpec, agent_of, hand_written_agent, label_of
from catbox_env import Game, Vec

_WORD = 2**64


class Player(NamedTuple):
    """A rollout policy; ``label`` names it in errors."""

    agent: Agent
    label: str


def rollout_player(game: Game, policy: AgentSpec | None, name: str = "policy") -> Player:
    """The agent that plays in rollouts; errors as in `RolloutSearch`, about the argument ``name``."""
    if policy is None:
        policy = hand_written_agent(game.id)
    label = label_of(policy)
    agent = agent_of(policy, label, game, agent_seed(0))
    if needs_history(agent):
        raise ValueError(
            f"{name} {label!r} needs its history, which a sampled world does not have; give an agent that "
            f"decides by the observation alone"
        )
    return Player(agent, label)


def check_critic(player: Player, game: Game, depth: int) -> None:
    """Raise ``ValueError`` unless ``player`` has a critic that was trained to count what ``game`` pays."""
    agent, label = player
    if not (isinstance(agent, PolicyAgent) and agent.has_critic):
        raise ValueError(
            f"depth={depth}: policy {label!r} has no critic to value what lies deeper; give a policy that ppo trained, "
            "or depth=0"
        )
    if other := other_returns(agent.trained_with, game):
        raise ValueError(
            f"depth={depth}: the critic of policy {label!r} was trained with {other}; give a policy that was trained "
            "with the same, or depth=0"
        )


def action_rewards(
    games: Vec,
    actions: NDArray[np.int64],
    players: Sequence[Player],
    line_up: NDArray[np.int64],
    until: str,
    keys: NDArray[np.uint64] | None,
    depth: int = 0,
) -> NDArray[np.float64]:
    """What the seats to move are paid, (N,), for their ``actions`` (N,) and for the rest of the game.

    With a ``depth`` above 0, the rest is played only until such a seat has a choice for the ``depth``-th time; what it
    is paid from there on is what the critic of the first of the ``players`` expects, to the end of the game. The other
    arguments are those of `rollout_rewards`.
    """
    seats, every = games.current_player.astype(np.int64), np.arange(games.num_envs)
    games.step(actions)
    paid = games.rewards[every, seats].astype(np.float64)
    ended = games.terminated | (games.round_ended if until == END_OF_ROUND else False)
    leaf = Leaf(seats, depth) if depth else None
    later = rollout_rewards(games, np.flatnonzero(~ended), players, line_up, until, keys, leaf)
    return np.asarray(paid + later[every, seats])


def rollout_rewards(
    games: Vec,
    rows: NDArray[np.int64],
    players: Sequence[Player],
    line_up: NDArray[np.int64],
    until: str,
    keys: NDArray[np.uint64] | None,
    leaf: Leaf | None = None,
) -> NDArray[np.float64]:
    """Play the games ``rows``, none of which is over, to the end of the round or of the game, ``until``.

    ``line_up`` (N, P), or (1, P) for all games: which of ``players`` plays each seat; ``leaf``: where the critic of the
    first of them takes over.

    Returns what each seat of each game is paid meanwhile, (N, P). With ``keys`` (N,), actions of a policy that samples
    (`Agent`) are sampled from its ``policy_batch`` with random numbers that depend on the game's key and the number of
    actions taken here, which also seed an agent with ``seed_decisions``: games with equal keys have equal luck. Agents
    are then asked only if there is a choice.
    """
    agents, labels = zip(*players, strict=True)
    paid = np.zeros(games.rewards.shape)
    if plays_compiled(agents[0], keys is not None):
        alone = rows[~np.broadcast_to(line_up, paid.shape)[rows].any(axis=1)]
        paid += policy_rewards(agents[0], games, alone, until == END_OF_GAME, keys, leaf)
        rows = np.setdiff1d(rows, alone, assume_unique=True)
    number = 0
    choices = np.zeros(games.num_envs, np.int64)  # that the seat of the leaf has had

    def stops(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the games ``rows`` have come to the leaf; pays its value."""
        assert leaf is not None
        seats = leaf.seats[rows]
        choices[rows] += (games.current_player[rows] == seats) & (games.action_mask[rows].sum(axis=1) > 1)
        reached = choices[rows] == leaf.depth
        ends = rows[reached]
        if len(ends):
            critic = cast(PolicyAgent, agents[0])
            paid[ends, seats[reached]] += critic.value_batch(games.observation[ends], games.action_mask[ends])
        return reached

    def ask(asked: NDArray[np.int64], vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        nonlocal number
        if keys is None:
            return ask_agents(agents, labels, asked, vec, rows)
        masks = vec.action_mask[rows]
        actions = masks.argmax(axis=1)
        choice = masks.sum(axis=1) > 1
        for k, (agent, label) in enumerate(players):
            own = np.flatnonzero(choice & (asked == k))
            if len(own) and getattr(agent, "samples_actions", False) and has_policy(agent):
                policies = ask_policy(agent, label, vec, rows[own])
                actions[own] = sample_actions(policies, uniforms(keys[rows[own]], number))
            elif len(own):
                actions[own] = ask_agent(agent, label, vec, rows[own], words(keys[rows[own]], number))
        number += 1
        return actions

    for moved in play(games, line_up, rows, ask, until, stops if leaf else None):
        paid[moved] += games.rewards[moved]
    return paid


def world_keys(generators: NDArray[Any]) -> NDArray[np.uint64]:
    """A key (n,) for the worlds of each observation, from their generators (n,), which do not advance."""
    high, low = generators["a"].astype(np.uint64), generators["b"].astype(np.uint64)
    return mix((high << np.uint64(32)) | low)


def uniforms(keys: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """The uniform number (n,) in [0, 1) of each key in step ``number``."""
    return (words(keys, number) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def words(keys: NDArray[np.uint64], number: int) -> NDArray[np.uint64]:
    """The random word (n,) of each key in step ``number``."""
    return mix(mix(keys * np.uint64(MIX_STEP)) + np.uint64(number * MIX_STEP % _WORD))
