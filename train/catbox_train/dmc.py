"""Deep Monte Carlo (DouZero, Zha et al. 2021, https://arxiv.org/abs/2106.06135) in self-play.

The actor's output for an action is the value of that action: what the seat will be paid from here to the end of the
game. It plays the action of the highest value, in training sometimes a random one, and learns from the returns of its
games. There is no bootstrapping, so the targets are unbiased for the way it plays, but noisy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from pydantic import Field

from catbox_agents.features import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import Algorithm, DivergedError, Metrics, State
from catbox_train.config import Share
from catbox_train.device_rollout import make_rollout
from catbox_train.learner import (
    ALONE,
    PRECISIONS,
    Group,
    Learner,
    Past,
    between,
    game_metrics,
    mean_and_variance,
    mean_metrics,
    memory_needed,
)
from catbox_train.rollout import Decisions, SelfPlayConfig


class DMCConfig(SelfPlayConfig):
    """The settings of Deep Monte Carlo."""

    epsilon: Share = Field(
        0.1, description="probability of a random action at the start, falling linearly to epsilon_end"
    )
    epsilon_end: Share = Field(0.01, description="probability of a random action at the end")


class DMC(Algorithm):
    """The network of values, its optimizer, and the games.

    Attributes: ``scale``: the network outputs values in units of this many points, the standard deviation of the
    returns in the first update; 0 before it.
    """

    Config = DMCConfig
    processes = True
    config: DMCConfig

    def __init__(self, config: DMCConfig, game: Game, group: Group = ALONE) -> None:
        super().__init__(config, game)
        inputs = NetworkInputs(game, config.features, config.action_features)
        self.actor = MLP.for_policy(inputs, config.hidden, config.activation)
        self.precision = PRECISIONS[config.precision]
        self.learner = Learner({"actor": self.actor}, config, game, group)
        self.rollout = make_rollout(config, game, inputs, group.rank, group.size)
        # Values are not logits: earlier networks also play the action of the highest value.
        self.past = Past(config, self.actor, game, greedy=True)
        self.scale = self.epsilon = 0.0

    @classmethod
    def memory_needed(cls, config: DMCConfig, game: Game) -> int:
        """Bytes that a run needs in each process."""
        inputs = NetworkInputs(game, config.features, config.action_features)
        with torch.device("meta"):  # a network without memory
            actor = MLP.for_policy(inputs, config.hidden)
        return memory_needed(config, game, {"actor": actor})

    @classmethod
    def check_run(cls, config: DMCConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from``: values cannot start from a policy."""
        if config.start_from:
            raise ValueError(
                f"start_from = {config.start_from!r}: dmc learns values, which no policy gives; leave it out"
            )

    def update(self, update: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, and learn the returns of the learner's decisions."""
        config, learner = self.config, self.learner
        self.epsilon = between(config.epsilon, config.epsilon_end, progress)
        self.player = self.actor.frozen(self.precision)
        decisions = self.rollout.play(update, self.choose, self.past.agents)

        returns = returns_of(decisions)
        _, variance = mean_and_variance(returns[decisions.rows], learner)
        if not math.isfinite(variance):
            raise DivergedError("a return is not finite")
        self.scale = self.scale or variance**0.5 or 1.0
        names = ("inputs", "action_features", "masks", "actions")
        columns = {name: decisions.columns[name].to(learner.device) for name in names}
        targets = (returns / self.scale).to(learner.device)

        learning_rate = between(config.learning_rate, config.learning_rate_end, progress)
        records = []
        for rows, total_rows in learner.minibatches(decisions.rows, update):
            inputs, features, masks, actions = (columns[name].index_select(0, rows) for name in names)
            outputs = self.actor(inputs, precision=self.precision)
            values = self.actor.logits_of(outputs, features, masks).gather(1, actions[:, None])[:, 0]
            errors = 0.5 * (values - targets.index_select(0, rows)).square()
            loss = errors.sum() / total_rows
            norms = learner.step(loss, learning_rate)
            records.append({"value_loss": loss.detach(), "actor_grad_norm": norms[0]})
        learner.check_finite()
        self.past.add(update + 1)

        learned = mean_metrics(records, learner)
        if variance > 0:
            learned["explained_variance"] = 1 - 2 * learned["value_loss"] * self.scale**2 / variance
        learned |= {"learning_rate": learning_rate, "epsilon": self.epsilon}
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
        """The actions of the highest values, some at random."""
        outputs = self.player(inputs.to(self.learner.device), precision=self.precision)
        values = self.actor.action_logits(outputs, action_features, masks)
        return {"actions": epsilon_greedy(values, masks, uniforms, self.epsilon)}

    def policy(self) -> PolicyAgent:
        """The agent that takes the action of the highest value."""
        return PolicyAgent(self.actor, self.game)

    def state(self) -> State:
        """Weights, Adam's moments, earlier networks, and the scale."""
        return self.learner.state() | self.past.state() | {"scale": np.array(self.scale)}

    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned."""
        self.learner.restore(state)
        self.past.restore(state)
        self.scale = float(state["scale"])


def returns_of(decisions: Decisions) -> torch.Tensor:
    """What the seat of each row is paid from it to the end of the game: (m,) float32."""
    returns = torch.cat([torch.zeros_like(decisions.rewards), decisions.rewards.new_zeros(1)])
    for rows in reversed(decisions.steps):
        # Row -1, the zero at the end, where there is no next decision.
        returns[rows] = decisions.rewards[rows] + returns[decisions.next_rows[rows]]
    return returns[:-1]


def epsilon_greedy(
    values: torch.Tensor, masks: torch.Tensor, uniforms: torch.Tensor, epsilon: float
) -> torch.Tensor:
    """For each row the legal action of the highest value, or with probability ``epsilon`` any legal one: (n,) int64.

    Takes ``values`` (n, A), ``masks`` (n, A) with at least one legal action per row, ``uniforms`` (n,) in [0, 1). Ties
    go to the lowest action.
    """
    lowest = torch.finfo(values.dtype).min
    best = torch.where(masks, values.clamp(min=lowest), -torch.inf).argmax(1)
    counts = masks.sum(1)
    # Below epsilon, the number is uniform too.
    which = (uniforms / max(epsilon, 1e-300) * counts).clamp(max=counts - 1).long()
    other = (masks.cumsum(1) > which[:, None]).int().argmax(1)
    return torch.where(uniforms < epsilon, other, best)
