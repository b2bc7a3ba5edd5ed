"""Variations of PPO that the study `learning` compares with plain PPO.

algorithm: experiments.learners:VariedPPO
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from catbox_train.algorithms.ppo.options import PPOOptions
from catbox_train.algorithms.ppo.ppo import PPO
from catbox_train.self_play.group import Group
from catbox_train.settings import Float, Share
from pydantic import Field
from torch.nn.utils import vector_to_parameters

from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_env import Game
from catbox_train import TrainConfig
from catbox_train.algorithm import TrainingState


class VariedOptions(PPOOptions):
    """Settings of PPO and of the variations; by default PPO is unchanged."""

    averaging: Share = Field(
        0.0, description="decay, at each step, of the average of the weights that is evaluated and saved"
    )
    kl_weight: Float = Field(0.0, ge=0, description="weight of the KL divergence from the policy that played")
    value_lambda: Float = Field(
        -1.0, le=1, description="lambda of what the values learn; below 0: gae_lambda"
    )
    largest_advantages: Share = Field(
        1.0, description="share of the decisions that are learned from: those with the largest advantages"
    )


class VariedPPO(PPO):
    """PPO with elements of Ataraxos: averaged weights, a KL divergence in the loss, separate lambdas for policy and
    values, large advantages only (https://arxiv.org/abs/2511.07312)."""

    Options = VariedOptions
    options: VariedOptions

    def __init__(self, config: TrainConfig, game: Game, group: Group | None = None) -> None:
        super().__init__(config, game, group)
        self.average = self.weights.detach().clone()

    def estimate(self) -> None:
        """Estimate advantages and returns, each with its own lambda."""
        super().estimate()
        if self.options.value_lambda >= 0:
            of_values = np.zeros_like(self.advantages)
            self.fill_advantages(self.options.value_lambda, of_values)
            np.add(of_values, self.values, out=self.returns)

    def plain_loss(
        self, read: Sequence[torch.Tensor], learned: Sequence[torch.Tensor], entropy_weight: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The loss of PPO and the KL divergence."""
        loss, metrics = super().plain_loss(read, learned, entropy_weight)
        return loss + self.options.kl_weight * metrics["kl"], metrics

    def make_steps(
        self,
        loss: Callable[[torch.Tensor], tuple[torch.Tensor, Mapping[str, torch.Tensor]]],
        ready: np.ndarray,
        num_minibatches: int,
        learning_rate: float,
    ) -> dict[str, float]:
        """Learn from the rows with the largest advantages, in minibatches of the same size."""
        share = self.options.largest_advantages
        sizes = np.abs(self.advantages.reshape(-1)[ready])
        chosen = np.sort(ready[np.argsort(-sizes, kind="stable")[: max(1, round(share * len(ready)))]])
        return super().make_steps(loss, chosen, max(1, round(share * num_minibatches)), learning_rate)

    def step(self, loss: torch.Tensor) -> list[torch.Tensor]:
        """Make a step, then update the average."""
        norms = super().step(loss)
        self.average.lerp_(self.weights.detach(), 1 - self.options.averaging)
        return norms

    def policy(self) -> PolicyNetwork:
        """The actor with the averaged weights."""
        averaged = copy.deepcopy(self.actor)
        vector_to_parameters(self.average[self.parts["actor"]].clone(), averaged.parameters())
        return PolicyNetwork.of(averaged)

    def state(self) -> TrainingState:
        """The state of PPO, and the average."""
        state = super().state()
        return TrainingState(state.arrays | {"average": self.average.cpu().numpy()}, state.values)

    def restore(self, state: TrainingState, update: int) -> None:
        """Resume from ``state``."""
        super().restore(state, update)
        self.average.copy_(torch.from_numpy(state.arrays["average"]))
