"""PPO's loss and a whole update, written once more and apart from the code: what learning must give."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_, vector_to_parameters

from catbox_train.networks import make_network
from catbox_train.ppo import PPO
from catbox_train.rollout import Decisions

#: Of Adam, as in OpenAI's baselines.
EPSILON = 1e-5


def masked_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (n, A) over the legal actions of ``masks`` (n, A) bool; of illegal ones too low to count."""
    return torch.log_softmax(logits.masked_fill(~masks, -1e9), dim=1)


def plain_gae(
    rewards: list[float], values: list[float], next_rows: list[int], gamma: float, gae_lambda: float
) -> list[float]:
    """The definition, forwards, one decision at a time: the errors of it and of the seat's later decisions, weighted
    by (gamma * lambda)^k."""
    advantages = []
    for row in range(len(rewards)):
        total, weight = 0.0, 1.0
        while row >= 0:
            after = values[next_rows[row]] if next_rows[row] >= 0 else 0.0
            total += weight * (rewards[row] + gamma * after - values[row])
            weight *= gamma * gae_lambda
            row = next_rows[row]
        advantages.append(total)
    return advantages


def plain_losses(
    logits: torch.Tensor, values: torch.Tensor, rows: dict[str, torch.Tensor], clip_coef: float
) -> dict[str, torch.Tensor]:
    """The parts of the loss and two metrics, means over the rows (n)."""
    log_probabilities = masked_log_probabilities(logits, rows["masks"])
    log_ratio = log_probabilities.gather(1, rows["actions"][:, None])[:, 0] - rows["log_probs"]
    ratio, advantages = log_ratio.exp(), rows["advantages"]
    gain = torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip_coef, 1 + clip_coef))
    return {
        "policy_loss": -gain.mean(),
        "value_loss": (values - rows["returns"]).square().mean(),
        "entropy": -(log_probabilities.exp() * log_probabilities).sum(dim=1).mean(),
        "approx_kl": (ratio - 1 - log_ratio).mean(),
        "clip_fraction": ((ratio - 1).abs() > clip_coef).to(logits.dtype).mean(),
    }


class ReferenceUpdate:
    """An update in steps of all ``decisions``, by the weights of ``trainer``, which stays as it is.

    Attributes: ``weights``, ``exp_avg`` and ``exp_avg_sq`` (K,) in the order of the trainer; ``metrics``.
    """

    def __init__(self, trainer: PPO, decisions: Decisions) -> None:
        self.config = trainer.config
        self.network: Any = make_network(trainer.config, trainer.game, num_values=1).float()
        self.weights = torch.nn.Parameter(trainer.learner.weights.detach().cpu().clone())
        self.optimizer = torch.optim.Adam([self.weights], eps=EPSILON)
        moments: Any = {name: tensor.cpu().clone() for name, tensor in trainer.learner.moments.items()}
        self.optimizer.state[self.weights] = moments
        rows = decisions.rows.cpu()
        self.rows = {name: column.cpu()[rows] for name, column in decisions.columns.items()}
        with torch.no_grad():
            _, self.values = self.outputs()
        place = {row: k for k, row in enumerate(rows.tolist())} | {-1: -1}
        next_rows = [place[row] for row in decisions.next_rows.cpu()[rows].tolist()]
        given = decisions.rewards.cpu()[rows].tolist(), self.values.tolist(), next_rows
        advantages = torch.tensor(plain_gae(*given, self.config.gamma, self.config.gae_lambda))
        self.rows["returns"] = advantages + self.values
        scaled = (advantages.double() - advantages.double().mean()) / advantages.double().std(correction=0)
        self.rows["advantages"] = scaled.float()

    def outputs(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (n, A) and values (n,) of all rows, by the weights as they are now."""
        vector_to_parameters(self.weights.detach(), self.network.parameters())
        rows = self.rows
        outputs = self.network.outputs(rows["inputs"])
        num_actions = rows["masks"].shape[1]
        logits, values = outputs[:, :num_actions], outputs[:, -1]
        if num_features := rows["action_features"].shape[2]:
            scaled = rows["action_features"].float() * self.network.action_scale
            logits = logits + (scaled * outputs[:, None, num_actions : num_actions + num_features]).sum(2)
        return logits, values

    def learn(self, learning_rate: float, ent_coef: float) -> None:
        """Make a step by all decisions in each epoch."""
        self.optimizer.param_groups[0]["lr"] = learning_rate
        found = []
        for _ in range(self.config.update_epochs):
            self.network.zero_grad()
            losses = plain_losses(*self.outputs(), self.rows, self.config.clip_coef)
            of_values = self.config.vf_coef * losses["value_loss"]
            (losses["policy_loss"] - ent_coef * losses["entropy"] + of_values).backward()
            losses["grad_norm"] = clip_grad_norm_(self.network.parameters(), self.config.max_grad_norm)
            self.weights.grad = torch.cat([p.grad.reshape(-1) for p in self.network.parameters()])
            self.optimizer.step()
            found.append({name: value.item() for name, value in losses.items()})
        self.metrics = {name: np.mean([metrics[name] for metrics in found]) for name in found[0]}
        returns = self.rows["returns"]
        errors = (returns - self.values).var(correction=0) / returns.var(correction=0)
        self.metrics["explained_variance"] = 1 - errors.item()
        self.exp_avg, self.exp_avg_sq = (
            self.optimizer.state[self.weights][name] for name in ("exp_avg", "exp_avg_sq")
        )
