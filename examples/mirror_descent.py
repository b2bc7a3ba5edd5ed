"""Magnetic mirror descent (Sokota et al. 2023, https://arxiv.org/abs/2206.05825) by PPO's means: the policy is drawn
to a magnet, here a slow average of itself, instead of to the uniform policy of the entropy bonus. Run this file, or in
a checkout  catbox train --algo examples.mirror_descent:MirrorDescent --players 3"""

import copy
import sys
from collections.abc import Mapping
from tempfile import mkdtemp

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from catbox_env import Game
from catbox_train import PPO, Group, PPOConfig, load_config, train


class MirrorDescentConfig(PPOConfig):
    ent_coef: float = Field(0.0, ge=0, description="weight of the entropy bonus at the start")
    ent_coef_end: float = Field(0.0, ge=0, description="weight of the entropy bonus at the end")
    magnet_coef: float = Field(0.05, ge=0, description="weight of the divergence from the magnet")
    magnet_rate: float = Field(0.05, gt=0, le=1, description="how far the magnet follows in an update")


class MirrorDescent(PPO):
    Config = MirrorDescentConfig
    config: MirrorDescentConfig

    def __init__(self, config: MirrorDescentConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game, group)
        self.magnet = copy.deepcopy(self.network).requires_grad_(False)

    def update(self, update: int, progress: float) -> tuple[int, Mapping[str, float]]:
        found = super().update(update, progress)
        with torch.no_grad():
            for slow, fast in zip(self.magnet.parameters(), self.network.parameters(), strict=True):
                slow.lerp_(fast, self.config.magnet_rate)
        return found

    def loss(self, batch: Mapping[str, Tensor], ent_coef: Tensor | float) -> tuple[Tensor, dict[str, Tensor]]:
        loss, metrics = super().loss(batch, ent_coef)
        given = batch["inputs"], batch["action_features"], batch["masks"]
        logs, magnet = self.network(*given)[0].log_softmax(1), self.magnet(*given)[0].log_softmax(1)
        divergence = (logs.exp() * (logs - magnet)).sum(1).mean()  # an illegal action has no probability
        return loss + self.config.magnet_coef * divergence, metrics | {"magnet_kl": divergence.detach()}

    def state(self) -> dict[str, np.ndarray]:
        arrays = {f"magnet.{k}": p.cpu().numpy().copy() for k, p in enumerate(self.magnet.parameters())}
        return super().state() | arrays

    def restore(self, state: dict[str, np.ndarray]) -> None:
        super().restore(state)
        for k, parameter in enumerate(self.magnet.parameters()):
            parameter.copy_(torch.from_numpy(state[f"magnet.{k}"]))


if __name__ == "__main__":
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {"algorithm": "mirror_descent:MirrorDescent", "total_decisions": decisions}
    learned = train(load_config("quick", overrides=settings), mkdtemp())["matches"][0]["standings"][0]
    print(
        f"{decisions:,} decisions of self-play: {learned['margin']:+.2f} points a round more than random play"
    )
