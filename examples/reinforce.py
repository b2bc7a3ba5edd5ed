"""A learning algorithm of your own: REINFORCE (Williams 1992) in self-play. Run this file, or in a checkout
catbox train --algo examples.reinforce:Reinforce --players 3 --set total_decisions=2_000_000"""

from tempfile import mkdtemp

import numpy as np
import torch
from pydantic import Field

from catbox_agents.networks.inputs import input_scale
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_env import Game, make_vec
from catbox_train import Algorithm, AlgorithmOptions, TrainConfig, TrainingState, load_config, train
from catbox_train.settings import Float, Widths


class ReinforceOptions(AlgorithmOptions):
    cpu_only = True
    hidden: Widths = Field((128,), min_length=1, description="widths of the hidden layers")
    learning_rate: Float = Field(1e-3, gt=0, description="of Adam")


class Reinforce(Algorithm):
    Options = ReinforceOptions

    def __init__(self, config: TrainConfig, game: Game) -> None:
        super().__init__(config, game)
        self.network = MLP(input_scale(game.observation_layout), self.options.hidden, game.num_actions)
        self.network.initialise(torch.Generator().manual_seed(config.seed), last_gain=0.01)
        self.adam = torch.optim.Adam(self.network.parameters(), lr=self.options.learning_rate, eps=1e-5)
        for p in self.network.parameters():  # so that the first checkpoint has Adam's arrays
            self.adam.state[p] = {"step": torch.zeros(()), "exp_avg": 0 * p.data, "exp_avg_sq": 0 * p.data}
        self.vec = make_vec(game.id, config.num_envs, seed=config.seed, **game.options)
        self.random = np.random.default_rng(config.seed)

    def update(self, progress: float) -> dict[str, float]:
        vec, rows, steps = self.vec, np.arange(self.vec.num_envs), []
        for _ in range(self.config.num_steps):
            seen, mask, seat = vec.observation.copy(), vec.action_mask.copy(), vec.current_player.copy()
            noisy = self.random.gumbel(self.network(torch.from_numpy(seen)).detach())
            action = np.where(mask, noisy, -np.inf).argmax(axis=1)  # a draw from the softmax of legal logits
            vec.step(action)
            steps.append((seen, mask, seat, action, vec.rewards.copy(), vec.terminated.copy()))
        paid, known, batch = np.zeros((vec.num_envs, self.game.num_players)), np.zeros(vec.num_envs, bool), []
        for seen, mask, seat, action, rewards, terminated in reversed(steps):  # paid: from here to the end
            paid = np.where(terminated[:, None], 0, paid) + rewards
            known |= terminated
            batch.append([part[known] for part in (seen, mask, action, paid[rows, seat])])
        seen, mask, action, returns = map(np.concatenate, zip(*batch, strict=True))
        logits = self.network(torch.from_numpy(seen)).masked_fill(~torch.from_numpy(mask), -1e9)
        chosen = torch.log_softmax(logits, 1).gather(1, torch.from_numpy(action)[:, None])[:, 0]
        loss = -(chosen * torch.from_numpy((returns - returns.mean()) / returns.std()).float()).mean()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return {"learning/loss": loss.item(), "game/return": float(returns.mean())}

    def policy(self) -> PolicyNetwork:
        return PolicyNetwork.of(self.network)

    def state(self) -> TrainingState:
        arrays = {f"games.{name}": array for name, array in self.vec.save().items()}
        arrays |= {f"network.{name}": value.numpy() for name, value in self.network.state_dict().items()}
        for k, moments in self.adam.state_dict()["state"].items():
            arrays |= {f"adam.{k}.{name}": value.numpy() for name, value in moments.items()}
        return TrainingState(arrays, {"random": self.random.bit_generator.state})

    def restore(self, state: TrainingState, update: int) -> None:
        for name, array in self.state().arrays.items():  # the network's are views: to fill them is to load
            array[...] = state.arrays[name]
        self.vec.load({name: state.arrays[f"games.{name}"] for name in self.vec.save()})
        self.random.bit_generator.state = state.values["random"]


if __name__ == "__main__":
    settings = {"algorithm": "reinforce:Reinforce", "total_decisions": 2_000_000}
    learned = train(load_config("quick", overrides=settings), mkdtemp())["matches"][0]["standings"][0]
    print(f"2 million decisions of self-play: {learned['margin']:+.2f} points a round more than random play")
