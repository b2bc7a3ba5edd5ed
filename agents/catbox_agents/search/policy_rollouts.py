"""Rollouts of a network in compiled code: the same games as `playing.rollout_rewards` plays, without Python between
moves.

It serves the agents whose rollouts matter most: a `PolicyAgent` with ReLU layers and the features of the game. All
others play by `catbox_agents.play`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import MIX_STEP, Agent, mix, other_rules
from catbox_agents.networks.action_head import add_scores, draw_legal
from catbox_agents.networks.layer_kernels import add_layer
from catbox_agents.networks.numpy_network import NumpyMLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Vec
from catbox_env.core.compilation import HAS_NUMBA, cached_njit, njit
from catbox_env.core.rng import unit_interval

#: Games that are played side by side: what they need stays in the nearer caches.
_ROWS_AT_ONCE = 256
_STEP = np.uint64(MIX_STEP)
_mix = njit(mix)


class Leaf(NamedTuple):
    """Where a critic takes over: when the seat ``seats`` (N,) of a game has a choice for the ``depth``-th time."""

    seats: NDArray[np.int64]
    depth: int


def plays_compiled(agent: Agent, has_keys: bool) -> bool:
    """Whether `policy_rewards` plays as this agent does, which needs keys if it samples its actions."""
    if type(agent) is not PolicyAgent or not HAS_NUMBA:
        return False
    network = agent.network
    if not isinstance(network, NumpyMLP):
        return False
    has_features = bool(network.feature_sizes and network.action_feature_sizes)
    return (agent.greedy or has_keys) and agent.adapted is None and has_features and network.is_relu


def policy_rewards(
    agent: PolicyAgent,
    games: Vec,
    rows: NDArray[np.int64],
    to_the_end: bool,
    keys: NDArray[np.uint64] | None,
    leaf: Leaf | None = None,
) -> NDArray[np.float64]:
    """Play the games ``rows``, none of which is over, by ``agent`` for all seats.

    To the end of the round, or with ``to_the_end`` of the game. ``keys`` (N,) are the random numbers of an agent that
    samples its actions; ``leaf``: where the agent's critic takes over. Returns what each seat of each game is paid
    meanwhile, (N, P). Raises ``ValueError`` if the network gives logits or values that are not finite.
    """
    paid = np.zeros(games.rewards.shape)
    network, game, features = agent.network, games.game, agent.inputs.features
    assert isinstance(network, NumpyMLP)  # as `plays_compiled` says
    assert features is not None
    if other := other_rules(agent.game, game):
        raise ValueError(f"the agent was made for {other}: make one for the rules of the games")
    play = _make_play(game.loops.step_games, features.fill)
    weights, biases = zip(*(network.layers if leaf is None else network.layers_with_critic()), strict=True)
    seats, depth = (np.zeros(0, np.int64), 0) if leaf is None else leaf
    num_features = agent.inputs.size - game.observation_layout.size
    wrong = np.zeros(1, np.bool_)
    luck = np.zeros(0, np.uint64) if agent.greedy or keys is None else mix(keys * _STEP)

    def play_rows(batch: Any, some: NDArray[np.int64], outcomes: Any, views: Any) -> None:
        for begin in range(0, len(some), _ROWS_AT_ONCE):
            play(
                batch, some[begin : begin + _ROWS_AT_ONCE], outcomes, views, features.offsets, num_features, weights,
                biases, network.action_scale, to_the_end, luck, seats, depth, paid, wrong,
            )  # fmt: skip

    games.play_compiled(play_rows, rows)
    if wrong[0]:
        raise agent.not_finite()
    return paid


@cache
def _make_play(step_games: Callable[..., None], fill: Callable[..., None]) -> Callable[..., None]:
    """What plays games by a network, over the loops and the features of a game."""

    @cached_njit(nogil=True)
    def play(  # type: ignore[no-untyped-def]
        games,
        rows,
        outcomes,
        views,
        offsets,
        num_features,
        weights,
        biases,
        scale,
        to_the_end,
        luck,
        seats,
        depth,
        paid,
        wrong,
    ):
        observation, legal, _, current_player, _, _ = views
        rewards, terminated, round_ended, _ = outcomes
        width, num_actions = observation.shape[1], legal.shape[1]
        left, moving, actions = len(rows), rows.copy(), np.empty(len(rows), np.int64)
        asked = np.empty(left, np.int64)
        seen, masks = np.empty((left, width), np.int8), np.empty((left, num_actions), np.bool_)
        features = np.empty((left, num_features), np.int8)
        of_actions = np.empty((left, num_actions, len(scale)), np.int8)
        vectors = np.empty((left, width + num_features), np.int8)
        uniforms, drawn, log_probs = np.empty(left), np.empty(left, np.int64), np.empty(left, np.float32)
        had, at_leaf = np.zeros(left, np.int64), np.zeros(left, np.bool_)  # choices of the seat of the leaf
        last, number = len(weights) - 1, np.uint64(0)
        while left > 0:
            count = 0
            for k in range(left):
                i, choices, first = moving[k], 0, 0
                for action in range(num_actions - 1, -1, -1):
                    if legal[i, action]:
                        choices += 1
                        first = action
                actions[k] = first
                if choices > 1:
                    if depth > 0 and current_player[i] == seats[i]:
                        had[k] += 1
                        at_leaf[k] = had[k] == depth
                    asked[count] = k
                    seen[count] = observation[i]
                    masks[count] = legal[i]
                    count += 1
            if count > 0:
                fill(games[0], offsets, seen[:count], masks[:count], features[:count], of_actions[:count])
                vectors[:count, :width] = seen[:count]
                vectors[:count, width:] = features[:count]
                outputs = np.empty((count, len(biases[0])), np.float32)
                outputs[:] = biases[0]
                add_layer(vectors[:count], weights[0], outputs, last > 0)
                for layer in range(1, last + 1):
                    inputs, outputs = outputs, np.empty((count, len(biases[layer])), np.float32)
                    outputs[:] = biases[layer]
                    add_layer(inputs, weights[layer], outputs, layer < last)
                add_scores(outputs, masks[:count], of_actions[:count], scale)
                for n in range(count):
                    best, choice = -np.inf, -1
                    for action in range(num_actions):
                        if masks[n, action]:
                            logit = outputs[n, action]
                            if not np.isfinite(logit):
                                wrong[0] = True
                            elif logit > best:
                                best, choice = logit, action
                    if choice >= 0:
                        actions[asked[n]] = choice
                if len(luck) > 0:
                    for n in range(count):
                        uniforms[n] = unit_interval(_mix(luck[moving[asked[n]]] + number * _STEP))
                    draw_legal(outputs, masks[:count], uniforms, drawn, log_probs)
                    for n in range(count):
                        actions[asked[n]] = drawn[n]
                if depth > 0:
                    for n in range(count):
                        if at_leaf[asked[n]]:
                            i, value = moving[asked[n]], outputs[n, outputs.shape[1] - 1]
                            paid[i, seats[i]] += value
                            if not np.isfinite(value):
                                wrong[0] = True
                    still = 0
                    for k in range(left):
                        if not at_leaf[k]:
                            moving[still], actions[still], had[still] = moving[k], actions[k], had[k]
                            still += 1
                        at_leaf[k] = False
                    left = still
            number += np.uint64(1)
            step_games(games, moving[:left], actions[:left], False, outcomes, views)
            still = 0
            for k in range(left):
                i = moving[k]
                for seat in range(paid.shape[1]):
                    paid[i, seat] += rewards[i, seat]
                if not (terminated[i] or (round_ended[i] and not to_the_end)):
                    moving[still], had[still] = i, had[k]
                    still += 1
            left = still

    return play
