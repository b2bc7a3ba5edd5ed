"""Rollouts: games played on by policies, which are asked only where there is a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, agent_seed, needs_history, tells_policy
from catbox_agents.decisions import ask_agent, ask_policy
from catbox_agents.play_out import END_OF_ROUND
from catbox_agents.random_agent import MIX_STEP, mix, sample_actions
from catbox_agents.specs import AgentSpec, agent_of, hand_written_agent, label_of
from catbox_env import Game, Vec

_WORD = 2**64


class Player(NamedTuple):
    """A policy of rollouts; ``label`` names it in errors."""

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
            f"{name} {label!r} asks for its history, which a drawn world does not have; give an agent that "
            f"decides by the observation alone"
        )
    return Player(agent, label)


def play_on(
    games: Vec,
    rows: NDArray[np.int64],
    players: Sequence[Player],
    line_up: NDArray[np.int64],
    until: str,
    keys: NDArray[np.uint64],
) -> NDArray[np.float64]:
    """Play the games ``rows``, none of which is over, to the end of the round or of the game, ``until``.

    ``line_up`` (N, P), or (1, P) for all games: by which of ``players`` each seat plays.

    Returns what each seat of each game is paid meanwhile, (N, P). A policy that draws its actions (`Agent`) draws them
    from what it tells with random numbers that depend on ``keys`` (N,) and on how many actions have been taken here:
    games with equal keys have equal luck.
    """
    paid = np.zeros(games.rewards.shape)
    number = 0
    while len(rows):
        masks = games.action_mask[rows]
        actions = masks.argmax(axis=1)
        choice = masks.sum(axis=1) > 1
        player = line_up[rows if len(line_up) > 1 else 0, games.current_player[rows]]
        for k, (agent, label) in enumerate(players):
            own = np.flatnonzero(choice & (player == k))
            asked = rows[own]
            if len(asked) and getattr(agent, "draws_actions", False) and tells_policy(agent):
                policies = ask_policy(agent, label, games, asked)
                actions[own] = sample_actions(policies, uniforms(keys[asked], number))
            elif len(asked):
                actions[own] = ask_agent(agent, label, games, asked)
        games.step(actions, rows)
        paid[rows] += games.rewards[rows]
        ended = games.terminated[rows]
        if until == END_OF_ROUND:
            ended = ended | games.round_ended[rows]
        rows = rows[~ended]
        number += 1
    return paid


def world_keys(generators: NDArray[Any]) -> NDArray[np.uint64]:
    """A key (n,) for the worlds of each observation, from their generators (n,), which are left as they are."""
    high, low = generators["a"].astype(np.uint64), generators["b"].astype(np.uint64)
    return mix((high << np.uint64(32)) | low)


def uniforms(keys: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """The uniform number (n,) in [0, 1) of each key in step ``number``."""
    mixed = mix(mix(keys * np.uint64(MIX_STEP)) + np.uint64(number * MIX_STEP % _WORD))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
