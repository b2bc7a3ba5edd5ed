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

from catbox_agents.features import NetworkInputs
from catbox_agents.networks.mlp import MLP, sample_legal
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.play import END_OF_GAME, END_OF_ROUND
from catbox_agents.search.playing import Player, action_rewards
from catbox_env import Game, Vec
from catbox_train.algorithm import Algorithm, Metrics, State
from catbox_train.config import Count, Number, Share
from catbox_train.group import Group
from catbox_train.learner import (
    PRECISIONS,
    Learner,
    Past,
    between,
    game_metrics,
    mean_metrics,
    memory_needed,
    start_from,
)
from catbox_train.rollout import SEARCHES, Decisions, Rollout, SelfPlayConfig, update_seed

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


class ExpertIteration(Algorithm):
    """The policy, its optimizer, and the games."""

    Config = ExitConfig
    processes = True
    config: ExitConfig

    def __init__(self, config: ExitConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game)
        inputs = NetworkInputs(game, config.features, config.action_features)
        self.actor = MLP.for_policy(inputs, config.hidden, config.activation)
        self.precision = PRECISIONS[config.precision]
        self.learner = Learner(self.actor, config, game, group)
        self.rollout = Rollout(config, game, inputs, group.rank, group.size)
        self.past = Past(config, self.actor, game, greedy=False)

    @classmethod
    def memory_needed(cls, config: ExitConfig, game: Game) -> int:
        """Bytes that a run needs in each process: also for the searched positions."""
        inputs = NetworkInputs(game, config.features, config.action_features)
        with torch.device("meta"):  # a network without memory
            actor = MLP.for_policy(inputs, config.hidden)
        return round((1 + 2 * config.search_share) * memory_needed(config, game, actor))

    @classmethod
    def check_run(cls, config: ExitConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` that cannot be used."""
        inputs = NetworkInputs(game, config.features, config.action_features)
        start_from(MLP.for_policy(inputs, config.hidden, config.activation), config.start_from, game)

    def update(self, update: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, search some of their decisions, and learn from these."""
        config, learner = self.config, self.learner
        self.player = self.actor.frozen(self.precision)
        random = np.random.default_rng(update_seed(config.seed, update, SEARCHES, learner.group.rank))
        chosen: list[Positions] = []

        def keep_some(first: int, games: NDArray[np.int64], line_up: NDArray[np.int64]) -> None:
            kept = np.flatnonzero(random.random(len(games)) < config.search_share)
            if len(kept):
                chosen.append(Positions(first + kept, self.rollout.vec.take(games[kept]), line_up[kept]))

        decisions = self.rollout.play(update, self.choose, self.past.agents, keep_some)
        began = time.perf_counter()
        columns = self.search(decisions, chosen, random)
        seconds = time.perf_counter() - began

        learning_rate = between(config.learning_rate, config.learning_rate_end, progress)
        learner.set_learning_rate(learning_rate)
        records = []
        for rows, total in learner.minibatches(torch.arange(len(columns[0])), update):
            inputs, features, masks, values = (column.index_select(0, rows) for column in columns)
            logits = self.actor.logits_of(self.actor(inputs, precision=self.precision), features, masks)
            logs = logits.log_softmax(1)
            policy = logits.softmax(1)  # exp(logs) is equal, but slow for illegal actions
            gain, entropy = (policy * values).sum() / total, -(policy * logs).sum() / total
            norm = learner.step(-gain - config.ent_coef * entropy)
            records.append(torch.stack([gain.detach(), entropy.detach(), norm]))
        learner.check_finite()
        self.past.add(update + 1)

        learned = mean_metrics(("gain", "entropy", "grad_norm"), records, learner)
        searched, seconds = learner.group.summed(len(columns[0]), seconds)
        learned |= {"learning_rate": learning_rate, "searched": searched}
        learned["searched_per_second"] = searched * learner.group.size / max(1e-9, seconds)
        played, metrics = game_metrics(decisions, learner)
        return played, metrics | {f"learning/{name}": value for name, value in learned.items()}

    @torch.no_grad()
    def choose(
        self,
        inputs: torch.Tensor,
        action_features: torch.Tensor,
        masks: torch.Tensor,
        uniforms: torch.Tensor,
    ) -> Mapping[str, torch.Tensor]:
        """Draw actions from the policy."""
        outputs = self.player(inputs.to(self.learner.device), precision=self.precision)
        logits = self.actor.action_logits(outputs, action_features, masks)
        return {"actions": sample_legal(logits, masks, uniforms)[0]}

    def search(
        self, decisions: Decisions, chosen: Sequence[Positions], random: np.random.Generator
    ) -> list[torch.Tensor]:
        """What is learned from the ``chosen`` positions, on the device: ``COLUMNS``, and how much more each action
        earns than the one that was taken, (n, A) float32; 0 for illegal ones.

        The learner plays its most probable actions, and has equal luck after all actions of a position.
        """
        until = END_OF_GAME if self.game.reward == "win" else END_OF_ROUND
        players = [Player(self.policy(), "policy"), *(Player(*pair) for pair in self.rollout.opponents)]
        values = [np.zeros((0, self.game.num_actions), np.float32)]
        for position in chosen:
            place, action = np.nonzero(position.games.action_mask)
            keys = random.integers(2**64, size=position.games.num_envs, dtype=np.uint64)[place]
            found = np.zeros(position.games.action_mask.shape, np.float32)
            found[place, action] = action_rewards(
                position.games.take(place), action, players, position.line_up[place], until, keys
            )
            values.append(found)
        rows = torch.from_numpy(np.concatenate([np.zeros(0, np.int64), *(part.rows for part in chosen)]))
        columns = {name: decisions.columns[name][rows] for name in (*COLUMNS, "actions")}
        earned = torch.from_numpy(np.concatenate(values))
        more = (earned - earned.gather(1, columns.pop("actions")[:, None])) * columns["masks"]
        return [column.to(self.learner.device) for column in (*columns.values(), more)]

    def policy(self) -> PolicyAgent:
        """The actor as it is now, which takes its most probable action."""
        return PolicyAgent(self.actor, self.game)

    def state(self) -> State:
        """Weights, Adam's moments, and earlier policies."""
        return self.learner.state() | self.past.state()

    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned."""
        self.learner.restore(state)
        self.past.restore(state)
