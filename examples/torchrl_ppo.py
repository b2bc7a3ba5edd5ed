"""PPO of TorchRL, on the Gymnasium view: one seat, another in every game, learns among random players.

python examples/torchrl_ppo.py

TorchRL wraps a batch of games as it is, best with ``autoreset_mode="disabled"``. Its ``PettingZooWrapper`` makes some
hundred steps a second, and most of what a seat is paid stands in rows that its mask leaves out (docs/toolkits.md).
"""

from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from measure import GAME, amount, make_envs, margin, report

SIZE = GAME.observation_layout.size


def make_env(num_envs: int, **own: Any) -> GymWrapper:
    envs = make_envs(num_envs, mask_in_observation=True, autoreset_mode="disabled", **own)
    return GymWrapper(envs, categorical_action_encoding=True)


class Actor(nn.Module):
    """Logits and mask. After the end no action is legal: then all are allowed, because a distribution needs one."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = MLP(SIZE, GAME.num_actions, num_cells=[128, 128])

    def forward(self, seen: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.logits(seen), mask.bool() | ~mask.any(-1, keepdim=True)


def make_policy(env: GymWrapper, actor: Actor) -> ProbabilisticActor:
    module = TensorDictModule(actor, in_keys=["observation", "action_mask"], out_keys=["logits", "mask"])
    options = {"distribution_class": MaskedCategorical, "return_log_prob": True, "spec": env.action_spec}
    return ProbabilisticActor(module, in_keys=["logits", "mask"], **options)


def train(env: GymWrapper, actor: Actor, updates: int) -> None:
    policy = make_policy(env, actor)
    critic = ValueOperator(MLP(SIZE, 1, num_cells=[128, 128]), in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    loss_of = ClipPPOLoss(policy, critic, clip_epsilon=0.2, entropy_coeff=0.01)
    optimizer, frames = torch.optim.Adam(loss_of.parameters(), lr=1e-3), 32 * env.num_envs
    settings = {"frames_per_batch": frames, "total_frames": updates * frames}
    for batch in Collector(env, policy, auto_register_policy_transforms=True, **settings):
        for _ in range(4):
            advantage(batch)
            rows = batch.reshape(-1)
            for places in torch.randperm(len(rows)).chunk(8):
                losses = loss_of(rows[places])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
                optimizer.step()


def measured(actor: Actor) -> float:
    return margin(lambda seen, mask: actor.logits(seen).where(mask, -1e9).argmax(1))


if __name__ == "__main__":
    torch.manual_seed(0)
    network = Actor()
    before = measured(network)
    train(make_env(64), network, updates=(updates := amount(80)))
    report("PPO of TorchRL", updates * 32 * 64, before, measured(network))
