"""Expert iteration (Anthony et al. 2017, https://arxiv.org/abs/1705.08439) in self-play.

The expert looks one move ahead with open cards: at a share of the decisions it tries every legal action in the game as
it is, and the agents at the table play on to the end. The network sees only what its seat sees, so it learns the mean
over all deals that look alike:

    maximise  sum over a of policy(a) * value(a)  +  ent_coef * entropy of the policy

Sources: rollouts that improve a policy, Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search"
(NIPS 1996); all actions of a position tried with the same luck, the method "vine" of Schulman et al. 2015
(https://arxiv.org/abs/1502.05477), section 5.2.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from catbox_agents.play import END_OF_GAME, END_OF_ROUND
from catbox_agents.search.playing import Player, action_rewards
from catbox_env import Game, Vec
from catbox_train.algorithm import Metrics
from catbox_train.config import Count, Number, Share
from catbox_train.group import Group
from catbox_train.rollout import Decisions, Rollout
from catbox_train.seeds import SEARCHES, update_seed
from catbox_train.self_play import SelfPlayAlgorithm
from catbox_train.self_play_config import SelfPlayConfig

#: What is learned from, a row for each searched decision.
COLUMNS = ("inputs", "action_features", "masks")


class ExitConfig(SelfPlayConfig):
    """The settings of expert iteration."""

    search_share: Share = Field(
        0.2, gt=0, description="share of the decisions of an update at which every legal action is tried"
    )
    ent_coef: Number = Field(0.1, ge=0, description="weight of the entropy bonus, in points")
    update_epochs: Count = Field(3, description="passes over the searched decisions of an update")
    learning_rate: Number = Field(
        5e-4, gt=0, description="learning rate of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Number = Field(0.0, ge=0, description="learning rate at the end")


class Positions(NamedTuple):
    """Decisions of n games: their ``rows`` (n,), copies of the games, and who has each seat, ``line_up`` (n, P)."""

    rows: NDArray[np.int64]
    games: Vec
    line_up: NDArray[np.int64]


class ExpertIteration(SelfPlayAlgorithm):
    """The policy, which learns from searched decisions."""

    Config = ExitConfig
    config: ExitConfig
    rollout: Rollout

    def make_rollout(self, group: Group) -> Rollout:
        """On the CPU, where the games of an update can be copied and searched."""
        return Rollout(self.config, self.game, self.network.inputs, group)

    @classmethod
    def memory_needed(cls, config: SelfPlayConfig, game: Game) -> int:
        """Bytes that a run needs in each process: also for the searched positions."""
        assert isinstance(config, ExitConfig)
        return round((1 + 2 * config.search_share) * super().memory_needed(config, game))

    def update(self, update_index: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, search some of their decisions, and learn from these."""
        learner, group = self.learner, self.learner.group
        learning_rate = learner.anneal(progress)
        random = np.random.default_rng(update_seed(self.config.seed, update_index, SEARCHES, group.rank))

        decisions, chosen = self.play_and_choose(update_index, progress, random)
        began = time.perf_counter()
        columns = self.search(decisions, chosen, random)
        seconds = time.perf_counter() - began
        for minibatch in learner.minibatches(columns, torch.arange(len(columns["gains"])), update_index):
            learner.step(self.loss, minibatch)

        searched, seconds = group.summed(len(columns["gains"]), seconds)
        metrics = learner.metrics() | {"learning_rate": learning_rate, "searched": searched}
        metrics["searched_per_second"] = searched * group.size / max(1e-9, seconds)
        return self.finish(update_index, decisions, metrics)

    def play_and_choose(
        self, update_index: int, progress: float, random: np.random.Generator
    ) -> tuple[Decisions, list[Positions]]:
        """The decisions of an update, and copies of the games at a share of them, drawn with ``random``."""
        chosen: list[Positions] = []

        def copy_some(first: int, games: NDArray[np.int64], line_up: NDArray[np.int64]) -> None:
            some = np.flatnonzero(random.random(len(games)) < self.config.search_share)
            if len(some):
                chosen.append(Positions(first + some, self.rollout.vec.take(games[some]), line_up[some]))

        return self.play(update_index, progress, watch=copy_some), chosen

    def search(
        self, decisions: Decisions, chosen: Sequence[Positions], random: np.random.Generator
    ) -> dict[str, torch.Tensor]:
        """What is learned from the ``chosen`` positions: ``COLUMNS``, and ``gains``, how much more each action earns
        than the one that was taken, (n, A) float32; 0 for illegal ones.

        The learner plays its most probable actions, and has equal luck after all actions of a position.
        """
        until = END_OF_GAME if self.game.reward == "win" else END_OF_ROUND
        players = [
            Player(self.policy(), "policy"),
            *(Player(agent, name) for name, agent in self.rollout.opponents.items()),
        ]
        values = [np.zeros((0, self.game.num_actions), np.float32)]
        for position in chosen:
            place, action = np.nonzero(position.games.action_mask)
            keys = random.integers(2**64, size=position.games.num_envs, dtype=np.uint64)[place]
            earned = np.zeros(position.games.action_mask.shape, np.float32)
            earned[place, action] = action_rewards(
                position.games.take(place), action, players, position.line_up[place], until, keys
            )
            values.append(earned)
        rows = torch.from_numpy(np.concatenate([np.zeros(0, np.int64), *(part.rows for part in chosen)]))
        columns = {name: decisions.columns[name][rows] for name in (*COLUMNS, "actions")}
        of_actions = torch.from_numpy(np.concatenate(values))
        gains = (of_actions - of_actions.gather(1, columns.pop("actions")[:, None])) * columns["masks"]
        return columns | {"gains": gains}

    def loss(self, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The loss of the current network for a minibatch, the negative of what it maximises, and metrics."""
        logits, _ = self.network(batch["inputs"], batch["action_features"], batch["masks"])
        logs = logits.log_softmax(1)
        policy = logits.softmax(1)  # exp(logs) is equal, but slow for illegal actions
        gain = (policy * batch["gains"]).sum(1).mean()
        entropy = -(policy * logs).sum(1).mean()
        return -gain - self.config.ent_coef * entropy, {"gain": gain.detach(), "entropy": entropy.detach()}
