"""MAPPO (Yu et al. 2021, https://arxiv.org/abs/2103.01955): PPO whose critic sees all cards. Run this file, or in a
checkout  catbox train --algo examples.mappo:MAPPO --players 3 --set total_decisions=2_000_000"""

import sys
from collections.abc import Mapping
from tempfile import mkdtemp

import torch
from torch import Tensor, nn

from catbox_env import Game
from catbox_train import (
    PPO,
    Decisions,
    Group,
    Learner,
    Network,
    PPOConfig,
    Rollout,
    load_config,
    ppo_loss,
    sample_legal,
    train,
)

#: States that the critic judges at once.
CHUNK = 8192


class MAPPOConfig(PPOConfig):
    games_on_gpu = False


class MAPPO(PPO):
    Config = MAPPOConfig
    num_values = 0  # the critic is another network

    def __init__(self, config: MAPPOConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game, group)
        size, width = game.state_layout.size, config.hidden[0]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.critic = nn.Sequential(
                nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
            )
        both = nn.ModuleDict({"actor": self.network, "critic": self.critic})
        self.learner = Learner(both, config, group)  # one optimizer for both

    def make_rollout(self, group: Group) -> Rollout:
        return Rollout(self.config, self.game, self.network.inputs, group, state=True)

    @torch.no_grad()
    def choose(
        self, network: Network, inputs: Tensor, action_features: Tensor, masks: Tensor, uniforms: Tensor
    ) -> Mapping[str, Tensor]:
        logits, _ = network(inputs, action_features, masks)
        actions, log_probs = sample_legal(logits, masks, uniforms)
        return {"actions": actions, "log_probs": log_probs}

    @torch.no_grad()
    def learning_columns(self, decisions: Decisions) -> tuple[dict[str, Tensor], float]:
        states = decisions.columns["states"]
        values = [self.values_of(part.to(self.learner.device)).cpu() for part in states.split(CHUNK)]
        decisions.columns["values"] = torch.cat(values)
        columns, explained_variance = super().learning_columns(decisions)
        return {**columns, "states": states}, explained_variance

    def values_of(self, states: Tensor) -> Tensor:
        values: Tensor = self.critic(states.float())[:, 0]
        return values

    def loss(self, batch: Mapping[str, Tensor], ent_coef: Tensor | float) -> tuple[Tensor, dict[str, Tensor]]:
        logits, _ = self.network(batch["inputs"], batch["action_features"], batch["masks"])
        return ppo_loss(logits, self.values_of(batch["states"]), batch, self.config, ent_coef)


if __name__ == "__main__":
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {"algorithm": "mappo:MAPPO", "total_decisions": decisions}
    learned = train(load_config("quick", overrides=settings), mkdtemp())["matches"][0]["standings"][0]
    print(
        f"{decisions:,} decisions of self-play: {learned['margin']:+.2f} points a round more than random play"
    )
