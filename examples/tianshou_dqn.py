"""DQN of Tianshou, on the Gymnasium view: one seat, another in every game, learns among random players.

python examples/tianshou_dqn.py

Not on Tianshou's ``PettingZooEnv``: it stores with each action what the game paid in that one step, and as next
observation that of the next player. A seat that is paid after another's action never learns of it (docs/toolkits.md).
In the Gymnasium view a step lasts until the learner's next decision. Tianshou looks for the mask in ``obs.mask``.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from measure import GAME, VIEW, amount, margin, report

KEYS = {"observation": "obs", "action_mask": "mask"}


def make_envs(num_envs: int, **own: Any) -> DummyVectorEnv:
    make = lambda: gymnasium.make("catbox/CatInTheBox-v0", mask_in_observation=KEYS, **VIEW | own)  # noqa: E731
    return DummyVectorEnv([make] * num_envs)


def make_algorithm() -> DQN:
    size = GAME.observation_layout.size
    net = Net(state_shape=size, action_shape=GAME.num_actions, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(
        model=net, action_space=gymnasium.spaces.Discrete(GAME.num_actions), eps_training=0.1
    )
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=3,
        target_update_freq=200,
    )


def measured(algorithm: DQN) -> float:
    def choose(seen: torch.Tensor, mask: torch.Tensor) -> np.ndarray:
        return algorithm.policy(Batch(obs=Batch(obs=seen, mask=mask.int()), info=Batch())).act

    return margin(choose)


def train(algorithm: DQN, steps: int) -> None:
    (envs := make_envs(32)).seed(0)
    collector = Collector(algorithm, envs, VectorReplayBuffer(50_000, 32), exploration_noise=True)
    collector.reset()
    settings = OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=steps,
        collection_step_num_env_steps=256,
        update_step_num_gradient_steps_per_sample=0.06,
        batch_size=256,
        show_progress=False,
        verbose=False,
    )
    algorithm.run_training(settings)


if __name__ == "__main__":
    np.random.seed(0)  # noqa: NPY002  (Tianshou draws from it)
    torch.manual_seed(0)
    dqn = make_algorithm()
    before = measured(dqn)
    train(dqn, steps=(steps := amount(30_000)))
    report("DQN of Tianshou", steps, before, measured(dqn))
