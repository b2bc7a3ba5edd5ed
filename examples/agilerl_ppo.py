"""PPO of AgileRL, on the Gymnasium view: one seat, another in every game, learns among random players.

python examples/agilerl_ppo.py

AgileRL takes the mask from ``info["action_mask"]``, in playing and in learning, so its own training loop runs as it is.
It continues from the observation that ``step`` returned: keep ``autoreset_mode="same_step"``, the default.

Its advantages by GAE end every game one decision early: what the last action of a game is paid reaches no action before
it (docs/toolkits.md). ``use_gae=False``, returns of whole games, is right.
"""

import gymnasium
import torch
from agilerl.algorithms import PPO
from agilerl.training.train_on_policy import train_on_policy

from measure import amount, make_envs, margin, report

NUM_ENVS, NUM_STEPS = 64, 32


def make_agent(envs: gymnasium.vector.VectorEnv) -> PPO:
    return PPO(
        envs.single_observation_space,
        envs.single_action_space,
        net_config={"encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}},
        batch_size=256,
        lr=1e-3,
        learn_step=envs.num_envs * NUM_STEPS,
        gamma=1.0,
        num_envs=envs.num_envs,
        rollout_buffer_config={"use_gae": False},
    )


def train(agent: PPO, envs: gymnasium.vector.VectorEnv, updates: int) -> None:
    steps = updates * envs.num_envs * NUM_STEPS
    train_on_policy(envs, "Cat in the Box", "PPO", [agent], max_steps=steps, evo_steps=steps, verbose=False)


def measured(agent: PPO) -> float:
    return margin(lambda seen, mask: agent.get_action(seen, action_mask=mask)[0])


if __name__ == "__main__":
    torch.manual_seed(0)
    envs = make_envs(NUM_ENVS)
    envs.reset(seed=0)
    agent = make_agent(envs)
    before = measured(agent)
    train(agent, envs, updates=(updates := amount(60)))
    report("PPO of AgileRL", updates * NUM_ENVS * NUM_STEPS, before, measured(agent))
