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

from catbox_agents.networks.checkpoint import VALUES
from catbox_agents.networks.network import Network
from catbox_env import Game
from catbox_train.algorithm import DivergedError, Metrics, State
from catbox_train.config import Share
from catbox_train.group import Group
from catbox_train.learner import interpolate, mean_and_variance
from catbox_train.self_play import SelfPlayAlgorithm
from catbox_train.self_play_config import SelfPlayConfig


class DMCConfig(SelfPlayConfig):
    """The settings of Deep Monte Carlo."""

    games_on_gpu = True

    epsilon: Share = Field(
        0.1, description="probability of a random action at the start, falling linearly to epsilon_end"
    )
    epsilon_end: Share = Field(0.01, description="probability of a random action at the end")


class DMC(SelfPlayAlgorithm):
    """The network of values, which stand where a policy has its logits.

    Attributes: ``scale``: the network outputs values in units of this many points, the standard deviation of the
    returns in the first update; 0 before it.
    """

    Config = DMCConfig
    outputs = VALUES
    config: DMCConfig

    def __init__(self, config: DMCConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game, group)
        self.scale = 0.0
        #: A tensor, because `choose` is recorded as a CUDA graph.
        self.epsilon = torch.zeros((), device=self.learner.device)

    @classmethod
    def check_run(cls, config: SelfPlayConfig, game: Game) -> None:
        """Raise ``ValueError`` as `SelfPlayAlgorithm` does, and for a ``start_from``: no policy gives values."""
        if config.start_from:
            raise ValueError(
                f"start_from = {config.start_from!r}: dmc learns values, which no policy gives; leave it out"
            )
        super().check_run(config, game)

    def update(self, update_index: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, and learn the returns of the learner's decisions."""
        learning_rate = self.learner.anneal(progress)
        epsilon = interpolate(self.config.epsilon, self.config.epsilon_end, progress)
        self.epsilon.fill_(epsilon)

        decisions = self.play(update_index, progress)
        returns = decisions.returns()
        _, variance = mean_and_variance(returns[decisions.rows], self.learner.group)
        if not math.isfinite(variance):
            raise DivergedError("a return is not finite")
        self.scale = self.scale or variance**0.5
        names = ("inputs", "action_features", "masks", "actions")
        columns = {name: decisions.columns[name] for name in names} | {
            "targets": returns / (self.scale or 1.0)
        }
        for minibatch in self.learner.minibatches(columns, decisions.rows, update_index):
            self.learner.step(self.loss, minibatch)

        metrics = self.learner.metrics()
        if variance > 0 and "value_loss" in metrics:
            metrics["explained_variance"] = 1 - 2 * metrics["value_loss"] * self.scale**2 / variance
        metrics |= {"learning_rate": learning_rate, "epsilon": epsilon}
        return self.finish(update_index, decisions, metrics)

    def loss(self, batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The squared error of the values of the actions taken, and the same as a metric."""
        logits, _ = self.network(batch["inputs"], batch["action_features"], batch["masks"])
        values = logits.gather(1, batch["actions"][:, None])[:, 0]
        loss = 0.5 * (values - batch["targets"]).square().mean()
        return loss, {"value_loss": loss.detach()}

    @torch.no_grad()
    def choose(
        self,
        network: Network,
        inputs: torch.Tensor,
        action_features: torch.Tensor,
        masks: torch.Tensor,
        uniforms: torch.Tensor,
    ) -> Mapping[str, torch.Tensor]:
        """The actions of the highest values, some at random."""
        values, _ = network(inputs, action_features, masks)
        return {"actions": epsilon_greedy(values, masks, uniforms, self.epsilon)}

    def state(self) -> State:
        """Weights, Adam's moments, the league, and the scale."""
        return super().state() | {"scale": np.array(self.scale)}

    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned."""
        super().restore(state)
        self.scale = float(state["scale"])


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
