"""What the algorithms in self-play share: a network that plays and learns, the games, and the opponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from catbox_agents.networks.checkpoint import LOGITS
from catbox_agents.networks.mlp import sample_legal
from catbox_agents.networks.network import Network
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import Algorithm, Metrics, State
from catbox_train.device_rollout import make_learner, make_rollout
from catbox_train.group import Group
from catbox_train.league import League
from catbox_train.networks import make_network, memory_needed
from catbox_train.rollout import BaseRollout, Decisions
from catbox_train.self_play_config import PAST, SelfPlayConfig


class SelfPlayAlgorithm(Algorithm):
    """An algorithm whose one network plays the learner's seats.

    Attributes: ``network``, with ``num_values`` values; ``learner``, which makes its gradient steps; ``rollout``, which
    plays the games; ``league``, the opponents; ``outputs``: what the network outputs for each action, ``"logits"`` or
    ``"values"``, see `PolicyAgent`.
    """

    processes = True
    num_values = 0
    outputs = LOGITS
    config: SelfPlayConfig

    def __init__(self, config: SelfPlayConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game)
        self.network = make_network(config, game, self.num_values)
        self.learner = make_learner(self.network, config, game, group)
        self.rollout = self.make_rollout(group)
        self.league = League(config, self.network, game, self.outputs)

    def make_rollout(self, group: Group) -> BaseRollout:
        """What plays the games."""
        return make_rollout(self.config, self.game, self.network.inputs, group)

    @classmethod
    def memory_needed(cls, config: SelfPlayConfig, game: Game) -> int:
        """Bytes that a run needs in each process."""
        return memory_needed(config, game, cls.num_values)

    @classmethod
    def check_run(cls, config: SelfPlayConfig, game: Game) -> None:
        """Raise ``ValueError`` for a network that cannot be made, a ``start_from`` that is missing, damaged, of another
        network or game, or not a policy, and an ``opponent_schedule`` that does not exist."""
        League(config, make_network(config, game, cls.num_values), game).shares(0, 0.0)

    def play(self, update_index: int, progress: float, **options: Any) -> Decisions:
        """The games of an update, by `choose` among the opponents of the league; ``options`` of the rollout."""
        shares = self.league.shares(update_index, progress)
        return self.rollout.play(update_index, self.network, self.choose, self.league.past, shares, **options)

    @torch.no_grad()
    def choose(
        self,
        network: Network,
        inputs: torch.Tensor,
        action_features: torch.Tensor,
        masks: torch.Tensor,
        uniforms: torch.Tensor,
    ) -> Mapping[str, torch.Tensor]:
        """Draw actions from the policy, see `catbox_train.rollout.Choose`."""
        logits, _ = network(inputs, action_features, masks)
        return {"actions": sample_legal(logits, masks, uniforms)[0]}

    def finish(self, update_index: int, decisions: Decisions, metrics: Metrics) -> tuple[int, Metrics]:
        """Note in the league what was played and learned; returns the decisions played, over all processes, and the
        metrics of the update: those of ``metrics``, which are about learning, and those of the games."""
        played, of_games, wins = summed_play(decisions, self.learner.group)
        self.league.add(update_index + 1, wins)
        return played, of_games | {f"learning/{name}": value for name, value in metrics.items()}

    def policy(self) -> PolicyAgent:
        """The policy as it is now, which takes its most probable action."""
        return PolicyAgent(self.network, self.game, outputs=self.outputs)

    def state(self) -> State:
        """Weights, Adam's moments, and the league."""
        return self.learner.state() | self.league.state()

    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned."""
        self.learner.restore(state)
        self.league.restore(state)


def summed_play(decisions: Decisions, group: Group) -> tuple[int, dict[str, float], dict[str, np.ndarray]]:
    """What was played in all processes: the number of decisions, metrics, and the games won against each opponent, as
    in `Decisions.wins`.

    The metrics are the game's statistics, means over the learner's seats and the rounds, and the share of games won
    against each opponent, earlier policies together.
    """
    pairs = {**decisions.statistics, **{f"against {name}": pair for name, pair in decisions.wins.items()}}
    played, rounds, *totals = group.summed(
        decisions.played, decisions.rounds, *(number for pair in pairs.values() for number in pair)
    )
    sums = dict(zip(pairs, np.reshape(totals, (-1, 2)), strict=True))
    wins = {name: sums[f"against {name}"] for name in decisions.wins}
    by_kind: dict[str, np.ndarray] = {}
    for name, pair in wins.items():
        kind = PAST if name.startswith(f"{PAST}:") else name
        by_kind[kind] = by_kind.get(kind, 0) + pair
    means = {f"game/{name}": sums[name] for name in decisions.statistics}
    means |= {f"learning/beats_{kind}": pair for kind, pair in by_kind.items()}
    metrics = {name: float(total / count) for name, (total, count) in means.items() if count}
    rows = sum(step.stop - step.start for step in decisions.steps)
    if rows > len(decisions):  # on a GPU
        metrics["learning/idle_rows"] = 1 - len(decisions) / rows
    return int(played), metrics | {"game/rounds": rounds}, wins
