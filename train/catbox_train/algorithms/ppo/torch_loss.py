"""The loss of ``loss`` in torch, for any device; a test compares the two.

Nothing here waits for the device: what is wrong with the numbers is read from the result later.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from catbox_train.algorithms.ppo.loss import LEARNING_METRICS
from catbox_train.algorithms.ppo.networks import ActorCritic

#: The logit of an illegal action. Its probability is exactly 0, and its logarithm is finite.
_ILLEGAL = -1e30


class Decisions(NamedTuple):
    """What the networks take of n decisions, on the device.

    ``observations`` (n, I), ``action_features`` (n, A, K), ``histories`` (n, T, 2) and ``states`` (n, S), int8, the
    inputs of actor and critic; ``masks`` (n, A) bool.
    """

    observations: torch.Tensor
    masks: torch.Tensor
    action_features: torch.Tensor
    histories: torch.Tensor
    states: torch.Tensor


class Learned(NamedTuple):
    """What n decisions are learned from: ``actions`` (n,) int64, and, (n,) float32, ``log_probabilities`` under the
    policy that played, ``advantages`` and ``returns``."""

    actions: torch.Tensor
    log_probabilities: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor


def outputs(
    networks: ActorCritic, decisions: Decisions, precision: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (n, A) and values (n,), float32."""
    logits = networks.actor.logits(
        decisions.observations, decisions.action_features, precision, decisions.histories
    )
    return logits, networks.critic(decisions.states, precision, decisions.histories)[:, 0]


def legal_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Logarithms (n, A) float32 of the probabilities; very small and finite for illegal actions."""
    return logits.masked_fill(~masks, _ILLEGAL).log_softmax(1)


def draw(
    log_probabilities: torch.Tensor, masks: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """One legal action a row, (n,) int64, and its log-probability (n,) float32.

    The largest of log-probabilities plus Gumbel noise is a draw from the distribution; such noise is the negative
    logarithm of exponential noise.
    """
    noise = torch.empty_like(log_probabilities).exponential_(generator=generator)
    # Masked at the end too: noise of 0 is infinite here, and -1e30 is no match for that.
    actions = (log_probabilities - noise.log()).masked_fill(~masks, -torch.inf).argmax(1)
    return actions, log_probabilities.gather(1, actions[:, None])[:, 0]


def loss(
    networks: ActorCritic,
    decisions: Decisions,
    learned: Learned,
    entropy_weight: torch.Tensor,
    clip: float,
    precision: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss () to differentiate, and (6,) float32: ``LEARNING_METRICS`` and the largest magnitude of a logit.

    ``entropy_weight`` is a () tensor, because code would be compiled anew for another number. Infinite or NaN logits
    make the largest magnitude infinite or NaN.
    """
    logits, values = outputs(networks, decisions, precision)
    log_probabilities = legal_log_probabilities(logits, decisions.masks)
    entropy = -(log_probabilities.exp() * log_probabilities).sum(1).mean()
    log_ratio = log_probabilities.gather(1, learned.actions[:, None])[:, 0] - learned.log_probabilities
    ratio = log_ratio.exp()
    gain = torch.minimum(
        learned.advantages * ratio, learned.advantages * ratio.clamp(1 - clip, 1 + clip)
    ).mean()
    value_loss = 0.5 * (values - learned.returns).square().mean()
    metrics = {
        "policy_loss": -gain,
        "value_loss": value_loss,
        "entropy": entropy,
        "kl": (ratio - 1 - log_ratio).mean(),
        "clip_fraction": ((ratio - 1).abs() > clip).float().mean(),
    }
    found = torch.stack([*(metrics[name] for name in LEARNING_METRICS), logits.abs().amax()])
    return value_loss - gain - entropy_weight * entropy, found.detach()
