"""The loss of PPO over a worker's rows, its gradient, and what is measured beside it."""

from __future__ import annotations

import numpy as np
import torch

from catbox_train.algorithms.ppo.distribution import LARGEST_LOGIT, masked_entropy, masked_log_probabilities
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.runs.arrays import DivergedError

#: What ``loss_gradient`` returns, in this order.
LEARNING_METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction")


def loss_gradient(
    worker: Worker, rows: np.ndarray, clip: float, entropy_weight: float, size: int
) -> np.ndarray:
    """Fill ``worker.gradient`` with its share of the gradient of the loss, a mean over a minibatch of ``size``.

    ``rows`` (n,) are the flat rows of the worker's share. Returns the share of ``LEARNING_METRICS``.
    Raises ``DivergedError`` for logits so large that illegal actions cannot be told from legal ones.
    """

    def pick(array: np.ndarray) -> torch.Tensor:
        return _rows(array, index)

    index = torch.from_numpy(rows)
    worker.gradient.zero_()
    logits, values = _outputs(worker, index)
    advantages = pick(worker.advantages)
    log_probabilities = masked_log_probabilities(logits, pick(worker.masks))
    log_ratio = log_probabilities.gather(1, pick(worker.actions)[:, None])[:, 0] - pick(
        worker.log_probabilities
    )
    ratio = log_ratio.exp()
    gain = torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip))
    policy_loss = -gain.sum() / size
    entropy = masked_entropy(log_probabilities).sum() / size
    value_loss = 0.5 * (values - pick(worker.returns)).square().sum() / size

    (policy_loss - entropy_weight * entropy + value_loss).backward()
    with torch.no_grad():
        kl = ((ratio - 1) - log_ratio).sum() / size  # estimator k3 of http://joschu.net/blog/kl-approx.html
        clipped = ((ratio - 1).abs() > clip).sum() / size
        return torch.stack([policy_loss, value_loss, entropy, kl, clipped]).double().numpy()


@torch.no_grad()
def check_outputs(worker: Worker, rows: np.ndarray) -> None:
    """Raise ``DivergedError`` if the networks, as they are now, give numbers of no use for ``rows``.

    No gradient has seen what the last step of an update did; this has.
    """
    for output, name in zip(_outputs(worker, torch.from_numpy(rows)), ("logit", "value"), strict=True):
        if not output.isfinite().all():
            raise DivergedError(f"a {name} of the networks is not finite")


def _outputs(worker: Worker, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and values of the flat rows ``index``. Raises ``DivergedError`` for logits that are too large."""
    states = _rows(worker.states, index) if worker.options.privileged_critic else None
    logits, values = worker.networks(_rows(worker.observations, index), states)
    if (logits.detach().abs() > LARGEST_LOGIT).any():
        raise DivergedError(f"a logit of the policy is larger than {LARGEST_LOGIT:.0e}")
    return logits, values


def _rows(array: np.ndarray, index: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(array).flatten(0, 1).index_select(0, index)


def normalise_advantages(workers: list[Worker]) -> None:
    """Bring the advantages of a batch, all workers together, to mean 0 and standard deviation 1, in place."""
    everything = np.concatenate([worker.advantages.reshape(-1)[worker.ready] for worker in workers])
    mean, deviation = everything.mean(dtype=np.float64), everything.std(dtype=np.float64)
    for worker in workers:
        worker.advantages -= np.float32(mean)
        worker.advantages /= np.float32(deviation + 1e-8)


def explained_variance(workers: list[Worker]) -> float:
    """Share of the variance of the returns that the critic's values account for; 1 is perfect, 0 is a constant."""
    returns = np.concatenate([worker.returns.reshape(-1)[worker.ready] for worker in workers])
    errors = np.concatenate([worker.advantages.reshape(-1)[worker.ready] for worker in workers])
    variance = returns.var(dtype=np.float64)
    return float(1 - errors.var(dtype=np.float64) / variance) if variance > 0 else 0.0


def clip_norm(vector: torch.Tensor, longest: float) -> float:
    """Scale ``vector`` in place to a length of at most ``longest``; the length it had."""
    norm = float(vector.norm())
    if norm > longest:
        vector *= longest / norm
    return norm
