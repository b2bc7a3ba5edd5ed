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
from catbox_train.group import Group
from catbox_train.learner import (
    PRECISIONS,
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

    games_on_gpu = True

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

    def __init__(self, config: DMCConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game)
        inputs = NetworkInputs(game, config.features, config.action_features)
        self.actor = MLP.for_policy(inputs, config.hidden, config.activation)
        self.precision = PRECISIONS[config.precision]
        self.learner = Learner(self.actor, config, game, group)
        self.rollout = make_rollout(config, game, inputs, group.rank, group.size)
        # Values are not logits: earlier networks also play the action of the highest value.
        self.past = Past(config, self.actor, game, greedy=True)
        self.scale = 0.0
        self.epsilon = torch.zeros((), device=self.rollout.device)
        self.step = self.rollout.gradient_steps(self.gradient_step)

    @classmethod
    def memory_needed(cls, config: DMCConfig, game: Game) -> int:
        """Bytes that a run needs in each process."""
        inputs = NetworkInputs(game, config.features, config.action_features)
        with torch.device("meta"):  # a network without memory
            actor = MLP.for_policy(inputs, config.hidden)
        return memory_needed(config, game, actor)

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
        epsilon = between(config.epsilon, config.epsilon_end, progress)
        self.epsilon.fill_(epsilon)
        self.player = self.rollout.player(self.actor, self.precision)
        decisions = self.rollout.play(update, self.choose, self.past.agents)

        returns = returns_of(decisions)
        _, variance = mean_and_variance(returns[decisions.rows], learner)
        if not math.isfinite(variance):
            raise DivergedError("a return is not finite")
        self.scale = self.scale or variance**0.5 or 1.0
        names = ("inputs", "action_features", "masks", "actions")
        targets = self.rollout.keep("targets", returns / self.scale)
        found = {name: decisions.columns[name] for name in names} | {"targets": targets}
        self.columns = {name: column.to(learner.device) for name, column in found.items()}

        learning_rate = between(config.learning_rate, config.learning_rate_end, progress)
        learner.set_learning_rate(learning_rate)
        equal = self.rollout.equal_minibatches
        records = [
            self.step(rows, total) for rows, total in learner.minibatches(decisions.rows, update, equal)
        ]
        learner.check_finite()
        self.past.add(update + 1)

        learned = mean_metrics(("value_loss", "grad_norm"), records, learner)
        if variance > 0 and records:
            learned["explained_variance"] = 1 - 2 * learned["value_loss"] * self.scale**2 / variance
        learned |= {"learning_rate": learning_rate, "epsilon": epsilon}
        played, metrics = game_metrics(decisions, learner)
        return played, metrics | {f"learning/{name}": value for name, value in learned.items()}

    def gradient_step(self, rows: torch.Tensor, total: int) -> torch.Tensor:
        """A step on the decisions ``rows`` (m,) int64 of a minibatch of ``total`` in all processes; returns the value
        loss and the gradient norm (2,)."""
        inputs, features, masks, actions, targets = (
            column.index_select(0, rows) for column in self.columns.values()
        )
        outputs = self.actor(inputs, precision=self.precision)
        values = self.actor.logits_of(outputs, features, masks).gather(1, actions[:, None])[:, 0]
        loss = 0.5 * (values - targets).square().sum() / total
        return torch.stack([loss.detach(), self.learner.step(loss)])

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
    values: torch.Tensor, masks: torch.Tensor, uniforms: torch.Tensor, epsilon: torch.Tensor | float
) -> torch.Tensor:
    """For each row the legal action of the highest value, or with probability ``epsilon`` any legal one: (n,) int64.

    Takes ``values`` (n, A), ``masks`` (n, A) with at least one legal action per row, ``uniforms`` (n,) in [0, 1). Ties
    go to the lowest action.
    """
    lowest = torch.finfo(values.dtype).min
    best = torch.where(masks, values.clamp(min=lowest), -torch.inf).argmax(1)
    counts = masks.sum(1)
    # Below epsilon, the number is uniform too.
    which = (uniforms / epsilon * counts).clamp(max=counts - 1).long()  # meaningless if epsilon is 0
    other = (masks.cumsum(1) > which[:, None]).int().argmax(1)
    return torch.where(uniforms < epsilon, other, best)
