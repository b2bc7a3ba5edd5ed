"""A learning algorithm of your own: REINFORCE (Williams 1992) in self-play. Run this file, or in a checkout
catbox train --algo examples.reinforce:Reinforce --players 3 --set total_decisions=2_000_000"""

import sys
from tempfile import mkdtemp

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from catbox_agents.features import NetworkInputs
from catbox_agents.networks.mlp import MLP, sample_legal
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train import Algorithm, Rollout, SelfPlayConfig, load_config, train


class ReinforceConfig(SelfPlayConfig):
    hidden: tuple[int, ...] = Field((128,), min_length=1, description="widths of the hidden layers")
    features: bool = Field(False, description="whether the network also sees the features of the position")
    action_features: bool = Field(False, description="whether it also sees those of each action")


class Reinforce(Algorithm):
    Config = ReinforceConfig

    def __init__(self, config: ReinforceConfig, game: Game) -> None:
        super().__init__(config, game)
        inputs = NetworkInputs(game, config.features, config.action_features)
        self.network = MLP.for_policy(inputs, config.hidden, config.activation)
        self.network.initialise(torch.Generator().manual_seed(config.seed), last_gain=0.01)
        self.adam = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, eps=1e-5)
        for p in self.network.parameters():  # so that the first checkpoint has Adam's arrays
            self.adam.state[p] = {"step": torch.zeros(()), "exp_avg": 0 * p.data, "exp_avg_sq": 0 * p.data}
        self.rollout = Rollout(config, game, inputs)

    @torch.no_grad()
    def choose(self, inputs: Tensor, features: Tensor, masks: Tensor, uniforms: Tensor) -> dict[str, Tensor]:
        logits = self.network.action_logits(self.network(inputs), features, masks)
        return {"actions": sample_legal(logits, masks, uniforms)[0]}

    def update(self, update: int, progress: float) -> tuple[int, dict[str, float]]:
        played = self.rollout.play(update, self.choose)
        returns = torch.zeros(len(played) + 1)  # what the seat is paid from the decision to the end
        for rows in reversed(played.steps):  # the 0 at the end stands for no next decision
            returns[rows] = played.rewards[rows] + returns[played.next_rows[rows]]
        returns = returns[:-1]
        columns = played.columns
        logits = self.network.logits_of(
            self.network(columns["inputs"]), columns["action_features"], columns["masks"]
        )
        chosen = torch.log_softmax(logits, 1).gather(1, columns["actions"][:, None])[:, 0]
        loss = -(chosen * (returns - returns.mean()) / returns.std()).mean()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return played.played, {"learning/loss": loss.item(), "game/return": returns.mean().item()}

    def policy(self) -> PolicyAgent:
        return PolicyAgent(self.network, self.game)

    def state(self) -> dict[str, np.ndarray]:
        arrays = {f"network.{name}": value.numpy() for name, value in self.network.state_dict().items()}
        for k, moments in self.adam.state_dict()["state"].items():
            arrays |= {f"adam.{k}.{name}": value.numpy() for name, value in moments.items()}
        return arrays

    def restore(self, state: dict[str, np.ndarray]) -> None:
        for name, array in self.state().items():  # they are views: to fill them is to load
            array[...] = state[name]


if __name__ == "__main__":
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {"algorithm": "reinforce:Reinforce", "total_decisions": decisions}
    learned = train(load_config("quick", overrides=settings), mkdtemp())["matches"][0]["standings"][0]
    print(
        f"{decisions:,} decisions of self-play: {learned['margin']:+.2f} points a round more than random play"
    )
