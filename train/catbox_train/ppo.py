"""Proximal policy optimisation (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) in self-play.

One network plays every seat, unless there are opponents. An update plays whole games, estimates the advantage of every
decision (GAE, Schulman et al. 2016, https://arxiv.org/abs/1506.02438), and makes gradient steps on minibatches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from pydantic import Field

from catbox_agents.networks.mlp import sample_legal
from catbox_agents.networks.network import Network
from catbox_train.algorithm import DivergedError, Metrics
from catbox_train.config import Number
from catbox_train.learner import interpolate, mean_and_variance
from catbox_train.rollout import Decisions
from catbox_train.self_play import SelfPlayAlgorithm
from catbox_train.self_play_config import SelfPlayConfig

#: Logits beyond this are no policy any more; training has diverged.
LARGEST_LOGIT = 1e8


class PPOConfig(SelfPlayConfig):
    """The settings of PPO."""

    games_on_gpu = True

    ent_coef: Number = Field(
        0.06, ge=0, description="weight of the entropy bonus at the start, falling linearly to ent_coef_end"
    )
    ent_coef_end: Number = Field(0.002, ge=0, description="weight of the entropy bonus at the end")
    clip_coef: Number = Field(
        0.15,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip_coef .. 1 + clip_coef",
    )
    vf_coef: Number = Field(0.1, ge=0, description="weight of the value loss (squared error)")
    gamma: Number = Field(1.0, ge=0, le=1, description="discount between successive decisions of a seat")
    gae_lambda: Number = Field(
        0.95, ge=0, le=1, description="lambda of the advantage estimate (GAE), over a seat's own decisions"
    )


class PPO(SelfPlayAlgorithm):
    """The policy and its value, one network."""

    Config = PPOConfig
    num_values = 1
    config: PPOConfig

    def update(self, update_index: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, and learn from the learner's decisions.

        Raises ``DivergedError`` for a value, loss, gradient or weight that is not finite, and for huge logits.
        """
        learning_rate = self.learner.anneal(progress)
        ent_coef = interpolate(self.config.ent_coef, self.config.ent_coef_end, progress)

        decisions = self.play(update_index, progress)
        columns, explained_variance = self.learning_columns(decisions)
        for minibatch in self.learner.minibatches(columns, decisions.rows, update_index):
            self.learner.step(self.loss, minibatch, ent_coef)

        metrics = self.learner.metrics()
        if metrics.pop("largest_logit", 0.0) > LARGEST_LOGIT:
            raise DivergedError(f"a logit of the policy is larger than {LARGEST_LOGIT:.0e}")
        metrics |= {
            "explained_variance": explained_variance,
            "learning_rate": learning_rate,
            "ent_coef": ent_coef,
        }
        return self.finish(update_index, decisions, metrics)

    @torch.no_grad()
    def choose(
        self,
        network: Network,
        inputs: torch.Tensor,
        action_features: torch.Tensor,
        masks: torch.Tensor,
        uniforms: torch.Tensor,
    ) -> Mapping[str, torch.Tensor]:
        """Draw actions from the policy: their log-probabilities and the values stand beside them."""
        logits, values = network(inputs, action_features, masks)
        actions, log_probs = sample_legal(logits, masks, uniforms)
        return {"actions": actions, "log_probs": log_probs, "values": values[:, 0]}

    def learning_columns(self, decisions: Decisions) -> tuple[dict[str, torch.Tensor], float]:
        """What `loss` takes, of all decisions, and the share of the variance of the returns that the values explain."""
        rows, values, group = decisions.rows, decisions.columns["values"], self.learner.group
        advantages = gae(decisions, values, self.config.gamma, self.config.gae_lambda)
        returns = advantages + values
        mean, variance = mean_and_variance(advantages[rows], group)
        _, of_returns = mean_and_variance(returns[rows], group)
        if not math.isfinite(of_returns):
            raise DivergedError("a value is not finite")
        names = ("inputs", "action_features", "masks", "actions", "log_probs")
        columns = {name: decisions.columns[name] for name in names}
        columns |= {"advantages": (advantages - mean) / (variance**0.5 + 1e-8), "returns": returns}
        return columns, 1 - variance / of_returns if of_returns > 0 else 0.0

    def loss(
        self, batch: Mapping[str, torch.Tensor], ent_coef: torch.Tensor | float
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The loss of the current network for a minibatch, and metrics."""
        logits, values = self.network(batch["inputs"], batch["action_features"], batch["masks"])
        return ppo_loss(logits, values[:, 0], batch, self.config, ent_coef)


def gae(decisions: Decisions, values: torch.Tensor, gamma: float, gae_lambda: float) -> torch.Tensor:
    """The advantage (m,) float32 of each row, given its value: backwards over the decisions of each seat.

    A decision is paid all rewards until the seat's next one; ``gamma`` and ``gae_lambda`` apply once per own decision.
    """
    advantages = torch.zeros_like(values)
    for rows in reversed(decisions.steps):
        errors = decisions.rewards[rows] + gamma * decisions.at_next(values, rows) - values[rows]
        advantages[rows] = errors + gamma * gae_lambda * decisions.at_next(advantages, rows)
    return advantages


def ppo_loss(
    logits: torch.Tensor,
    values: torch.Tensor,
    batch: Mapping[str, torch.Tensor],
    config: PPOConfig,
    ent_coef: torch.Tensor | float,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss () to differentiate, equations 7 and 9 of the paper, and metrics: means over n decisions, but for the
    largest logit.

    Takes ``logits`` (n, A), those of illegal actions ``ILLEGAL``, and ``values`` (n,) float32 of the current network;
    and of ``batch`` the ``actions`` (n,) int64 and, (n,) float32, their ``log_probs`` under the policy that played, the
    ``advantages``, and the ``returns``. ``approx_kl`` is estimator k3 of http://joschu.net/blog/kl-approx.html.
    """
    logs = logits.log_softmax(1)
    policy = logits.softmax(1)  # exp(logs) is equal, but slow for illegal actions
    entropy = -(policy * logs).sum() / len(logs)
    log_ratio = logs.gather(1, batch["actions"][:, None])[:, 0] - batch["log_probs"]
    ratio, advantages = log_ratio.exp(), batch["advantages"]
    clipped = ratio.clamp(1 - config.clip_coef, 1 + config.clip_coef)
    gain = torch.minimum(advantages * ratio, advantages * clipped).mean()
    value_loss = (values - batch["returns"]).square().mean()
    loss = config.vf_coef * value_loss - gain - ent_coef * entropy
    with torch.no_grad():
        metrics = {
            "policy_loss": -gain,
            "value_loss": value_loss,
            "entropy": entropy,
            "approx_kl": (ratio - 1 - log_ratio).mean(),
            "clip_fraction": ((ratio - 1).abs() > config.clip_coef).float().mean(),
            "largest_logit": logits.amax(),
        }
    return loss, metrics
