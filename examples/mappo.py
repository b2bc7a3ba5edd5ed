"""MAPPO (Yu et al. 2021, https://arxiv.org/abs/2103.01955): PPO whose critic sees all cards. Run this file, or in a
checkout  catbox train --algo examples.mappo:MAPPO --players 3 --set total_decisions=2_000_000"""

import sys
from collections.abc import Mapping
from tempfile import mkdtemp

import numpy as np
import torch
from torch import Tensor, nn

from catbox_env import Game
from catbox_train import (
    Algorithm,
    Learner,
    Network,
    PolicyAgent,
    PPOConfig,
    Rollout,
    between,
    gae,
    load_config,
    make_network,
    ppo_loss,
    sample_legal,
    summed_play,
    train,
)

#: States that the critic judges at once.
CHUNK = 8192


class MAPPOConfig(PPOConfig):
    games_on_gpu = False


class MAPPO(Algorithm):
    Config = MAPPOConfig

    def __init__(self, config: MAPPOConfig, game: Game) -> None:
        super().__init__(config, game)
        self.actor = make_network(config, game)
        size, width = game.state_layout.size, config.hidden[0]
        torch.manual_seed(config.seed)
        self.critic = nn.Sequential(
            nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )
        # One optimizer for both.
        self.learner = Learner(nn.ModuleDict({"actor": self.actor, "critic": self.critic}), config)
        self.rollout = Rollout(config, game, self.actor.inputs, state=True)

    @torch.no_grad()
    def choose(
        self, actor: Network, inputs: Tensor, features: Tensor, masks: Tensor, uniforms: Tensor
    ) -> Mapping[str, Tensor]:
        logits, _ = actor(inputs, features, masks)
        actions, log_probs = sample_legal(logits, masks, uniforms)
        return {"actions": actions, "log_probs": log_probs}

    def values_of(self, states: Tensor) -> Tensor:
        return self.critic(states.float())[:, 0]

    def update(self, update: int, progress: float) -> tuple[int, Mapping[str, float]]:
        config, learner = self.config, self.learner
        learning_rate = learner.anneal(progress)
        ent_coef = between(config.ent_coef, config.ent_coef_end, progress)
        decisions = self.rollout.play(update, self.actor, self.choose)
        with torch.no_grad():
            states = decisions.columns["states"].to(learner.device).split(CHUNK)
            values = torch.cat([self.values_of(part) for part in states]).cpu()
        advantages = gae(decisions, values, config.gamma, config.gae_lambda)
        names = ("inputs", "action_features", "masks", "actions", "log_probs", "states")
        columns = {name: decisions.columns[name] for name in names} | {"returns": advantages + values}
        columns["advantages"] = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for minibatch in learner.minibatches(columns, decisions.rows, update):
            learner.step(self.loss, minibatch, ent_coef)
        learned = learner.metrics() | {"learning_rate": learning_rate}
        played, metrics, _ = summed_play(decisions, learner.group)
        return played, metrics | {f"learning/{name}": value for name, value in learned.items()}

    def loss(self, batch: Mapping[str, Tensor], ent_coef: float) -> tuple[Tensor, dict[str, Tensor]]:
        logits, _ = self.actor(batch["inputs"], batch["action_features"], batch["masks"])
        return ppo_loss(logits, self.values_of(batch["states"]), batch, self.config, ent_coef)

    def policy(self) -> PolicyAgent:
        return PolicyAgent(self.actor, self.game)

    def state(self) -> dict[str, np.ndarray]:
        return self.learner.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self.learner.restore(state)


if __name__ == "__main__":
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {"algorithm": "mappo:MAPPO", "total_decisions": decisions}
    learned = train(load_config("quick", overrides=settings), mkdtemp())["matches"][0]["standings"][0]
    print(
        f"{decisions:,} decisions of self-play: {learned['margin']:+.2f} points a round more than random play"
    )
