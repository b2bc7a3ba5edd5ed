"""A learning algorithm of your own: REINFORCE (Williams 1992) in self-play. Run this file, or in a checkout
catbox train --algo examples.reinforce:Reinforce --players 3 --set total_decisions=2_000_000"""

import sys
from collections.abc import Mapping
from tempfile import mkdtemp

import torch
from pydantic import Field
from torch import Tensor

from catbox_train import SelfPlayAlgorithm, SelfPlayConfig, Widths, load_config, train


class ReinforceConfig(SelfPlayConfig):
    hidden: Widths = Field((128,), min_length=1, description="widths of the hidden layers")
    update_epochs: int = Field(1, ge=1, description="passes over the decisions of an update")
    minibatch_size: int = Field(100_000, ge=1, description="decisions per gradient step")


class Reinforce(SelfPlayAlgorithm):
    Config = ReinforceConfig

    def update(self, update: int, progress: float) -> tuple[int, Mapping[str, float]]:
        self.learner.anneal(progress)
        decisions = self.play(update, progress)
        returns = decisions.returns()
        own = returns[decisions.rows]
        spread = own.std(correction=0) if len(own) else 0.0  # in a very small update there may be no decision
        names = ("inputs", "action_features", "masks", "actions")
        columns = {name: decisions.columns[name] for name in names}
        columns["advantages"] = (returns - own.mean()) / (spread + 1e-8)
        for minibatch in self.learner.minibatches(columns, decisions.rows, update):
            self.learner.step(self.loss, minibatch)
        return self.finish(update, decisions, self.learner.metrics())

    def loss(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        logits, _ = self.network(batch["inputs"], batch["action_features"], batch["masks"])
        chosen = torch.log_softmax(logits, 1).gather(1, batch["actions"][:, None])[:, 0]
        loss = -(chosen * batch["advantages"]).mean()
        return loss, {"loss": loss.detach()}


if __name__ == "__main__":
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    settings = {"algorithm": "reinforce:Reinforce", "total_decisions": decisions}
    learned = train(load_config("quick", overrides=settings), mkdtemp())["matches"][0]["standings"][0]
    print(
        f"{decisions:,} decisions of self-play: {learned['margin']:+.2f} points a round more than random play"
    )
