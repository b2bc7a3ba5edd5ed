"""PPO's loss and a whole update, written once more and apart from the code: what learning must give."""

from __future__ import annotations

import numpy as np
import torch
from catbox_train.algorithms.ppo.ppo import PPO
from torch.nn.utils import clip_grad_norm_, vector_to_parameters

#: Of Adam, as in OpenAI's baselines.
EPSILON = 1e-5


def masked_log_probabilities(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (n, A) over the legal actions of ``masks`` (n, A) bool; of illegal ones too low to count."""
    return torch.log_softmax(logits.masked_fill(~masks, -1e9), dim=1)


def ppo_losses(
    logits: torch.Tensor, values: torch.Tensor, rows: dict[str, torch.Tensor], clip: float
) -> dict[str, torch.Tensor]:
    """The parts of the loss and two metrics, means over the rows (n); ``rows`` are those of the buffer."""
    log_probabilities = masked_log_probabilities(logits, rows["masks"])
    log_ratio = log_probabilities.gather(1, rows["actions"][:, None])[:, 0] - rows["log_probabilities"]
    ratio, advantages = log_ratio.exp(), rows["advantages"]
    gain = torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip))
    return {
        "policy_loss": -gain.mean(),
        "value_loss": (values[:, 0] - rows["returns"]).square().mean(),
        "entropy": -(log_probabilities.exp() * log_probabilities).sum(dim=1).mean(),
        "kl": (ratio - 1 - log_ratio).mean(),
        "clip_fraction": ((ratio - 1).abs() > clip).to(logits.dtype).mean(),
    }


class ReferenceUpdate:
    """An update of ``trainer`` of whole batches, from what its workers have collected; ``trainer`` stays as it is.

    Attributes: ``weights``, ``exp_avg`` and ``exp_avg_sq`` (K,) in the order of the trainer; ``metrics``.
    """

    def __init__(self, trainer: PPO) -> None:
        self.options = trainer.options
        self.networks = torch.nn.ModuleDict(PPO.make_networks(trainer.config, trainer.game))
        self.weights = torch.nn.Parameter(trainer.weights.detach().cpu().clone())
        self.optimizer = torch.optim.Adam([self.weights], eps=EPSILON)
        self.optimizer.state[self.weights] = {k: v.cpu().clone() for k, v in trainer.moments().items()}
        buffer, ready = trainer.buffer, trainer.ready
        given = {
            name: getattr(buffer, name) for name in ("observations", "action_features", "states", "histories")
        }
        given |= {"masks": buffer.masks, "actions": buffer.actions, "values": trainer.values}
        given |= {
            "log_probabilities": trainer.log_probabilities,
            "returns": trainer.values + trainer.advantages,
        }
        self.rows = {
            name: torch.from_numpy(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])[ready])
            for name, array in given.items()
        }
        advantages = (self.rows["returns"] - self.rows["values"]).double()
        self.rows["advantages"] = ((advantages - advantages.mean()) / advantages.std(correction=0)).float()

    def outputs(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (n, A) and values (n, 1) of all rows, by the weights as they are now."""
        vector_to_parameters(self.weights.detach(), self.networks.parameters())
        rows, actor = self.rows, self.networks["actor"]
        outputs = actor(rows["observations"], rows["histories"])
        num_actions = rows["masks"].shape[1]
        logits, values = outputs[:, :num_actions], outputs[:, -1:]
        if num_features := rows["action_features"].shape[2]:
            scaled = rows["action_features"].float() * actor.action_scale
            logits = logits + (scaled * outputs[:, None, num_actions : num_actions + num_features]).sum(2)
        if self.options.privileged_critic:
            values = self.networks["critic"](rows["states"])
        return logits, values

    def learn(self, learning_rate: float, entropy_weight: float) -> None:
        """Make a step by the whole batch in each epoch."""
        self.optimizer.param_groups[0]["lr"] = learning_rate
        found = []
        for _ in range(self.options.epochs):
            self.networks.zero_grad()
            losses = ppo_losses(*self.outputs(), self.rows, self.options.clip)
            of_values = self.options.value_weight * losses["value_loss"]
            (losses["policy_loss"] - entropy_weight * losses["entropy"] + of_values).backward()
            for name, network in self.networks.items():
                length = clip_grad_norm_(network.parameters(), self.options.max_grad_norm)
                losses[f"{name}_grad_norm"] = length
            self.weights.grad = torch.cat([p.grad.reshape(-1) for p in self.networks.parameters()])
            self.optimizer.step()
            found.append({name: value.item() for name, value in losses.items()})
        self.metrics = {name: np.mean([metrics[name] for metrics in found]) for name in found[0]}
        returns, values = self.rows["returns"].numpy(), self.rows["values"].numpy()
        self.metrics["explained_variance"] = 1 - (returns - values).var() / returns.var()
        self.exp_avg, self.exp_avg_sq = (
            self.optimizer.state[self.weights][name] for name in ("exp_avg", "exp_avg_sq")
        )
