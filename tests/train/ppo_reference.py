"""The loss of PPO in torch, to be differentiated automatically; for the tests of the compiled one."""

from __future__ import annotations

import torch

from catbox_train.algorithms.ppo.networks import ActorCritic

#: Taken off the logits of illegal actions: large enough for a probability of exactly 0.
PENALTY = 1e9


def masked_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (n, A) over the legal actions of ``masks`` (n, A) bool; about ``-PENALTY`` for illegal ones."""
    return torch.log_softmax(logits + (masks.to(logits.dtype) - 1) * PENALTY, dim=1)


def masked_entropy(log_probabilities: torch.Tensor) -> torch.Tensor:
    """Entropy (n,) in nats of ``masked_log_probabilities``; 0 where one action alone is legal."""
    return -(log_probabilities.exp() * log_probabilities).sum(dim=1)


def ppo_losses(
    logits: torch.Tensor, values: torch.Tensor, rows: dict[str, torch.Tensor], clip: float
) -> dict[str, torch.Tensor]:
    """What ``LEARNING_METRICS`` names, means over the rows (n); ``rows`` are those of the buffer."""
    log_probabilities = masked_log_probabilities(logits, rows["masks"])
    log_ratio = log_probabilities.gather(1, rows["actions"][:, None])[:, 0] - rows["log_probabilities"]
    ratio, advantages = log_ratio.exp(), rows["advantages"]
    gain = torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip))
    return {
        "policy_loss": -gain.mean(),
        "value_loss": 0.5 * (values[:, 0] - rows["returns"]).square().mean(),
        "entropy": masked_entropy(log_probabilities).mean(),
        "kl": (ratio - 1 - log_ratio).mean(),
        "clip_fraction": ((ratio - 1).abs() > clip).to(logits.dtype).mean(),
    }


def outputs_of(
    networks: ActorCritic, rows: dict[str, torch.Tensor], privileged_critic: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (n, A) and values (n, 1) of the modules, in float32, for ``rows`` of the buffer."""
    seen_by_critic = rows["states"] if privileged_critic else rows["observations"]
    return (
        networks.actor.logits(rows["observations"], rows["action_features"], histories=rows.get("histories")),
        networks.critic(seen_by_critic, histories=rows.get("histories")),
    )
