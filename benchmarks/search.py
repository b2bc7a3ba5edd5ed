"""Searches of decisions throughout a round of Cat in the Box: decisions of their rollouts, and decisions searched."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import catbox_agents
import catbox_env
from benchmarks.report import Clock, Metric, metric_of
from catbox_agents import Agent
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_env import Game, Vec

#: Decisions that are searched at once.
NUM_SEARCHED = 64
WORLDS = 64
#: Of the network: two layers of 256 and a critic, the observation and all features, random weights.
HIDDEN = (256, 256)


def network_file(game: Game, folder: Path) -> str:
    """Write the checkpoint of such a network for ``game`` into ``folder``; returns its path, a spec."""
    network = MLP(NetworkInputs(game, use_features=True, use_action_features=True), 1, HIDDEN)
    network.initialise(torch.Generator().manual_seed(0), last_gain=0.01)
    path = folder / "policy.safetensors"
    save_checkpoint(path, network, game)
    return str(path)


class Counting(Agent):
    """Wraps an agent and counts its decisions."""

    def __init__(self, agent: Agent) -> None:
        self.game, self.agent, self.asked = agent.game, agent, 0
        self.samples_actions = agent.samples_actions

    def act_batch(self, observations: NDArray[Any], *others: Any) -> NDArray[np.int64]:
        self.asked += len(observations)
        return self.agent.act_batch(observations, *others)

    def policy_batch(self, observations: NDArray[Any], *others: Any) -> NDArray[Any]:
        self.asked += len(observations)
        policy: NDArray[Any] = self.agent.policy_batch(observations, *others)  # type: ignore[attr-defined]
        return policy


def measure(quick: bool) -> list[Metric]:
    """With the heuristic and with a network of 2 x 256 units and random weights, 3 and 5 players, 1 thread."""
    metrics = []
    for players in (3, 5):
        game = catbox_env.make_game("cat_in_the_box_v0", num_players=players)
        heuristic = catbox_agents.make("heuristic", game)
        vec = decisions(game, heuristic)
        with TemporaryDirectory() as folder:
            network = catbox_agents.make(network_file(game, Path(folder)), game)
        for name, policy, target, reached in (
            ("heuristic", heuristic, 300_000, 100),
            ("2 x 256 network", network, 100_000, None),
        ):
            counting = Counting(policy)
            search = catbox_agents.PIMCAgent(game, 0, counting, samples=WORLDS)
            where = f"{name}, {players} players"
            rates = rates_of(search, vec, quick, counting)
            metrics.append(metric_of(f"decisions of rollouts, {where}", rates, target=target))
            kinds: list[tuple[str, dict[str, Any], int | None]] = [("beta=0", {"beta": 0.0}, reached)]
            kinds += [("weighted", {}, None)]
            if policy is network:
                kinds += [("weighted, depth=2", {"depth": 2}, None)]
            for kind, settings, wanted in kinds:
                agent = catbox_agents.SearchAgent(game, 0, policy, worlds=WORLDS, **settings)
                label = f"decisions searched, {WORLDS} worlds, {kind}, {where}"
                metrics.append(metric_of(label, rates_of(agent, vec, quick), target=wanted))
        tree = catbox_agents.ISMCTSAgent(game, 0, heuristic, simulations=1000)
        label = f"decisions searched, ismcts of 1,000 simulations, heuristic, {players} players"
        metrics.append(metric_of(label, rates_of(tree, vec, quick)))
    return metrics


def decisions(game: Game, agent: Agent) -> Vec:
    """Games in which the seat to move has a choice, at all points of the round, played there by ``agent``."""
    vec = Vec(game, 4 * NUM_SEARCHED, seed=1, history=True)
    moves = 8 * game.num_players
    for move in range(moves):  # game i has moved i % moves times
        rows = np.flatnonzero(np.arange(vec.num_envs) % moves > move)
        vec.step(agent.act_batch(vec.observation[rows], vec.action_mask[rows]), rows)
    return vec.take(np.flatnonzero(vec.action_mask.sum(axis=1) > 1)[:NUM_SEARCHED])


def rates_of(agent: Agent, vec: Vec, quick: bool, counting: Counting | None = None) -> list[float]:
    """Decisions a second: those searched, or those of ``counting``."""
    rates = []
    for _ in range(2 if quick else 4):
        clock, before = Clock(), counting.asked if counting else 0
        with clock:
            agent.act_batch(vec.observation, vec.action_mask, vec.history)
        rates.append((counting.asked - before if counting else vec.num_envs) / clock.seconds)
    return rates[1:]  # the first one compiles
